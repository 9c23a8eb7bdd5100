/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells of any size from the slices and edges themselves: for times of which
 * no cells are stored, and for those that are shorter than any that are.
 */
#ifndef SKEIN_TRACE_PAINT_H
#define SKEIN_TRACE_PAINT_H

#include "trace/cast.h"
#include "trace/tower.h"

struct paint_lane {
	uint64_t id;
	bool cpu;	     /* else a thread's */
	struct tower tower; /* of one level, zeroed but for its shift */
};

struct paint_query {
	uint64_t time, end; /* ns, multiples of a cell */
	uint64_t known;	    /* until when anything is known of the trace: trace_span() */
	struct paint_lane *lanes; /* each once */
	size_t count;
};

/*
 * Fill in the runs of level 0 of the lanes' towers. Reads the records of that time and some before
 * it, back to a checkpoint. What is damaged is left out.
 */
int paint_records(struct trace *t, const struct paint_query *q, struct error *err);

#endif
