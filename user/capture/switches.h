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

struct btf;
struct switches;

/*
 * Load and verify the hooks; they share the selection of program. bytes: size of each CPU's array,
 * rounded up to a power of two of records (64 to 64 Mi; less if there are many CPUs); 0: depends on
 * the number of CPUs. waits: as in program_options. Return 0 or a negative errno.
 */
int switches_load(struct switches **out, const struct program *program, uint64_t bytes,
		  struct program_waits waits, struct error *err);
void switches_free(struct switches *s);
/* Return whether the kernel with these types passes the state of a thread at a switch. */
bool switches_pass_state(const struct btf *btf);
/* Attach the hooks; after switches_detach() also again. Return 0 or a negative errno. */
int switches_attach(struct switches *s, struct error *err);
void switches_detach(struct switches *s);

unsigned int switches_cpus(const struct switches *s);
/* Return the CPU time of the hooks of switches and wake-ups so far, with that of stacks: ns. */
uint64_t switches_time_spent(const struct switches *s);
/* Return the bytes of the arrays of all CPUs. */
uint64_t switches_bytes(const struct switches *s);

/* Start or stop recording a CPU. */
void switches_set_wanted(struct switches *s, unsigned int cpu, bool wanted);

/* Return the state of a CPU, in memory shared with the kernel. */
const struct wire_cpu *switches_cpu(const struct switches *s, unsigned int cpu);
/* Forget when threads began to wait. Call this when switches were not recorded for a while. */
int switches_forget_waits(struct switches *s, struct error *err);
/* Set the period with which waits are chosen: ns << WIRE_PERIOD_BITS | its number. */
void switches_set_wait_period(struct switches *s, uint64_t word);

/*
 * Return the processes and threads of runtimes, in memory shared with the kernel, for
 * runtime_locks.h; and have the hooks look at them, or not.
 */
struct wire_runtimes *switches_runtimes(const struct switches *s);
void switches_use_runtimes(struct switches *s, bool use);

struct switch_batch {
	struct wire_switch *records; /* oldest first */
	size_t count;
	uint64_t lost; /* how many records before these were overwritten since the last call */
	bool more; /* further records are in the array */
};

/*
 * Copy the next records of a CPU, at most `most`, to out->records, which the caller provides, and
 * fill the other members of *out.
 */
void switches_take(struct switches *s, unsigned int cpu, size_t most, struct switch_batch *out);

/*
 * Call each for every thread of the system, with its present state. Return 0, the first non-zero
 * result of each, or a negative errno.
 */
int switches_snapshot(struct switches *s, int (*each)(void *context, const struct wire_task *t),
		      void *context);

#endif
