/* SPDX-License-Identifier: Apache-2.0 */
/* Open spans of lanes, and how they end. */
#ifndef SKEIN_CAPTURE_RUNTIME_SPANS_H
#define SKEIN_CAPTURE_RUNTIME_SPANS_H

#include "capture/runtime_state.h"

/*
 * Put a span with the name and arguments of s. end: ns; 0: open. Return 0 or a
 * negative errno.
 */
int runtime_put_span(struct runtime_events *r, uint64_t lane, const struct open_span *s,
		     uint64_t end, struct error *err);
/*
 * Begin a span. The track takes s->name, s->args and s->collection in every case. Return 0 or a
 * negative errno.
 */
int track_begin(struct runtime_events *r, struct track *t, const struct open_span *s,
		struct error *err);
/* Return the position + 1 of the innermost open span of a kind (and key, unless 0); 0: none. */
size_t track_find(struct runtime_events *r, struct track *t, enum span_kind kind, uint64_t key);
/* Drop the open spans from a position on, as unpaired: their ends were not reported. */
void track_drop(struct runtime_events *r, struct track *t, size_t from, uint64_t time);
/*
 * Put the open span at a position, which ends at a time, and remove it; those inside of it are
 * dropped.
 */
int track_end(struct runtime_events *r, struct track *t, size_t position, uint64_t time,
	      struct error *err);
/* Like track_end(), but those inside of it stay open. */
int track_end_alone(struct runtime_events *r, struct track *t, size_t position, uint64_t time,
		    struct error *err);
/*
 * Handle an end without a begin: it is unpaired, unless the begin may have been before the probes
 * were attached (early), or a begin was dropped.
 */
void track_unpaired(struct runtime_events *r, struct track *t, const struct probe_event *e,
		    enum span_kind kind, bool early);
/* Put what is open as spans without an end, and remove it. Return 0 or a negative errno. */
int track_put_open(struct runtime_events *r, struct track *t, uint64_t time, struct error *err);
void track_free(struct runtime_events *r, struct track *t);
void runtime_count_unpaired(struct runtime_events *r, uint64_t begin, uint64_t end);

#endif
