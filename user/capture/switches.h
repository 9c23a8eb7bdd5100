/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the scheduler hooks, and reads the arrays into which they write: one per CPU, in memory
 * shared with the kernel. switches.c is the only file of user space that knows the skeleton of
 * these hooks.
 */
#ifndef SKEIN_CAPTURE_SWITCHES_H
#define SKEIN_CAPTURE_SWITCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/event.h"
#include "capture/program.h"

struct switches;

/*
 * Load and verify the hooks; they share the selection of program. bytes: size of each CPU's array,
 * rounded up to a power of two of records; 0: depends on the number of CPUs.
 */
int switches_load(struct switches **out, const struct program *program, uint64_t bytes,
		  struct error *err);
void switches_free(struct switches *s);
int switches_attach(struct switches *s, struct error *err);

unsigned int switches_cpus(const struct switches *s);
/* Return the bytes shared with the kernel, for all CPUs. */
uint64_t switches_bytes(const struct switches *s);

/* Start or stop recording a CPU. */
void switches_set_wanted(struct switches *s, unsigned int cpu, bool wanted);

struct switch_batch {
	struct wire_switch *records; /* oldest first */
	size_t count;
	uint64_t lost; /* how many records before them were overwritten */
	bool more; /* further records are there */
};

/* Copy up to most records of a CPU that follow those copied last, to out->records. */
void switches_take(struct switches *s, unsigned int cpu, size_t most, struct switch_batch *out);

/*
 * Call each for every thread of the system. Return 0, the first non-zero result of each, or a
 * negative errno.
 */
int switches_snapshot(struct switches *s, int (*each)(void *context, const struct wire_task *t),
		      void *context);

#endif
