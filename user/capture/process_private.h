/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the process table that the files process*.c share. */
#ifndef SKEIN_CAPTURE_PROCESS_PRIVATE_H
#define SKEIN_CAPTURE_PROCESS_PRIVATE_H

#include "base/vector.h"
#include "capture/process.h"

struct process_table {
	struct process_context context;
	struct process_entry *processes; /* by pid */
	struct thread_entry *threads; /* by tid */
	struct spaces spaces; /* data shared by all address spaces */
	VECTOR(uint32_t) unsent; /* pids whose mappings must be sent to the walkers */
	uint64_t last_process, last_thread; /* last ids given */
	uint64_t generation; /* see process_table_generation() */
	bool comm_matched, comm_known;
};

/*
 * Add an entry; the pid or tid must not have an entry yet. born, start: ns. Return NULL without
 * memory.
 */
struct process_entry *process_add(struct process_table *t, uint32_t pid, uint64_t born);
struct thread_entry *process_add_thread(struct process_table *t, uint32_t pid, uint32_t tid,
					uint64_t start, const char *comm);

/*
 * Move a thread to a process, and mark both as alive, whatever the table knew of the thread: a
 * record of its exit or start was lost.
 */
void process_join(const struct process_table *t, struct thread_entry *thread,
		  struct process_entry *p);
/*
 * End and free the old process of a pid that is used again, if there is an old process. time: ns.
 * Return 0 or the error of the sink; the process is freed in any case.
 */
int process_replace(struct process_table *t, uint32_t pid, uint64_t time, struct error *err);

/* Emit the entity of a process or thread, which must have an id. */
int process_put(struct process_table *t, struct process_entry *p, struct error *err);
int process_put_thread(struct process_table *t, struct thread_entry *thread, uint64_t process,
		       struct error *err);

/* Forget the name that a runtime gave to a thread. */
void process_forget_runtime_name(struct thread_entry *thread);

/* Apply the record of a mapping. Return 0 or a negative errno. */
int process_map(struct process_table *t, const struct life_record *l, uint64_t time,
		struct error *err);

#endif
