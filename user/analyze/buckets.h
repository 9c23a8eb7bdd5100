/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add up samples in a moving window of time. The window consists of buckets, and buckets older than
 * the window are dropped one by one. So the sums are exactly those of the samples in the window,
 * and earlier samples have no influence, as they would in sums that decay.
 */
#ifndef SKEIN_ANALYZE_BUCKETS_H
#define SKEIN_ANALYZE_BUCKETS_H

#include "base/record.h"
#include "base/vector.h"

/* one bucket is being filled and one is being dropped; the other buckets are the window */
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

/* Add a sample; a sample from before the window is ignored. Return 0 or -ENOMEM. */
int buckets_add(struct buckets *b, const struct sample *s);
/* Move the window to now (ns) and drop the buckets that are too old. */
void buckets_advance(struct buckets *b, uint64_t now);
/* Return the start of the window, in ns. */
uint64_t buckets_begin(const struct buckets *b);

/*
 * Return the bucket at a place in the ring, with equal sums merged; NULL if the bucket is not in
 * the window or is empty.
 */
const struct bucket *buckets_at(struct buckets *b, unsigned int place);

#endif
