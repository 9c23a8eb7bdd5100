/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices and edges of a trace as one sequence: in the order of slice_order() and edge.time,
 * slices before edges when equal, whatever the order in which chunks keep them. A record that
 * was put late, behind a cut between chunks, comes where its chunk begins: the same records come
 * in the same order every time.
 */
#ifndef SKEIN_TRACE_TIMELINE_H
#define SKEIN_TRACE_TIMELINE_H

#include "base/pipe.h"
#include "trace/chunks.h"

struct timeline;

struct timeline_query {
	/*
	 * ns, both inclusive: records that touch this range. Open slices and edges have their
	 * time alone, so what threads did at `from` follows only if reading begins with the
	 * trace or where a checkpoint tells of their states. Zero to UINT64_MAX is everything.
	 */
	uint64_t from, to;
	uint64_t after; /* chunk.id: what stands in chunks up to it is passed over; 0: nothing */
	uint64_t until; /* ... in chunks behind it; 0: nothing */
	uint64_t kinds; /* WANT(SLICE), WANT(EDGE) or both */
	struct chunk_losses losses; /* what could not be read; lost may be NULL */
};

/* t must outlive the timeline. Memory is bounded by one chunk of each kind. */
int timeline_open(struct timeline **ret, struct trace *t, const struct timeline_query *q,
		  struct error *err);
/* 1: *record, of that kind, valid until the next call; 0: there is no more; or -errno. */
int timeline_next(struct timeline *l, enum record_kind *kind, const void **record,
		  struct error *err);
/* Accepts NULL. */
void timeline_close(struct timeline *l);

#endif
