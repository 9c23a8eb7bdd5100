/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Select slices and edges of some of the threads, or of a time range. Lanes of CPUs and actors keep
 * all their slices: slices of other threads stay as RUNNING with value 0. Slices are not cut; those
 * wholly outside the range are dropped, and the states of threads at the start of the range are put
 * in their place.
 */
#ifndef SKEIN_ANALYZE_FILTER_LANES_H
#define SKEIN_ANALYZE_FILTER_LANES_H

#include "base/pipe.h"

struct filter_lanes;

/*
 * Make a filter that puts into the sink; from and to are ns since the start of the recording, both
 * inclusive. Return 0 or -ENOMEM.
 */
int filter_lanes_new(struct filter_lanes **out, struct sink *sink, uint64_t from, uint64_t to,
		     struct error *err);
/* Free the filter, which may be NULL. */
void filter_lanes_free(struct filter_lanes *l);

/* Process a host, lane or thread. holds: the thread is selected. Return 0 or -ENOMEM. */
int filter_lanes_entity(struct filter_lanes *l, enum record_kind kind, const void *record,
			bool holds, struct error *err);
/*
 * Process a slice or edge. holds: the thread that its value names is selected. Return 0, -ENOMEM or
 * the error of the sink.
 */
int filter_lanes_put(struct filter_lanes *l, enum record_kind kind, const void *record, bool holds,
		     struct error *err);
/* There are no more slices and edges. Return 0, -ENOMEM or the error of the sink. */
int filter_lanes_end(struct filter_lanes *l, struct error *err);

#endif
