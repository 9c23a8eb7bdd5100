/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Count simultaneous time spans, added in any order, as a number over time. The memory does not
 * grow with the length of the recording: the steps become longer instead.
 */
#ifndef SKEIN_EXPORT_CONCURRENCY_H
#define SKEIN_EXPORT_CONCURRENCY_H

#include <stddef.h>
#include <stdint.h>

#define CONCURRENCY_STEPS 65536

/* Counts of simultaneous spans. To begin, set start and zero all other members. */
struct concurrency {
	uint64_t start; /* ns; earlier times count as this time */
	uint64_t step; /* ns, a power of two times 2^20 (about 1 ms) */
	size_t used; /* steps up to the last one with a span */
	uint64_t *parts; /* ns of spans in each step, apart from those counted in rises */
	/* at each step, change of the number of spans that cover whole steps from here on */
	int64_t *rises;
};

/* Add a span from time to end (ns). Return 0 or -ENOMEM. */
int concurrency_add(struct concurrency *c, uint64_t time, uint64_t end);
/*
 * Call each(time, mean number of spans in the step that begins at time) in the order of time, for
 * the steps before end (ns) whose number differs from that of the previous step; a last call has
 * the number 0. Without spans, call nothing. Stop at the first error and return it.
 */
int concurrency_each(const struct concurrency *c, uint64_t end,
		     int (*each)(void *context, uint64_t time, double number), void *context);
void concurrency_free(struct concurrency *c);

#endif
