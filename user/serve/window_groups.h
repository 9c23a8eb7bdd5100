/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divide the sums of control groups among windows. A source counts from its beginning, or from when
 * it last forgot a group; a window has what was added in it.
 */
#ifndef SKEIN_SERVE_WINDOW_GROUPS_H
#define SKEIN_SERVE_WINDOW_GROUPS_H

#include "analyze/group_times.h"

/* What the source has put of a row, and whether the window lacks it. */
struct window_group {
	uint64_t ns, count;
	bool changed;
};

/* Zeroed memory is empty. */
struct window_groups {
	struct group_times window; /* what was added in the window */
	VECTOR(struct window_group) source; /* by number of the row */
};

/* Take a sum of the source. Return 0 or -ENOMEM. */
int window_groups_take(struct window_groups *w, const struct group_time *r);
/* Put what has changed since the last call for the same window. Return 0 or a negative errno. */
int window_groups_put(struct window_groups *w, struct sink *to, struct error *err);
/* Begin the next window: what was added so far is in the one before. */
void window_groups_next(struct window_groups *w);
/* Begin a file of the window, which has nothing yet. */
void window_groups_again(struct window_groups *w);
void window_groups_free(struct window_groups *w);

#endif
