/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink for a capture that has no end: it writes windows, traces of a fixed length that follow
 * each other. Each is complete in itself: it has every entity to which its records refer.
 *
 * Windows are divided at a tick, when the source has put its accounts, so that those of a window
 * are exactly about its samples: a sample that was under way then is due in the next window. A
 * window stays open for some seconds after its end, for names that are still being looked up, and
 * for slices that lasted across its end (window_lanes.h).
 *
 * It may run for months: an entity is dropped when no later record can refer to it, as in
 * analyze/recent.h.
 */
#ifndef SKEIN_SERVE_WINDOW_SINK_H
#define SKEIN_SERVE_WINDOW_SINK_H

#include "base/pipe.h"
#include "serve/on_demand.h"
#include "serve/record_choice.h"
#include "serve/window_files.h"

struct window_options {
	const char *folder; /* must outlive the sink */
	uint64_t length; /* of a window, ns */
	struct window_budget budget;
	struct record_choice records; /* of what is put, what windows get */
	struct on_demand *demand; /* gets what the sink gets; NULL: there is none */
	/* the wall clock at a CLOCK_BOOTTIME, both ns; NULL: the machine's */
	uint64_t (*utc)(uint64_t boot);
};

/* What the sink has done so far. */
struct window_counts {
	uint64_t written; /* windows that were completed */
	uint64_t removed; /* windows that were removed, for the budget */
	uint64_t failed; /* windows that could not be written, or not to their end */
	char problem[256]; /* why the last one of those failed; "": none did */
};

/*
 * Make the sink; the folder must exist. It does not fail when a window cannot be written (a full
 * disk): the window's samples are lost and counted, and the next window is tried. Return 0 or a
 * negative errno. Free it with sink_free().
 */
int window_sink(struct sink **out, const struct window_options *o, struct error *err);

/*
 * Change the length and the budget of windows from now on: old windows are removed, and the open
 * one ends at the next tick if it is that long already. The folder stays.
 */
void window_sink_change(struct sink *s, uint64_t length, const struct window_budget *budget);

/*
 * Put an info record into the open window, unless it has one by window_sink_note() already. What is
 * noted stays out of later windows.
 */
void window_sink_note(struct sink *s, const char *key, const char *value);

/* Get the counts of a sink of window_sink(). */
void window_sink_counts(const struct sink *s, struct window_counts *out);

#endif
