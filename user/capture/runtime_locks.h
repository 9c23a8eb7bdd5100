/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes and threads of runtimes whose waits the scheduler's hooks class by the runtime's
 * own state (bpf/runtime_lock.h).
 */
#ifndef SKEIN_CAPTURE_RUNTIME_LOCKS_H
#define SKEIN_CAPTURE_RUNTIME_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/event.h"
#include "symbolizers/hotspot_threads.h"

/*
 * The functions below write memory that the hooks read meanwhile. pid: in the initial pid
 * namespace. A slot that another process has stays that one's.
 */

/*
 * Add a process, or change it. gil: the memory of its Python interpreter's locks, NULL: it has
 * none. java: it runs a JVM. Return whether the process has a slot.
 */
bool runtime_locks_set(struct wire_runtimes *r, uint32_t pid, const struct wire_range *gil,
		       bool java);

/* A list of the threads of a JVM, for which slots are written. */
struct java_thread_list {
	uint32_t pid; /* in the initial pid namespace; 0: not known */
	uint32_t number; /* another one for each list of a process */
	const struct hotspot_thread_layout *layout;
};

/*
 * Add a thread; a thread that has its slot loses it. Threads that belong to the JVM itself and not
 * to the program are left out: their conditions are their own.
 */
void runtime_locks_add_thread(struct wire_runtimes *r, const struct java_thread_list *list,
			      const struct hotspot_thread *t);
/* Free the slots of the threads that are no more in the list. */
void runtime_locks_end_list(struct wire_runtimes *r, const struct java_thread_list *list);

/*
 * Free the slots of processes that alive says have gone, and of their threads. Return how many
 * processes are left.
 */
unsigned int runtime_locks_sweep(struct wire_runtimes *r,
				 bool (*alive)(void *context, uint32_t pid), void *context);

#endif
