/* SPDX-License-Identifier: Apache-2.0 */
/* Write what the page draws of a counter in a range; for user/view/window.c. */
#ifndef SKEIN_VIEW_WINDOW_COUNTERS_H
#define SKEIN_VIEW_WINDOW_COUNTERS_H

#include "view/embed.h"
#include "view/timeline.h"

/*
 * Append the columns of a counter, by its index, in the form that timeline.h describes; none of one
 * that does not exist. Return 0 or -ENOMEM.
 */
int view_put_counter(struct embed_bytes *to, const struct lanes_counters *c, uint64_t counter,
		     const struct counter_range *range);

/* The same of the number of threads that wanted a CPU. Return 0 or a negative errno. */
int view_put_wanted(struct embed_bytes *to, const struct lanes *l,
		    const struct counter_range *range);

#endif
