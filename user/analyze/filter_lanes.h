/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Select slices and edges of some of the threads, or of a time range. Within the range, lanes of
 * CPUs and actors keep all their slices: slices in which an unselected thread ran stay as RUNNING
 * with value 0. Slices are not cut. Slices wholly outside the range are dropped; in place of the
 * earlier ones, the states of the selected threads at the start of the range are put.
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

/*
 * Process an entity; only hosts, lanes and threads matter. holds: the thread is selected. Return 0
 * or -ENOMEM.
 */
int filter_lanes_entity(struct filter_lanes *l, enum record_kind kind, const void *record,
			bool holds, struct error *err);
/*
 * Process a slice or edge. holds: the thread whose thread.id is the value of the record is
 * selected; ignored where the value is no thread.id. Return 0, -ENOMEM or the error of the sink.
 */
int filter_lanes_put(struct filter_lanes *l, enum record_kind kind, const void *record, bool holds,
		     struct error *err);
/*
 * Call this after the last slice or edge: if none has reached the range, the states of threads at
 * the start of the range are put. Later calls do nothing. Return 0, -ENOMEM or the error of the
 * sink.
 */
int filter_lanes_end(struct filter_lanes *l, struct error *err);

#endif
