/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add up the scheduler's records: how long every thread ran, waited for a CPU, and was blocked by
 * each wait class; how long waits in the run queue were; which thread woke which; the states of
 * every CPU over time; how many threads ran at once. This takes one pass; memory grows with threads
 * and CPUs, not with time.
 *
 * Times are cut to the requested range. A wait in the run queue and a switch count at their end.
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

/* Why a thread is in the run queue: it was woken, or has lost its CPU. */
enum queued { QUEUED_WOKEN, QUEUED_PREEMPTED, QUEUED_COUNT };
/* How a thread left its CPU: to wait for something, or although it could have continued. */
enum sched_switch { SWITCH_VOLUNTARY, SWITCH_INVOLUNTARY, SWITCH_COUNT };

/*
 * Times (ns) of one thread or of several, by state. Their sum is the part of the threads' lives
 * that lies in the range.
 */
struct sched_times {
	uint64_t running;
	/*
	 * In the run queue after being woken or created; or after being preempted, using up its
	 * slice, yielding, or being found waiting when the recording began.
	 */
	uint64_t queued[QUEUED_COUNT];
	uint64_t blocked[WAIT_COUNT]; /* by enum wait_class; [0]: no class is known */
	uint64_t stopped; /* by a signal or a debugger */
	uint64_t unused; /* time in which a kernel thread had nothing to do, or was parked */
	uint64_t unknown; /* not known, because records are missing */
};

struct sched_counts {
	uint64_t switches[SWITCH_COUNT];
	uint64_t wakeups; /* number of times the thread was woken */
	uint64_t wakes; /* number of times the thread woke another one */
	/* number of waits in the run queue with a known start that ended because the thread ran */
	uint64_t waits[QUEUED_COUNT];
	uint64_t waited[QUEUED_COUNT]; /* ns in these waits */
	uint64_t longest[QUEUED_COUNT]; /* longest of these waits, ns */
};

/* A thread under one name. */
struct sched_thread {
	uint64_t id; /* thread.id */
	uint64_t start; /* ns; since when the thread has this name */
	uint32_t process; /* index of the process */
	bool selected; /* the thread is selected, and counts for its process */
	struct sched_times times;
	struct sched_counts counts;
};

struct sched_process {
	uint64_t id; /* process.id; 0 for threads that are missing in the trace */
	struct histogram waits[QUEUED_COUNT]; /* ns until a selected thread of the process ran */
	struct overlap at_once; /* how many selected threads of the process ran at once */
};

struct sched_cpu {
	uint64_t number;
	/* ns. In the remaining part of the range the CPU was offline, or not recorded. */
	uint64_t busy, idle, unknown;
	uint64_t switches; /* number of switches between threads, or a thread and idleness */
	struct histogram waits[QUEUED_COUNT]; /* waits of threads that then ran on this CPU */
	struct series busy_when, unknown_when;
};

/*
 * A waker is the index of a thread, or SCHED_INTERRUPT + enum interrupt; INTERRUPT_NONE: unknown.
 */
#define SCHED_INTERRUPT 0xffffff00u

struct sched_wakes {
	uint32_t from, to; /* from: a waker, see above; to: index of a thread */
	uint64_t count;
};

struct sched {
	uint64_t from, to; /* the range, ns; to is the end of the records if the query has none */
	VECTOR(struct sched_thread) threads;
	VECTOR(struct sched_process) processes;
	VECTOR(struct sched_cpu *) cpus;
	VECTOR(struct sched_wakes) wakes;
	uint64_t other_wakes; /* wake-ups of pairs that are not counted separately */
	struct overlap at_once; /* how many threads ran at once on all CPUs */
	/*
	 * Time that threads waited in run queues. Divided by the length of a bucket, this is the
	 * mean number of waiting threads.
	 */
	struct series waiting_when;
	struct sched_times times; /* sums over all threads, selected or not; counts likewise */
	struct sched_counts counts;
	/* number of slices in the whole trace; 0: the scheduler was not recorded */
	uint64_t slices;
	uint64_t disorder; /* number of records that contradicted earlier ones */
};

struct sched_query {
	uint64_t from, to; /* ns since the recording began; to 0: until its end */
	/*
	 * Return whether a thread is selected (by process and thread.id); NULL: all threads are. Of
	 * a thread that is missing in the trace, t has only the id. CPUs count all threads.
	 */
	bool (*selected)(const void *context, const struct thread *t);
	const void *context;
};

/*
 * Run the source to its end. Return 0 or a negative errno. Free the result with sched_free(), which
 * accepts NULL.
 */
int sched_read(struct sched **out, struct source *source, const struct sched_query *q,
	       struct error *err);
void sched_free(struct sched *s);

/*
 * sched_life() returns the sum of all states of a thread, sched_blocked() the time it was blocked,
 * and sched_queued() the time it waited for a CPU; all in ns.
 */
uint64_t sched_life(const struct sched_times *t);
uint64_t sched_blocked(const struct sched_times *t);
uint64_t sched_queued(const struct sched_times *t);
void sched_times_add(struct sched_times *to, const struct sched_times *from);
void sched_counts_add(struct sched_counts *to, const struct sched_counts *from);

#endif
