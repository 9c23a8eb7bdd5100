/* SPDX-License-Identifier: Apache-2.0 */
/* The process table from the inside: what process.c and process_meet.c share. */
#ifndef SKEIN_CAPTURE_PROCESS_PRIVATE_H
#define SKEIN_CAPTURE_PROCESS_PRIVATE_H

#include "base/vector.h"
#include "capture/process.h"

struct process_table {
	struct process_context context;
	struct process_entry *processes;    /* by pid */
	struct thread_entry *threads;	    /* by tid */
	struct spaces spaces;		    /* what all address spaces share */
	VECTOR(uint32_t) untold;	    /* pids whose mappings the walkers do not know */
	uint64_t last_process, last_thread; /* ids given */
	uint64_t generation;		    /* see process_table_generation() */
	bool comm_matched;
};

/* NULL if there is none of that number. */
struct process_entry *process_find(const struct process_table *t, uint32_t pid);
struct thread_entry *process_find_thread(const struct process_table *t, uint32_t tid);

/* A new entry; there must be none of that number. NULL without memory. */
struct process_entry *process_add(struct process_table *t, uint32_t pid, uint64_t born);
struct thread_entry *process_add_thread(struct process_table *t, uint32_t pid, uint32_t tid,
					uint64_t start, const char *comm);

/* The thread lives in that process, whatever was known of it: its exit or number was lost. */
void process_join(const struct process_table *t, struct thread_entry *thread,
		  struct process_entry *p);
/* A pid that comes to life again belonged to somebody else before. */
int process_replace(struct process_table *t, uint32_t pid, uint64_t time, struct error *err);

/* Put the entities, which have ids. */
int process_put(struct process_table *t, struct process_entry *p, struct error *err);
int process_put_thread(struct process_table *t, const struct thread_entry *thread, uint64_t process,
		       struct error *err);

/* Whether two births, ns, may be the same: /proc counts them in ticks, forks come a little later.
 */
bool process_same_birth(uint64_t a, uint64_t b);

#endif
