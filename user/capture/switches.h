/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's hooks, loaded, and the arrays into which they write: one per
 * CPU, in memory shared with the kernel. The only file of user space that
 * knows that skeleton.
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
 * Load and verify; the selection is the program's. bytes: of each CPU's array, rounded up to a
 * power of two of records; 0: by the number of CPUs.
 */
int switches_load(struct switches **ret, const struct program *program, uint64_t bytes,
		  struct error *err);
void switches_free(struct switches *s);
int switches_attach(struct switches *s, struct error *err);

unsigned int switches_cpus(const struct switches *s);
/* Bytes shared with the kernel, of all CPUs. */
uint64_t switches_bytes(const struct switches *s);

/* Record a CPU from now on, or do not any more. */
void switches_want(struct switches *s, unsigned int cpu, bool wanted);

/*
 * Copy up to most records of a CPU behind those copied last, oldest first. Returns how many, and
 * in *lost how many before them were overwritten; *more: there are more than that.
 */
size_t switches_take(struct switches *s, unsigned int cpu, struct wire_switch *ret, size_t most,
		     uint64_t *lost, bool *more);

/* Tell of every thread. 0, what each returned, or a negative errno. */
int switches_snapshot(struct switches *s, int (*each)(void *context, const struct wire_task *t),
		      void *context);

#endif
