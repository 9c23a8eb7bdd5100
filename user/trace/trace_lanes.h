/* SPDX-License-Identifier: Apache-2.0 */
/* The lanes of a trace that have states, read once and kept for all windows of the trace. */
#ifndef SKEIN_TRACE_TRACE_LANES_H
#define SKEIN_TRACE_TRACE_LANES_H

#include "analyze/index.h"
#include "trace/open.h"

struct cpu_of_lane {
	uint64_t lane, number; /* lane.id; number of the CPU */
};

struct thread_of_lane {
	uint64_t lane; /* lane.id */
	struct thread thread; /* only id, start, end and lane are set */
};

struct trace_lanes {
	struct {
		struct cpu_of_lane *items;
		size_t count, capacity;
	} cpus;
	struct {
		struct thread_of_lane *items; /* in order of lane.id, then of thread.id */
		size_t count, capacity;
	} threads;
	struct index lanes; /* lane.id -> enum lane_kind */
};

/*
 * Set *out to the lanes of the trace, without those that damage makes unreadable; *out belongs to
 * the trace. Return 0 or a negative errno.
 */
int trace_lanes_of(struct trace *t, const struct trace_lanes **out, struct error *err);
/* Free the lanes; c may be NULL. */
void trace_lanes_free(struct trace_lanes *c);

/*
 * Return the threads of a lane, one per name of its thread, and set *count to their number. NULL
 * and 0 if the lane has none.
 */
const struct thread_of_lane *trace_lanes_threads(const struct trace_lanes *c, uint64_t lane,
						 size_t *count);

#endif
