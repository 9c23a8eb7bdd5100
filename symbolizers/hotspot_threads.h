/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of a JVM's platform threads, with their names. Virtual threads are not in it, only their
 * carriers. Source: OpenJDK, threadSMR.hpp (ThreadsSMRSupport, ThreadsList), javaThread.hpp,
 * osThread.hpp.
 */
#ifndef SKEIN_SYMBOLIZERS_HOTSPOT_THREADS_H
#define SKEIN_SYMBOLIZERS_HOTSPOT_THREADS_H

#include "symbolizers/hotspot_layout.h"

#define HOTSPOT_THREADS_MAX 65536 /* of one JVM that are read */
#define HOTSPOT_THREAD_NAME_MAX 104 /* bytes with the NUL; longer names are cut */

struct hotspot_thread {
	uint64_t address; /* of its JavaThread */
	uint64_t os_thread; /* address of its OSThread */
	uint32_t tid; /* in the innermost pid namespace of the process */
	uint32_t reserved; /* 0 */
	char name[HOTSPOT_THREAD_NAME_MAX]; /* UTF-8; "": it could not be read */
};

/* Offsets of what a thread that waits has of its state. */
struct hotspot_thread_layout {
	uint16_t os_state, os_tid; /* int, in OSThread: enum ThreadState, and the tid */
	uint16_t thread_state; /* int, in JavaThread: enum JavaThreadState */
	uint32_t thread_bytes; /* of a JavaThread, which holds the Parker of the thread */
	struct hotspot_monitor_layout monitor;
};

typedef int hotspot_thread_fn(void *context, const struct hotspot_thread *t);

/* What is read of the threads of a JVM, and who gets it. */
struct hotspot_threads {
	struct hotspot_thread_layout layout;
	hotspot_thread_fn *each; /* called for every thread; an error ends the list */
	void *context; /* of each */
};

/*
 * Set out->layout, and pass every thread to out->each. Return 0; -EAGAIN: the JVM has no list yet;
 * -ENOENT: the tables lack an entry, which the message names; -EINVAL: the layout or the list makes
 * no sense; the error of memory->read; or that of out->each. Threads that start or end meanwhile
 * may be missing.
 */
int hotspot_threads_read(struct hotspot_threads *out, const struct hotspot_tables *t,
			 const struct hotspot_memory *memory, struct error *err);

/* Return whether what a worker sent is valid: offsets are small, and a name ends. */
bool hotspot_thread_layout_check(const struct hotspot_thread_layout *l);
bool hotspot_thread_check(const struct hotspot_thread *t);

#endif
