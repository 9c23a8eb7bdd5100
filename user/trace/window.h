/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Render a window of a trace's timeline: for given lanes, a time range and a width in cells, return
 * the state of each lane in each cell, whatever the length of the trace.
 */
#ifndef SKEIN_TRACE_WINDOW_H
#define SKEIN_TRACE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/trace.h"

#define CELL_FULL 127

/*
 * One cell of a lane. activity: 0 only if the lane was not RUNNING at all in the cell, CELL_FULL
 * only if it was RUNNING all the time, else the share of that time in 127ths, rounded, but at least
 * 1 and at most 126. A CPU lane is RUNNING while a thread runs on the CPU. Time before or after the
 * life of a lane, and time in an unknown state, is not run time.
 */
struct cell {
	uint8_t activity;
	/*
	 * The enum slice_state that lasted longest (of equally long states the lower number); 0:
	 * the lane did not exist, or nothing is known of it in the cell.
	 */
	uint8_t state;
	uint8_t wait; /* enum wait_class that lasted longest in that state */
	/* On a CPU lane, thread.id of the thread that ran longest; 0: none, or not certain. */
	uint64_t thread;
};

struct window {
	uint64_t time; /* time of the first cell, ns: a multiple of cell */
	uint64_t cell; /* length of a cell, ns: a power of two */
	unsigned int width; /* cells per lane */
	size_t lanes;
	struct cell *cells; /* lane after lane, in the order of the query; freed by window_free() */
};

struct window_query {
	uint64_t time, end; /* ns */
	unsigned int width; /* minimum number of cells, unless cells of 1.024 us are too long */
	const uint64_t *lanes; /* lane.id */
	size_t lane_count;
};

/*
 * Render the window. Cells are 2^10 to 2^52 ns long; within these limits, they are at most
 * (end - time) / width long and less than four times shorter than that (below the finest stored
 * level less than twice), so up to 4 * width + 2 cells are returned per lane. The first and last
 * cell may extend beyond the range. Lanes that are not in the trace have cells of zeros. A trace of
 * a killed recorder, without a pyramid or with damaged parts is rendered from its slices and edges
 * as far as they can be read. The caller frees *out with window_free(). Return 0 or a negative
 * errno; -EINVAL for an empty range or width, or a window of over 64 Mi cells.
 */
int trace_window(struct trace *t, const struct window_query *q, struct window **out,
		 struct error *err);
void window_free(struct window *w);

/* A time in which a lane was in one state. */
struct lane_stretch {
	uint64_t time, end; /* ns */
	uint64_t thread; /* on a CPU lane, thread.id of the thread that ran; 0: none */
	uint8_t state, wait; /* enum slice_state, enum wait_class */
};

struct stretches_query {
	uint64_t time, end; /* ns; time is a multiple of 1,024 */
	const uint64_t *lanes; /* lane.id, each once */
	size_t lane_count;
	/* Take a stretch of a lane, by its index in lanes. Return 0 or a negative errno. */
	int (*take)(void *context, size_t lane, const struct lane_stretch *s, struct error *err);
	void *context;
};

/*
 * Pass on the stretches that the cells of trace_window() are made of, cut to the range. Those of
 * one lane come in the order of their times and do not overlap. Lanes that are not in the trace
 * have none. Return 0 or a negative errno, which may be that of take().
 */
int trace_stretches(struct trace *t, const struct stretches_query *q, struct error *err);

/*
 * Set *time and *end to the first and last time of the trace's slices and edges, ns; both are 0 if
 * there are none, or if damage makes them unreadable. Return 0 or a negative errno.
 */
int trace_span(struct trace *t, uint64_t *time, uint64_t *end, struct error *err);

#endif
