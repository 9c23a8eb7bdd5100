/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Render cells of any size from slices and edges: for times without stored cells, and for cells
 * shorter than those of the finest level.
 */
#ifndef SKEIN_TRACE_RENDER_H
#define SKEIN_TRACE_RENDER_H

#include "trace/lane_levels.h"
#include "trace/trace_lanes.h"
#include "trace/window.h"

struct render_lane {
	uint64_t id;
	/* the cells of the query's range; a cell in which the lane had no stretch is not written */
	struct cell *cells;
	enum lane_kind kind;
};

struct render_query {
	uint64_t time, end; /* ns, multiples of a cell */
	unsigned int shift; /* a cell is 1 << shift ns */
	uint64_t known; /* end of the trace's records, ns: trace_span() */
	const struct render_lane *lanes; /* no duplicates */
	size_t count;
	/*
	 * NULL, or a function that takes each stretch of a lane, by its index in lanes, in the
	 * place of cells: see trace_stretches(). It returns 0 or a negative errno.
	 */
	int (*stretch)(void *context, size_t lane, const struct level_stretch *s,
		       struct error *err);
	void *context;
};

/*
 * Read the records of the range and of the time before it, back to a checkpoint, and set the cells
 * of all lanes. Damaged chunks are left out. Return 0 or a negative errno.
 */
int render_records(struct trace *t, const struct render_query *q, struct error *err);

#endif
