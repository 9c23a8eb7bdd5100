/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What held a wait up: follow the wakers backwards from its end to its begin, and divide the time
 * between the threads that were on the way. These are pure functions over the scheduler's records,
 * which may come in parts, the latest part first.
 */
#ifndef SKEIN_ANALYZE_WAKE_CHAIN_H
#define SKEIN_ANALYZE_WAKE_CHAIN_H

#include "base/record.h"
#include "base/vector.h"

#define WAKE_CHAIN_LINKS 20 /* at most */

/* A record on the way: what is needed of a slice or an edge. */
enum wake_kind { WAKE_RAN, WAKE_LOST, WAKE_EDGE };
struct wake_record {
	uint64_t time, end; /* ns; of an edge both are its time */
	uint64_t lane; /* lane.id of the thread that ran, or was woken; of WAKE_LOST 0 */
	uint64_t from; /* of an edge: lane.id of the waker */
	uint8_t kind; /* enum wake_kind */
	uint8_t left, wait; /* of WAKE_RAN: enum slice_state and enum wait_class afterwards */
	bool thread; /* of an edge: the waker is a thread */
};

typedef VECTOR(struct wake_record) wake_records_t;

/* What one thread did until it woke the thread of the link before. */
struct wake_link {
	uint64_t lane; /* lane.id */
	uint64_t time, end; /* ns */
	uint64_t ran, runnable, waited; /* ns, which add up to end - time */
	uint64_t waited_for[WAIT_COUNT]; /* ns of waited, by enum wait_class */
	/* lane.id of the interrupt that ended its latest wait; 0: none, or not known */
	uint64_t interrupt;
	bool unknown_waker; /* who ended one of its waits is not known */
};

/* Why a chain is not longer. */
enum wake_end {
	WAKE_END_NONE, /* there may be more in earlier records */
	WAKE_END_BEGIN, /* it reaches the begin of the wait */
	WAKE_END_LINKS, /* it has WAKE_CHAIN_LINKS */
	WAKE_END_LOST, /* records are missing */
};

struct wake_chain {
	uint64_t begin; /* of the wait, ns */
	uint64_t lane, at; /* whose time before at (ns) is looked at next */
	bool woken; /* a wait ended at this time, whose begin is not known yet */
	uint64_t lost; /* begin of the first missing records that matter here; UINT64_MAX: none */
	enum wake_end end;
	unsigned int count;
	struct wake_link links[WAKE_CHAIN_LINKS]; /* the latest first */
};

/* Begin a chain for a wait that a thread (lane.id) ended; times in ns. */
void wake_chain_begin(struct wake_chain *c, uint64_t begin, uint64_t end, uint64_t waker);

/*
 * Follow the chain through records, which are sorted by this function. They must be all that touch
 * the time from some time before c->at up to c->at; the next call continues with earlier ones.
 */
void wake_chain_follow(struct wake_chain *c, wake_records_t *records);

/*
 * End a chain for which there are no more records: in the time before c->at, which must be within
 * the wait, the thread was in that state all the time.
 */
void wake_chain_end(struct wake_chain *c, uint64_t state, uint64_t wait);

#endif
