/* SPDX-License-Identifier: Apache-2.0 */
/* What the scheduler's records add up to, as rows of tables: by program, process, thread, ... */
#ifndef SKEIN_ANALYZE_SCHED_ROWS_H
#define SKEIN_ANALYZE_SCHED_ROWS_H

#include "analyze/groups.h"
#include "analyze/sched.h"

/* Finds the processes and threads of a profile by their ids. */
struct sched_names {
	const struct profile *profile;
	struct index processes, threads;
};

int sched_names_of(struct sched_names *ret, const struct profile *p); /* 0 or -ENOMEM */
void sched_names_free(struct sched_names *n);
/* NULL: the profile has no such thread. */
const struct thread *sched_names_thread(const struct sched_names *n, uint64_t id);
/* One with empty texts, if the profile has no such process. */
const struct process *sched_names_process(const struct sched_names *n, uint64_t id);

struct sched_row {
	const char *name;
	const struct process *process; /* the first of them */
	const struct thread *thread; /* of GROUP_THREAD; NULL: not known */
	uint32_t processes, threads; /* how many of them were asked for; threads under one name */
	struct sched_times times;
	struct sched_counts counts;
	struct histogram waits[QUEUED_COUNT]; /* not of GROUP_THREAD */
	VECTOR(uint64_t) at_once; /* of GROUP_PROCESS: ns, by how many threads ran; [0] stays 0 */
	uint32_t waker; /* who woke it most often: a row, or SCHED_INTERRUPT + ... */
	uint64_t by_waker; /* how often */
};

/* A waker is a row, or as in struct sched_wakes. */
struct sched_rows {
	enum group_by by;
	VECTOR(struct sched_row) list; /* also of wakers that were not asked for: threads is 0 */
	VECTOR(uint32_t) order; /* of those asked for: who had or wanted most CPU time first */
	VECTOR(struct sched_wakes) wakes; /* most often first; to: a row */
};

/* Not by module: 0 or -ENOMEM. The profile and s must outlive the rows. */
int sched_rows_of(struct sched_rows *ret, const struct sched *s, const struct sched_names *n,
		  enum group_by by);
void sched_rows_free(struct sched_rows *r);

/* "[timer]" and the like, of a waker that is no thread; static. */
const char *sched_interrupt_name(uint32_t waker);

#endif
