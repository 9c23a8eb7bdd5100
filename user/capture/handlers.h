/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the programs that see interrupts being served, and reads what they counted and recorded. */
#ifndef SKEIN_CAPTURE_HANDLERS_H
#define SKEIN_CAPTURE_HANDLERS_H

#include "capture/order.h"
#include "capture/program.h"

struct handlers;

/* Bytes of a name that handlers_name() writes. */
#define HANDLERS_NAME (WIRE_HANDLER_NAME + 32)

/*
 * Load the programs. order, which gets the records, must outlive them; cpus: possible CPUs; least:
 * ns, shorter runs have no record. Return 0 or a negative errno.
 */
int handlers_load(struct handlers **out, struct order *order, unsigned int cpus, uint64_t least,
		  struct error *err);
void handlers_free(struct handlers *h);
int handlers_attach(struct handlers *h, struct error *err);
/* Count and record what begins on a CPU from now on, or not. */
void handlers_set_wanted(struct handlers *h, unsigned int cpu, bool wanted);

/* Move the records into the order, a bounded batch per ring. now: ns. Return 0 or -ENOMEM. */
int handlers_drain(struct handlers *h, uint64_t now);
/* Return whether the last handlers_drain() left records. */
bool handlers_has_more(const struct handlers *h);
bool handlers_owns_ring(const struct handlers *h, int ring);
/* Return the bytes of all rings as mapped. */
uint64_t handlers_ring_bytes(const struct handlers *h);

/* Return the CPU time that the programs have used on all CPUs, ns; one run in 61 is timed. */
uint64_t handlers_time_spent(const struct handlers *h);
/* Return the sums of a CPU, in memory shared with the kernel. */
const struct wire_handlers *handlers_cpu(const struct handlers *h, unsigned int cpu);
/* Return the length (ns) of the longest run of a slot since the last call. */
uint64_t handlers_take_longest(struct handlers *h, unsigned int cpu, uint32_t slot);
/* Return whether anything may have been counted in a slot, on any CPU. */
bool handlers_uses_slot(const struct handlers *h, uint32_t slot);
/*
 * Write the name of what serves the interrupts of a slot, such as "softirq net_rx" or
 * "irq 24 nvme0q1". A driver chooses its part, so it is hostile. Return buf.
 */
char *handlers_name(const struct handlers *h, uint32_t slot, char buf[static HANDLERS_NAME]);

#endif
