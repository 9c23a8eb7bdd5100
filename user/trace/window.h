/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window of a trace's timeline: lanes, a time range, a width in cells, and
 * back comes what each lane did in each cell, whatever the length of the trace.
 */
#ifndef SKEIN_TRACE_WINDOW_H
#define SKEIN_TRACE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/trace.h"

#define CELL_FULL 127

/*
 * activity: 0 only if the lane did not run at all in the cell, CELL_FULL only
 * if it ran all through it, else the share in 127ths, rounded, but at least 1 and at
 * most 126. On a CPU lane, to run is not to idle. Time before a lane's life and after it, or of
 * which nothing is known, is not run time.
 */
struct cell {
	uint8_t activity;
	uint8_t state; /* enum slice_state it was in longest; 0: it did not exist. Of two the lower */
	uint8_t wait; /* enum wait_class of that state */
	uint64_t thread; /* on a CPU lane thread.id of who ran longest; 0 nobody, or not certain */
};

struct window {
	uint64_t time; /* of the first cell, ns: aligned to the cell */
	uint64_t cell; /* ns of a cell: a power of two */
	unsigned int width; /* cells of a lane */
	size_t lanes;
	struct cell *cells; /* lane after lane, in the order asked for */
};

struct window_query {
	uint64_t time, end; /* ns */
	unsigned int width; /* cells wanted at least, if the finest cell (1 us) allows it */
	const uint64_t *lanes; /* lane.id */
	size_t lane_count;
};

/*
 * The cells are at most (end - time) / width long, and at most four times shorter than that, so
 * up to 4 * width + 2 come back, and the first and last may reach beyond the range. Lanes that
 * are not in the trace have cells of zeros. A killed recording, one without a pyramid and one
 * with damaged parts is painted from its slices and edges as far as they go.
 */
int trace_window(struct trace *t, const struct window_query *q, struct window **ret,
		 struct error *err);
void window_free(struct window *w);

/* First and last time of which the trace's lanes tell, ns; both 0 if there are none. */
int trace_span(struct trace *t, uint64_t *time, uint64_t *end, struct error *err);

#endif
