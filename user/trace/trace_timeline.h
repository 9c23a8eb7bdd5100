/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read slices and edges of a trace as one sequence: in the order of slice_order() and edge.time,
 * slices before edges at equal times, whatever the order within the chunks. A record that was put
 * so late that it is in a later chunk than its neighbours in time is returned among the first of
 * that chunk. The order is the same on every reading.
 */
#ifndef SKEIN_TRACE_TRACE_TIMELINE_H
#define SKEIN_TRACE_TRACE_TIMELINE_H

#include "base/pipe.h"
#include "trace/chunks.h"
#include "trace/sort.h"

struct trace_timeline;

struct trace_timeline_query {
	/*
	 * Records that touch this range, in ns, both ends inclusive. An open slice or edge counts
	 * with its time alone, so the states of threads at `from` follow only if reading begins
	 * with the trace or at a checkpoint that holds their states. 0 to UINT64_MAX is everything.
	 */
	uint64_t from, to;
	uint64_t after; /* skip chunks with ids up to this one; 0: none */
	uint64_t until; /* skip chunks with ids above this one; 0: none */
	uint64_t kinds; /* WANT(SLICE), WANT(EDGE) or both */
	struct chunk_losses losses; /* losses.lost may be NULL: losses are not reported */
	/*
	 * Masks of the columns to decode, 0: all. Members of a record for other columns are
	 * undefined.
	 */
	uint64_t slice_columns, edge_columns;
	/*
	 * NULL, or a function that is called with each decoded chunk and adds the rows to return
	 * to out, with slice_order() or edge.time as keys. Then from and to only select chunks, and
	 * the function chooses among their rows. It returns 0 or a negative errno.
	 */
	int (*choose)(void *context, enum record_kind kind, const struct columns *c,
		      struct sorter *out, struct error *err);
	void *context;
};

/*
 * Open a timeline, which takes the memory of one decoded chunk of each kind. t must outlive the
 * timeline. Return 0 or a negative errno.
 */
int trace_timeline_open(struct trace_timeline **out, struct trace *t,
			const struct trace_timeline_query *q, struct error *err);
/* Return 1 with *record of *kind, valid until the next call; 0 at the end; or a negative errno. */
int trace_timeline_next(struct trace_timeline *l, enum record_kind *kind, const void **record,
			struct error *err);
/* Return the row number in its chunk of the record that trace_timeline_next() returned last. */
uint32_t trace_timeline_row(const struct trace_timeline *l);
/* Accepts NULL. */
void trace_timeline_close(struct trace_timeline *l);

#endif
