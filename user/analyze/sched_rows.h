/* SPDX-License-Identifier: Apache-2.0 */
/* Make rows of tables from the scheduler's sums: by program, process, thread and so on. */
#ifndef SKEIN_ANALYZE_SCHED_ROWS_H
#define SKEIN_ANALYZE_SCHED_ROWS_H

#include "analyze/groups.h"
#include "analyze/sched.h"

/* An index of the processes and threads of a profile by id. */
struct sched_names {
	const struct profile *profile;
	struct index processes, threads;
};

int sched_names_of(struct sched_names *out, const struct profile *p); /* returns 0 or -ENOMEM */
void sched_names_free(struct sched_names *n);
/* Return NULL if the profile has no such thread. */
const struct thread *sched_names_thread(const struct sched_names *n, uint64_t id);
/* Return a process with empty texts if the profile has no such process. */
const struct process *sched_names_process(const struct sched_names *n, uint64_t id);

struct sched_row {
	const char *name;
	const struct process *process; /* the row's first process */
	const struct thread *thread; /* for GROUP_THREAD; NULL: not known */
	/* numbers of selected processes and threads; a thread counts once per name */
	uint32_t processes, threads;
	struct sched_times times;
	struct sched_counts counts;
	struct histogram waits[QUEUED_COUNT]; /* not for GROUP_THREAD */
	VECTOR(uint64_t) at_once; /* for GROUP_PROCESS: ns by how many threads ran; [0] stays 0 */
	uint32_t waker; /* most frequent waker: a row, or SCHED_INTERRUPT + ... */
	uint64_t by_waker; /* number of wake-ups by that waker */
};

/* A waker is a row, or an interrupt as in struct sched_wakes. */
struct sched_rows {
	enum group_by by;
	VECTOR(struct sched_row) list; /* also rows of unselected wakers, with threads 0 */
	VECTOR(uint32_t) order; /* indexes of selected rows, most CPU time used or wanted first */
	VECTOR(struct sched_wakes) wakes; /* most frequent first; to: a row */
};

/*
 * Make the rows; by must not be GROUP_MODULE. Return 0 or -ENOMEM. The profile and s must outlive
 * the rows.
 */
int sched_rows_of(struct sched_rows *out, const struct sched *s, const struct sched_names *n,
		  enum group_by by);
void sched_rows_free(struct sched_rows *r);

/* Return the static text "[timer]" and so on for a waker that is no thread, else "[unknown]". */
const char *sched_interrupt_name(uint32_t waker);

#endif
