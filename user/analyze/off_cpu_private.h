/* SPDX-License-Identifier: Apache-2.0 */
/* What off_cpu.c, which reads waits, and off_cpu_sums.c, which adds them up, share. */
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
};

/* Add up waits into *out, and sort the tables. Return 0 or -ENOMEM. */
int off_cpu_add_up(struct off_cpu *out, const struct off_cpu_query *q,
		   const struct read_wait *waits, size_t count);

#endif
