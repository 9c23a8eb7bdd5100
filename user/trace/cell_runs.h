/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run-length coded cells of one lane and level: four bytes for a run of equal cells, and eight more
 * on a CPU lane for the thread. The cells are stored compactly because there are many of them while
 * a block is incomplete.
 */
#ifndef SKEIN_TRACE_CELL_RUNS_H
#define SKEIN_TRACE_CELL_RUNS_H

#include <stddef.h>

#include "base/vector.h"
#include "trace/cell_sums.h"

/* A run of equal cells, unpacked. */
struct cell_run {
	uint64_t first, count; /* number of the first cell; number of cells */
	struct cell cell;
};

struct cell_run_list {
	struct cell_run *items;
	size_t count, capacity;
};

/* The runs of one lane and level. Zeroed memory is a valid empty list. */
struct cell_runs {
	uint64_t first, end; /* numbers of the first cell, and of the one after the last */
	uint32_t *runs;
	uint64_t *threads; /* thread.id of each run; NULL until a cell has a thread */
	uint32_t count, capacity;
};

/*
 * Append count equal cells, beginning with number first. A gap after the last cell is filled with
 * cells of zeros. If first is below s->end, nothing is added. Return 0 or -ENOMEM.
 */
int cell_runs_add(struct cell_runs *s, uint64_t first, uint64_t count, const struct cell *cell);
/* Remove the runs that lie entirely below that cell number. */
void cell_runs_drop(struct cell_runs *s, uint64_t below);
void cell_runs_free(struct cell_runs *s);

/*
 * Append the runs of cells in [from, to) that have a state to out, numbered relative to from.
 * Return 0 or -ENOMEM.
 */
int cell_runs_copy(const struct cell_runs *s, uint64_t from, uint64_t to,
		   struct cell_run_list *out);

#endif
