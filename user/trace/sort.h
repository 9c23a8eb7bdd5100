/* SPDX-License-Identifier: Apache-2.0 */
/* Sort the rows of a chunk by a key, stably and in time proportional to the number of rows. */
#ifndef SKEIN_TRACE_SORT_H
#define SKEIN_TRACE_SORT_H

#include <stdint.h>

#include "trace/columns.h"

/* Working memory for sorting, owned by the caller. Zeroed memory is a valid empty sorter. */
struct sorter {
	uint64_t *keys; /* by row number */
	uint32_t *rows; /* row numbers, sorted by sorter_sort() */
	uint32_t *spare; /* second buffer of row numbers, for sorter_sort() */
	uint32_t capacity; /* maximum number of rows */
	uint32_t count; /* number of rows added */
};

/*
 * Remove all rows and make room for that many. The numbers of the rows to be added must be below
 * rows. Return 0 or -ENOMEM.
 */
int sorter_reserve(struct sorter *s, uint32_t rows);
void sorter_free(struct sorter *s);

static inline void sorter_add(struct sorter *s, uint32_t row, uint64_t key)
{
	s->keys[row] = key;
	s->rows[s->count++] = row;
}

/* Sort the added rows by their keys; rows with equal keys keep their order. */
void sorter_sort(struct sorter *s);

/* Set out to a copy of the records, stably sorted by one of their columns. Return 0 or -ENOMEM. */
int sort_columns(struct sorter *s, const struct columns *from, unsigned int column,
		 struct columns *out);

#endif
