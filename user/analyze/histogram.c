// SPDX-License-Identifier: Apache-2.0
/* Count durations by length (histogram.h). */
#include <errno.h>

#include "analyze/histogram.h"

static void histogram_locate(uint64_t value, unsigned int *octave, unsigned int *sub)
{
	unsigned int top = value ? 63 - (unsigned int)__builtin_clzll(value) : 0;

	*octave = top < HISTOGRAM_SUB_BITS ? 0 : top - HISTOGRAM_SUB_BITS + 1;
	*sub = (value >> (*octave ? *octave - 1 : 0)) & (HISTOGRAM_SUBS - 1);
}

/* Return the middle of a bucket. */
static uint64_t bucket_middle(unsigned int octave, unsigned int sub)
{
	unsigned int shift = octave ? octave - 1 : 0;
	uint64_t first = (octave ? HISTOGRAM_SUBS + sub : sub);

	return (first << shift) + ((1ULL << shift) >> 1);
}

static int find_or_add_octave(struct histogram *h, unsigned int octave, struct octave **out)
{
	struct octave empty = {{0}};

	if (!h->at[octave]) {
		if (vector_push(&h->octaves, empty) < 0)
			return -ENOMEM;
		h->at[octave] = (uint8_t)h->octaves.count;
	}
	*out = &h->octaves.items[h->at[octave] - 1];
	return 0;
}

static void add_saturating(struct histogram *h, uint64_t sum)
{
	if (__builtin_add_overflow(h->sum, sum, &h->sum))
		h->sum = UINT64_MAX;
}

int histogram_add(struct histogram *h, uint64_t value)
{
	unsigned int octave, sub;
	struct octave *o;

	histogram_locate(value, &octave, &sub);
	if (find_or_add_octave(h, octave, &o) < 0)
		return -ENOMEM;
	o->counts[sub]++;
	h->count++;
	add_saturating(h, value);
	h->max = value > h->max ? value : h->max;
	return 0;
}

int histogram_merge(struct histogram *h, const struct histogram *from)
{
	for (unsigned int octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		struct octave *o;

		if (!from->at[octave])
			continue;
		if (find_or_add_octave(h, octave, &o) < 0)
			return -ENOMEM;
		for (unsigned int sub = 0; sub < HISTOGRAM_SUBS; sub++)
			o->counts[sub] += from->octaves.items[from->at[octave] - 1].counts[sub];
	}
	h->count += from->count;
	add_saturating(h, from->sum);
	h->max = from->max > h->max ? from->max : h->max;
	return 0;
}

uint64_t histogram_quantile(const struct histogram *h, double percent)
{
	double exact = percent / 100 * (double)h->count;
	uint64_t rank = (uint64_t)exact + ((double)(uint64_t)exact < exact), seen = 0;

	rank = rank ? rank : 1;
	if (rank >= h->count) /* The largest value is known exactly. */
		return h->max;
	for (unsigned int octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		if (!h->at[octave])
			continue;
		for (unsigned int sub = 0; sub < HISTOGRAM_SUBS; sub++) {
			seen += h->octaves.items[h->at[octave] - 1].counts[sub];
			if (seen >= rank && seen) {
				uint64_t value = bucket_middle(octave, sub);

				return value < h->max ? value : h->max;
			}
		}
	}
	return h->max;
}

void histogram_free(struct histogram *h)
{
	vector_free(&h->octaves);
	*h = (struct histogram){0};
}
