// SPDX-License-Identifier: Apache-2.0
/*
 * Sort rows by a radix sort, which suits keys that span few bits: the times of one second span 30
 * bits.
 */
#include "trace/sort.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

int sorter_reserve(struct sorter *s, uint32_t rows)
{
	s->count = 0;
	if (rows <= s->capacity)
		return 0;
	sorter_free(s);
	s->keys = malloc(sizeof(*s->keys) * rows);
	s->rows = malloc(sizeof(*s->rows) * rows);
	s->spare = malloc(sizeof(*s->spare) * rows);
	if (!s->keys || !s->rows || !s->spare) {
		sorter_free(s);
		return -ENOMEM;
	}
	s->capacity = rows;
	return 0;
}

void sorter_free(struct sorter *s)
{
	free(s->keys);
	free(s->rows);
	free(s->spare);
	*s = (struct sorter){0};
}

/*
 * Set *least to the least key, and *span to the difference between the greatest and the least key.
 * Return true if the rows are already sorted.
 */
static bool find_key_span(const struct sorter *s, uint64_t *least, uint64_t *span)
{
	uint64_t greatest = 0, last = 0, key;
	bool sorted = true;

	*least = UINT64_MAX;
	for (uint32_t i = 0; i < s->count; i++) {
		key = s->keys[s->rows[i]];
		sorted = sorted && key >= last;
		last = key;
		if (key < *least)
			*least = key;
		if (key > greatest)
			greatest = key;
	}
	*span = greatest - *least;
	return sorted;
}

static void sort_by_digit(struct sorter *s, uint64_t least, unsigned int shift)
{
	uint32_t at[DIGITS] = {0}, *rows = s->rows, sum = 0, next;

	for (uint32_t i = 0; i < s->count; i++)
		at[(s->keys[rows[i]] - least) >> shift & (DIGITS - 1)]++;
	for (uint32_t d = 0; d < DIGITS; d++) {
		next = sum + at[d];
		at[d] = sum;
		sum = next;
	}
	for (uint32_t i = 0; i < s->count; i++)
		s->spare[at[(s->keys[rows[i]] - least) >> shift & (DIGITS - 1)]++] = rows[i];
	s->rows = s->spare;
	s->spare = rows;
}

void sorter_sort(struct sorter *s)
{
	uint64_t least, span;

	if (find_key_span(s, &least, &span))
		return;
	for (unsigned int shift = 0; shift < 64 && span >> shift; shift += DIGIT_BITS)
		sort_by_digit(s, least, shift);
}

int sort_columns(struct sorter *s, const struct columns *from, unsigned int column,
		 struct columns *out)
{
	if (sorter_reserve(s, from->capacity) < 0 ||
	    columns_reserve(out, from->width, from->capacity) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->count; i++)
		s->rows[i] = i;
	memcpy(s->keys, columns_at(from, column), from->count * sizeof(*s->keys));
	s->count = from->count;
	sorter_sort(s);
	for (unsigned int c = 0; c < from->width; c++) {
		const uint64_t *words = columns_at(from, c);
		uint64_t *sorted = columns_at(out, c);

		for (uint32_t i = 0; i < from->count; i++)
			sorted[i] = words[s->rows[i]];
	}
	out->count = from->count;
	return 0;
}
