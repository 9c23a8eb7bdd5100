/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often durations of which length came: 16 buckets of equal width for each doubling, so
 * that a quantile is at most 1/32 (3.1 %) away from the true one, from 1 ns to 585 years. Only
 * doublings in which something was counted take memory, 128 bytes each. Zeroed memory is an
 * empty one.
 */
#ifndef SKEIN_ANALYZE_HISTOGRAM_H
#define SKEIN_ANALYZE_HISTOGRAM_H

#include <stdint.h>

#include "base/vector.h"

#define HISTOGRAM_SUB_BITS 4
#define HISTOGRAM_SUBS (1u << HISTOGRAM_SUB_BITS)
/* The first one holds what is smaller than 16, exactly. */
#define HISTOGRAM_OCTAVES (64 - HISTOGRAM_SUB_BITS + 1)

struct octave {
	uint64_t counts[HISTOGRAM_SUBS];
};

struct histogram {
	uint64_t count, sum, max; /* of the values themselves; sum stays at UINT64_MAX */
	VECTOR(struct octave) octaves;
	uint8_t at[HISTOGRAM_OCTAVES]; /* number + 1 in octaves; 0: nothing counted there */
};

int histogram_add(struct histogram *h, uint64_t value); /* 0 or -ENOMEM */
/* Add all that from has: 0 or -ENOMEM, with part of it added. */
int histogram_merge(struct histogram *h, const struct histogram *from);
/* The value that percent of all values do not exceed (nearest rank); 0 of an empty one. */
uint64_t histogram_quantile(const struct histogram *h, double percent);
void histogram_free(struct histogram *h);

#endif
