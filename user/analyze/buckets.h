/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples of a time that moves on, added up in slices of it: what is older than the window
 * leaves slice by slice. So its sums are exactly those of its samples, and what happened before
 * leaves no trace, as it would in sums that decay.
 */
#ifndef SKEIN_ANALYZE_BUCKETS_H
#define SKEIN_ANALYZE_BUCKETS_H

#include "base/record.h"
#include "base/vector.h"

#define BUCKETS 21 /* one is being filled while another one leaves: the others are the window */

struct bucket {
	uint64_t number; /* its time over the width */
	VECTOR(struct sum) sums;
	size_t merged; /* of them are different ones */
};

struct buckets {
	uint64_t width; /* ns */
	uint64_t last; /* number of the newest bucket */
	struct bucket ring[BUCKETS];
};

/* window: ns. */
void buckets_init(struct buckets *b, uint64_t window);
void buckets_free(struct buckets *b);

/* 0 or -ENOMEM. A sample from before the window is left out. */
int buckets_add(struct buckets *b, const struct sample *s);
/* It is that late by now: what is too old is forgotten. */
void buckets_advance(struct buckets *b, uint64_t now);
/* When the window begins, ns. */
uint64_t buckets_begin(const struct buckets *b);

/*
 * The bucket of a place in the ring, with equal sums merged: NULL if it is not in the window, or
 * empty.
 */
const struct bucket *buckets_at(struct buckets *b, unsigned int place);

#endif
