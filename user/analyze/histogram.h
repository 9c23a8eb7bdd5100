/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Count durations by length. There are 16 buckets of equal width for each doubling, so that a
 * quantile is at most 1/32 (3.1 %) off, from 1 ns to 585 years. Only doublings with a count take
 * memory, 128 bytes each. Zeroed memory is an empty histogram.
 */
#ifndef SKEIN_ANALYZE_HISTOGRAM_H
#define SKEIN_ANALYZE_HISTOGRAM_H

#include <stdint.h>

#include "base/vector.h"

#define HISTOGRAM_SUB_BITS 4
#define HISTOGRAM_SUBS (1u << HISTOGRAM_SUB_BITS)
/* The first octave holds the values below 16, exactly. */
#define HISTOGRAM_OCTAVES (64 - HISTOGRAM_SUB_BITS + 1)

struct octave {
	uint64_t counts[HISTOGRAM_SUBS];
};

struct histogram {
	uint64_t count, sum, max; /* of the exact values; sum saturates at UINT64_MAX */
	VECTOR(struct octave) octaves;
	/* position + 1 of each octave in octaves; 0: no value of the octave was counted */
	uint8_t at[HISTOGRAM_OCTAVES];
};

int histogram_add(struct histogram *h, uint64_t value); /* returns 0 or -ENOMEM */
/* Add the counts of from. Return 0, or -ENOMEM with part of the counts added. */
int histogram_merge(struct histogram *h, const struct histogram *from);
/*
 * Return the smallest value that at least percent % of all values do not exceed (nearest rank),
 * rounded to the middle of its bucket; 0 for an empty histogram.
 */
uint64_t histogram_quantile(const struct histogram *h, double percent);
void histogram_free(struct histogram *h);

#endif
