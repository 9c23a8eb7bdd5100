/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the switch records of all CPUs as one sequence: copies them from the arrays in bounded
 * batches, merges them by time, and puts a gap record where records were overwritten.
 */
#ifndef SKEIN_CAPTURE_SWITCH_ORDER_H
#define SKEIN_CAPTURE_SWITCH_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/switches.h"

/* Kind of the gap record that replaces overwritten records; its body is their number. */
#define SWITCH_GAP 15

struct switch_record {
	struct wire_switch wire;
	uint64_t time; /* ns; of a gap: time of the record before it, if there is one */
	unsigned int cpu;
	/* of a wake-up: the CPU on which the thread will run; of other records undefined */
	unsigned int target;
	/*
	 * of a gap: time of the CPU's next copied switch, ns; if there is none, time of the last
	 * copy
	 */
	uint64_t end;
};

struct switch_order;

/* Return a new order, or NULL without memory. The switches must outlive it. */
struct switch_order *switch_order_new(struct switches *switches);
void switch_order_free(struct switch_order *o);

/*
 * Copy the records that have arrived, a bounded batch of each CPU; earlier records that are not
 * released are kept. Return 0 or -ENOMEM.
 */
int switch_order_copy(struct switch_order *o);
/* Return whether the last copy left records in the array of any CPU. */
bool switch_order_has_more(const struct switch_order *o);
/* Return the time, ns, up to which all records have been copied; older ones are not expected. */
uint64_t switch_order_mark(const struct switch_order *o);

/*
 * Return the time, ns, of the oldest copied record that is not released; UINT64_MAX if there is
 * none. Cheap enough to be called for every record.
 */
uint64_t switch_order_next_time(struct switch_order *o);
/*
 * Release the record whose time switch_order_next_time() has just returned. A migration that
 * directly follows the wake-up of its thread is released with the wake-up, as its target.
 */
void switch_order_release(struct switch_order *o, struct switch_record *out);

/* The functions below return fields of a record; see bpf/event.h. */
static inline unsigned int switch_kind(const struct wire_switch *r)
{
	return r->head >> WIRE_TIME_BITS & 15;
}

static inline unsigned int switch_how(const struct wire_switch *r)
{
	return r->head >> (WIRE_TIME_BITS + 4) & 15;
}

static inline unsigned int switch_detail(const struct wire_switch *r)
{
	return (unsigned int)(r->head >> (WIRE_TIME_BITS + 8));
}

static inline uint32_t switch_first(const struct wire_switch *r)
{
	return (uint32_t)r->body & ((1U << WIRE_TID_BITS) - 1);
}

static inline uint32_t switch_second(const struct wire_switch *r)
{
	return (uint32_t)(r->body >> WIRE_TID_BITS) & ((1U << WIRE_TID_BITS) - 1);
}

static inline unsigned int switch_number(const struct wire_switch *r)
{
	return (unsigned int)(r->body >> 2 * WIRE_TID_BITS);
}

#endif
