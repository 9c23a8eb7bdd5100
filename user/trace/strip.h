/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run-length coded cells of one lane and level: four bytes for a run of equal cells, and eight more
 * on a CPU lane for the thread. The cells are stored compactly because there are many of them while
 * a block is incomplete.
 */
#ifndef SKEIN_TRACE_STRIP_H
#define SKEIN_TRACE_STRIP_H

#include <stddef.h>

#include "base/vector.h"
#include "trace/mix.h"

/* A run of equal cells, unpacked. */
struct run {
	uint64_t first, count; /* number of the first cell; number of cells */
	struct cell cell;
};

struct run_list {
	struct run *items;
	size_t count, capacity;
};

/* The runs of one lane and level. Zeroed memory is a valid empty strip. */
struct strip {
	uint64_t first, end; /* numbers of the first cell, and of the one after the last */
	uint32_t *runs;
	uint64_t *threads; /* thread.id of each run; NULL while no cell has a thread */
	uint32_t count, capacity;
};

/* Append cells after all others; a gap is filled with cells of zeros. Return 0 or -ENOMEM. */
int strip_add(struct strip *s, uint64_t first, uint64_t count, const struct cell *cell);
/* Drop the runs that lie entirely below that cell number. */
void strip_drop(struct strip *s, uint64_t below);
void strip_free(struct strip *s);

/*
 * Append the cells in [from, to) that are not zeros to ret, numbered relative to from. Return 0 or
 * -ENOMEM.
 */
int strip_copy(const struct strip *s, uint64_t from, uint64_t to, struct run_list *ret);

#endif
