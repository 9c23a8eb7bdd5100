/* SPDX-License-Identifier: Apache-2.0 */
/* The CPUs and threads of a trace, by lane. They are read once and used for all windows. */
#ifndef SKEIN_TRACE_CAST_H
#define SKEIN_TRACE_CAST_H

#include "analyze/index.h"
#include "trace/open.h"

struct cast_cpu {
	uint64_t lane, number;
};

struct cast_thread {
	uint64_t lane; /* lane.id */
	struct thread thread; /* the thread, without its texts */
};

struct cast {
	struct {
		struct cast_cpu *items;
		size_t count, capacity;
	} cpus;
	struct {
		struct cast_thread *items; /* in order of lane.id, then of thread.id */
		size_t count, capacity;
	} threads;
	struct index lanes;   /* lane.id -> enum lane_kind */
};

/*
 * Return the CPUs and threads of the trace, without those that damage makes unreadable. *ret
 * belongs to the trace.
 */
int cast_of(struct trace *t, const struct cast **ret, struct error *err);
/* Free the CPUs and threads; c may be NULL. */
void cast_free(struct cast *c);

/* Return the *count threads of a lane, one per name; NULL and 0 if it has none. */
const struct cast_thread *cast_threads(const struct cast *c, uint64_t lane, size_t *count);

#endif
