/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the scheduler's records add up to: for how long every thread ran, waited for a CPU and was
 * blocked on what; how long waits in the run queue were; who woke whom; what every CPU did when;
 * how many threads ran at once. One pass; memory grows with threads and CPUs, not with time.
 *
 * Times lie within the range asked for: what reaches beyond it is cut. A wait in the run queue
 * and a switch count where they end.
 */
#ifndef SKEIN_ANALYZE_SCHED_H
#define SKEIN_ANALYZE_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/histogram.h"
#include "analyze/index.h"
#include "analyze/overlap.h"
#include "analyze/series.h"
#include "base/pipe.h"
#include "base/vector.h"

/* What waits in the run queue waits for a CPU after being ... */
enum queued { QUEUED_WOKEN, QUEUED_PREEMPTED, QUEUED_COUNT };
/* How a thread left its CPU: to wait for something, or while it could have gone on. */
enum sched_switch { SWITCH_VOLUNTARY, SWITCH_INVOLUNTARY, SWITCH_COUNT };

/* ns of one thread or several. They add up to the part of their lives that lies in the range. */
struct sched_times {
	uint64_t running;
	/*
	 * Woken or new; or preempted, its slice was over, it yielded, or it was found waiting when
	 * the recording began.
	 */
	uint64_t queued[QUEUED_COUNT];
	uint64_t blocked[WAIT_COUNT]; /* [0]: of no class */
	uint64_t stopped; /* by a signal or a debugger */
	uint64_t unused; /* kernel threads with nothing to do, or set aside */
	uint64_t unknown; /* for want of records */
};

struct sched_counts {
	uint64_t switches[SWITCH_COUNT];
	uint64_t wakeups; /* of it */
	uint64_t wakes; /* of others, by it */
	uint64_t waits[QUEUED_COUNT]; /* in the run queue, until it ran */
	uint64_t waited[QUEUED_COUNT]; /* ns, in these */
	uint64_t longest[QUEUED_COUNT]; /* of these, ns */
};

/* A thread under one name. */
struct sched_thread {
	uint64_t id; /* thread.id */
	uint64_t start; /* ns; from when on it had this name */
	uint32_t process; /* index */
	bool asked; /* counts for its process and in totals, too */
	struct sched_times times;
	struct sched_counts counts;
};

struct sched_process {
	uint64_t id; /* process.id; 0: of threads that the trace tells nothing of */
	struct histogram waits[QUEUED_COUNT]; /* ns until a thread of it ran */
	struct overlap at_once;		      /* of its threads */
};

struct sched_cpu {
	uint64_t number;
	uint64_t busy, idle, unknown;	 /* ns; what is left of the range was not recorded */
	uint64_t switches;		 /* from or to a thread */
	struct histogram waits[QUEUED_COUNT]; /* of those that then ran on it */
	struct series busy_when, unknown_when;
};

/* A waker is a thread, by index, or this and enum interrupt; with INTERRUPT_NONE it is unknown. */
#define SCHED_INTERRUPT 0xffffff00u

struct sched_wakes {
	uint32_t from, to; /* to: index of a thread */
	uint64_t count;
};

struct sched {
	uint64_t from, to; /* the range, ns; to is where the records ended, if nobody says */
	VECTOR(struct sched_thread) threads;
	VECTOR(struct sched_process) processes;
	VECTOR(struct sched_cpu *) cpus;
	VECTOR(struct sched_wakes) wakes;
	uint64_t other_wakes; /* beyond what is kept pair by pair */
	struct overlap at_once; /* on all CPUs, of all threads */
	struct series waiting_when; /* in run queues: divided by the time, a number of threads */
	struct sched_times times; /* of all threads, whether asked for or not */
	struct sched_counts counts;
	uint64_t slices; /* in the whole trace; 0: nothing of this was recorded */
	uint64_t disorder; /* records that contradicted others */
};

struct sched_query {
	uint64_t from, to; /* ns after the recording began; to 0: up to its end */
	/* Whether a thread is asked for (process and thread.id); NULL: all are. CPUs count all. */
	bool (*asked)(const void *context, const struct thread *t);
	const void *context;
};

/* Run the source to its end. Free with sched_free(), which accepts NULL. */
int sched_read(struct sched **ret, struct source *source, const struct sched_query *q,
	       struct error *err);
void sched_free(struct sched *s);

/* All states of a thread together; all that it was blocked; all that it waited for a CPU. */
uint64_t sched_life(const struct sched_times *t);
uint64_t sched_blocked(const struct sched_times *t);
uint64_t sched_queued(const struct sched_times *t);
void sched_times_add(struct sched_times *to, const struct sched_times *from);
void sched_counts_add(struct sched_counts *to, const struct sched_counts *from);

#endif
