/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divide the records of lanes among windows, so that each window has the states of its CPUs and
 * threads from its begin to its end, and the times of all windows add up.
 *
 * - A slice that lasts across the end of a window is cut there. The source puts it when it ends, or
 *   after a second in parts, so the part before the cut comes when the next window has begun, but
 *   before that one ends: a window that has ended stays open so long.
 * - A window begins with the state of each thread at that time, as open slices on the lanes of
 *   threads, like a recording.
 * - A window ends no earlier than the last record that was put, so no record that was put lasts
 *   longer than its window.
 * - A wake-up and a value of a counter are in the window of their time, a span is whole in the
 *   window of its end, as a sample of a wait.
 */
#ifndef SKEIN_SERVE_WINDOW_LANES_H
#define SKEIN_SERVE_WINDOW_LANES_H

#include "analyze/open_slices.h"
#include "serve/window_trace.h"

/* Zeroed memory: lanes are not wanted. */
struct window_lanes {
	struct open_slices *opens; /* states of threads after all records so far */
	uint64_t last; /* largest time or end of them, ns */
	uint64_t unwritten[KIND_COUNT]; /* records that are in no window, by kind */
};

/* The kinds whose records are divided, beside samples. */
#define LANE_RECORDS (WANT(SLICE) | WANT(EDGE) | WANT(SPAN) | WANT(COUNTER))

int window_lanes_begin(struct window_lanes *l, struct error *err);
void window_lanes_free(struct window_lanes *l);

/* Follow a record of the source. Return 0 or -ENOMEM. */
int window_lanes_take(struct window_lanes *l, enum record_kind kind, const void *record,
		      struct error *err);
/*
 * Return when a window ends that ends now: at end if there are no lanes; else at the time of the
 * last record, if that of a sample is sampled. All ns. Records that are under way now would change
 * the states at any later time.
 */
uint64_t window_lanes_border(const struct window_lanes *l, uint64_t end, uint64_t sampled);
/*
 * Put all living threads into a window that begins, with their states at that time. Return 0 or a
 * negative errno; that of the window is in *failed, with its cause in err.
 */
int window_lanes_put_states(struct window_lanes *l, struct window_trace *t,
			    const struct entity_store *stores, int *failed, struct error *err);

/* Add what a window could not store to the records that are in no window, before it is closed. */
void window_lanes_take_unwritten(struct window_lanes *l, const struct window_trace *t);
/*
 * Get the part of a slice, edge, span or counter that belongs to a window of [begin, end), ns.
 * Return false if it has none.
 */
bool window_lanes_cut(enum record_kind kind, union merge_record *r, uint64_t begin, uint64_t end);

#endif
