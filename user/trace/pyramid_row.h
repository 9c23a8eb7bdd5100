/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encode and decode a row of the zoom pyramid: the cells of some lanes in one block of a level, as
 * the blob of the row. Layout: docs/trace-format.md.
 */
#ifndef SKEIN_TRACE_PYRAMID_ROW_H
#define SKEIN_TRACE_PYRAMID_ROW_H

#include "trace/cell_runs.h"
#include "trace/pack.h"

#define BLOCK_SHIFT 10
#define BLOCK_CELLS (1u << BLOCK_SHIFT) /* cells of a lane in a block */
#define PYRAMID_ROW_LANES 16u /* maximum number of lanes that a writer puts in a row */
#define PYRAMID_ROW_LANES_MAX 64u /* maximum number of lanes of a row; readers refuse more */

/* A lane of a row to be written. */
struct pyramid_row_lane {
	uint64_t id;
	/* The lane existed, but its cells are uncertain: readers render them from the records. */
	bool uncertain;
	/* Runs of cells in order, without overlaps, numbered from the start of the block. */
	const struct cell_run *runs;
	size_t count;
};

/*
 * Append the blob of these lanes, which must be in order of their ids, to out. Return 0 or a
 * negative errno.
 */
int pyramid_row_encode(struct packer *p, const struct pyramid_row_lane *lanes, unsigned int count,
		       struct bytes *out, struct error *err);

struct pyramid_row_reader {
	/*
	 * Return the memory for the cells [first, end) of a lane, which must contain zeros; NULL if
	 * the lane is not wanted. uncertain: the row has no cells for the lane, and the return
	 * value is ignored. If the row turns out to be damaged, some of the cells may be set.
	 */
	struct cell *(*lane)(void *context, uint64_t id, bool uncertain);
	void *context;
	unsigned int first, end; /* the wanted cells, numbered from the start of the block */
};

/* Decode a blob that may be hostile. Return 0, -EBADMSG if the blob is damaged, or -ENOMEM. */
int pyramid_row_decode(struct packer *p, const void *data, size_t size,
		       const struct pyramid_row_reader *to);

#endif
