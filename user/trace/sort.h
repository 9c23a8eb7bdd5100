/* SPDX-License-Identifier: Apache-2.0 */
/* Sort the rows of a chunk by a key: stable, in time proportional to the number of rows. */
#ifndef SKEIN_TRACE_SORT_H
#define SKEIN_TRACE_SORT_H

#include <stdint.h>

#include "trace/columns.h"

/* Working memory for sorting, owned by the caller. Zeroed memory is a valid empty sorter. */
struct sorter {
	uint64_t *keys; /* keys by row number; the caller fills them in */
	uint32_t *rows; /* row numbers; the caller fills them in, and sorter_sort() sorts them */
	uint32_t *spare;
	uint32_t capacity;
};

/* Make room for this many rows, whose numbers must be less than rows. Return 0 or -ENOMEM. */
int sorter_reserve(struct sorter *s, uint32_t rows);
void sorter_free(struct sorter *s);

/* Sort the first count numbers in rows by their keys; rows with equal keys keep their order. */
void sorter_sort(struct sorter *s, uint32_t count);

/* Copy records to out, sorted by one of their columns. Return 0 or -ENOMEM. */
int sort_columns(struct sorter *s, const struct columns *from, unsigned int column,
		 struct columns *out);

#endif
