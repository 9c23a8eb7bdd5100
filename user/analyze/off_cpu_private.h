/* SPDX-License-Identifier: Apache-2.0 */
/* What off_cpu.c, which reads waits, off_cpu_sums.c and off_cpu_chains.c share. */
#ifndef SKEIN_ANALYZE_OFF_CPU_PRIVATE_H
#define SKEIN_ANALYZE_OFF_CPU_PRIVATE_H

#include "analyze/off_cpu.h"

/* A wait whose stack was taken, or the stack of its waker. */
struct read_wait {
	uint64_t time, weight, length, address;
	uint64_t thread; /* thread.id of the thread that waited */
	uint64_t waker; /* thread.id of the thread that ended the wait; 0: none */
	uint32_t stack; /* index of the stack in the profile */
	uint32_t wait; /* enum wait_class */
	uint32_t flags; /* enum sample_flag */
	uint32_t waker_stack; /* index of the waker's stack; PROFILE_NONE: not taken */
	uint32_t site; /* number of its site, set by off_cpu_add_up() */
};

/* A wake-up. */
struct read_wake {
	uint64_t time; /* ns */
	uint64_t from, to; /* lane.id */
};

/* What was read. Wake-ups are sorted by the lane that was woken, and by time; waits by thread. */
struct read_waits {
	VECTOR(struct read_wait) waits;
	VECTOR(struct read_wake) wakes;
	struct index interrupts; /* lane.id -> SCHED_INTERRUPT + enum interrupt */
};

/* What adds up waits: tables in the making. */
struct off_cpu_builder;

/*
 * Get the number of a waker's name: of the group of a thread (thread.id), or of an interrupt if
 * thread is 0.
 */
int off_cpu_waker_number(struct off_cpu_builder *s, uint64_t thread, uint32_t interrupt,
			 uint32_t *out);
/* Return the function in which the threads of a site waited; OFF_CPU_NONE if there is none. */
uint32_t off_cpu_own_symbol(const struct off_cpu_builder *s, uint32_t site);
/* Add the chain of wakers of each wait to its site. Return 0 or -ENOMEM. */
int off_cpu_add_chains(struct off_cpu_builder *b, struct off_cpu *out,
		       const struct off_cpu_query *q, const struct read_waits *from);

/* Add up waits into *out, and sort the tables. Return 0 or -ENOMEM. */
int off_cpu_add_up(struct off_cpu *out, const struct off_cpu_query *q, struct read_waits *from);

#endif
