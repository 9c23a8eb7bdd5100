/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add up samples in a moving window of time. The window consists of buckets of equal length, and
 * the oldest bucket is dropped as a whole. So a sample counts fully or not at all, unlike in sums
 * that decay. The window is at least as long as requested and at most one bucket longer.
 */
#ifndef SKEIN_ANALYZE_BUCKETS_H
#define SKEIN_ANALYZE_BUCKETS_H

#include "base/record.h"
#include "base/vector.h"

/* The newest bucket is being filled; the other 20 together have the requested length. */
#define BUCKETS 21

struct bucket {
	uint64_t number; /* start of the bucket's time, divided by the width */
	VECTOR(struct sum) sums;
	size_t merged; /* number of sums after the last merge */
};

struct buckets {
	uint64_t width; /* ns per bucket */
	uint64_t last; /* number of the newest bucket */
	struct bucket ring[BUCKETS];
};

/* Initialize the buckets; window is in ns. */
void buckets_init(struct buckets *b, uint64_t window);
void buckets_free(struct buckets *b);

/*
 * Add a sample. A sample later than the window moves the window; a sample from before the window is
 * ignored. Return 0 or -ENOMEM.
 */
int buckets_add(struct buckets *b, const struct sample *s);
/* Like buckets_add() for a sum of any kind at a time, ns. */
int buckets_add_sum(struct buckets *b, uint64_t time, const struct sum *one);
/* Move the end of the window forward to now (ns), and drop the buckets that are too old. */
void buckets_advance(struct buckets *b, uint64_t now);
/* Return the start of the window, in ns. */
uint64_t buckets_begin(const struct buckets *b);

/*
 * Return the bucket at a place in the ring, with equal sums merged; NULL if the bucket is not in
 * the window or is empty.
 */
const struct bucket *buckets_at(struct buckets *b, unsigned int place);

#endif
