/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a chunk in the order of a key: stable, in time that grows with the rows alone. */
#ifndef SKEIN_TRACE_SORT_H
#define SKEIN_TRACE_SORT_H

#include <stdint.h>

#include "trace/columns.h"

/* Working memory, owned by whoever sorts; zeroed memory is ready. */
struct sorter {
	uint64_t *keys; /* of rows: filled by the caller */
	uint32_t *rows; /* numbers of rows: filled by the caller, sorted by sort_rows() */
	uint32_t *spare;
	uint32_t capacity;
};

/* Room for that many rows, with numbers below that: 0 or -ENOMEM. Keys are indexed by number. */
int sorter_reserve(struct sorter *s, uint32_t rows);
void sorter_free(struct sorter *s);

/* Sort the first count numbers in rows by their keys; those with equal keys stay as they are. */
void sort_rows(struct sorter *s, uint32_t count);

/* A copy of records, in the order of one of their columns. 0 or -ENOMEM. */
int sort_columns(struct sorter *s, const struct columns *from, unsigned int column,
		 struct columns *ret);

#endif
