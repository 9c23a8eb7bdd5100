/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells of any size from the slices and edges themselves: for times of which
 * no cells are stored, and for those that are shorter than any that are.
 */
#ifndef SKEIN_TRACE_PAINT_H
#define SKEIN_TRACE_PAINT_H

#include "trace/cast.h"
#include "trace/window.h"

struct paint_lane {
	uint64_t id;
	struct cell *cells; /* of the query's time: what nothing is known of is left as it is */
	bool cpu;	    /* else a thread's */
};

struct paint_query {
	uint64_t time, end; /* ns, multiples of a cell */
	unsigned int shift; /* a cell is 1 << shift ns */
	uint64_t known;	    /* until when anything is known of the trace: trace_span() */
	const struct paint_lane *lanes; /* each once */
	size_t count;
};

/*
 * Reads the records of that time and some before it, back to a checkpoint. What is damaged is left
 * out.
 */
int paint_records(struct trace *t, const struct paint_query *q, struct error *err);

#endif
