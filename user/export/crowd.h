/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many at once: time spans, in any order, become a number over time. The memory does not
 * grow with the recording: when it gets long, the steps get longer.
 */
#ifndef SKEIN_EXPORT_CROWD_H
#define SKEIN_EXPORT_CROWD_H

#include <stddef.h>
#include <stdint.h>

#define CROWD_STEPS 65536

/* Zeroed but for start: nothing yet. */
struct crowd {
	uint64_t start; /* ns: what lies before counts as here */
	uint64_t step; /* ns, a power of two times 2^20 (about 1 ms) */
	size_t used; /* steps up to the last one met */
	uint64_t *parts; /* ns within this step of spans that begin or end in it */
	int64_t *rises; /* spans that cover all of the steps from here on, less those that did */
};

/* A span from time to end (ns): 0 or -ENOMEM. */
int crowd_add(struct crowd *c, uint64_t time, uint64_t end);
/*
 * Call each(time, mean number in the step from there on) for steps in order up to end (ns), where
 * the number changes; the last one is 0. Stops at the first error and returns it.
 */
int crowd_each(const struct crowd *c, uint64_t end,
	       int (*each)(void *context, uint64_t time, double number), void *context);
void crowd_free(struct crowd *c);

#endif
