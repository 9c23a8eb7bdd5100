/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells of one lane and level in a row, small: four bytes for a run of equal ones, and on a CPU
 * lane eight more for the thread. There are many while a block is not whole.
 */
#ifndef SKEIN_TRACE_STRIP_H
#define SKEIN_TRACE_STRIP_H

#include <stddef.h>

#include "base/vector.h"
#include "trace/mix.h"

/* Equal cells, unpacked. */
struct run {
	uint64_t first, count; /* number of the first cell; how many */
	struct cell cell;
};

struct run_list {
	struct run *items;
	size_t count, capacity;
};

/* Zeroed memory is an empty one. */
struct strip {
	uint64_t first, end; /* numbers of cells */
	uint32_t *runs;
	uint64_t *threads; /* of each run; NULL while no cell has one */
	uint32_t count, capacity;
};

/* Append cells, behind all others; a gap is cells of zeros. 0 or -ENOMEM. */
int strip_add(struct strip *s, uint64_t first, uint64_t count, const struct cell *cell);
/* Forget cells below that number. */
void strip_drop(struct strip *s, uint64_t below);
void strip_free(struct strip *s);

/* Append the cells in [from, to) that are not zeros, numbered from `from` on. 0 or -ENOMEM. */
int strip_copy(const struct strip *s, uint64_t from, uint64_t to, struct run_list *ret);

#endif
