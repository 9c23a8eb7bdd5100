/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices and edges of a part of the threads, or of a time range. CPUs stay whole: what others ran
 * is time of which nobody asks. Slices are not cut; those wholly outside the range go, and what
 * threads did when it begins is told in their place.
 */
#ifndef SKEIN_ANALYZE_FILTER_LANES_H
#define SKEIN_ANALYZE_FILTER_LANES_H

#include "base/pipe.h"

struct filter_lanes;

/* from, to: ns since the start of the recording, both inclusive. */
int filter_lanes_new(struct filter_lanes **ret, uint64_t from, uint64_t to, struct error *err);
/* Accepts NULL. */
void filter_lanes_free(struct filter_lanes *l);

/* A host, lane or thread; holds: of a thread, whether it is asked for. */
int filter_lanes_see(struct filter_lanes *l, enum record_kind kind, const void *record, bool holds,
		     struct error *err);
/* A slice or edge; holds: whether the thread is asked for that its value names. */
int filter_lanes_put(struct filter_lanes *l, enum record_kind kind, const void *record, bool holds,
		     struct sink *to, struct error *err);
/* There will be no more of them. */
int filter_lanes_end(struct filter_lanes *l, struct sink *to, struct error *err);

#endif
