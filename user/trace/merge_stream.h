/* SPDX-License-Identifier: Apache-2.0 */
/* Read the streams of one trace record by record, in the order of time, for merging. */
#ifndef SKEIN_TRACE_MERGE_STREAM_H
#define SKEIN_TRACE_MERGE_STREAM_H

#include "trace/merge_ids.h"
#include "trace/trace_timeline.h"

/* One stream, or slices and edges together. Zeroed memory reads no stream. */
struct merge_stream {
	struct chunks chunks;
	struct trace_timeline *timeline; /* for slices and edges */
	uint32_t row; /* next row of the chunk */
	bool is_timeline;
	bool end;
	/* The current record, unless end is set. */
	enum record_kind kind;
	/* time of the record (slice_order(), span_order()), ns of the trace's own clock */
	uint64_t order;
	union merge_record record;
};

/*
 * Open the stream and load its first record. kinds: WANT() of one stream except stacks, or of
 * slices and edges. l is initialized also on failure: call merge_stream_close(). Return 0 or a
 * negative errno.
 */
int merge_stream_open(struct merge_stream *l, struct trace *t, uint64_t kinds,
		      const struct chunk_losses *losses, struct error *err);
/* Load the next record. Return 0 or a negative errno. */
int merge_stream_next(struct merge_stream *l, struct error *err);
void merge_stream_close(struct merge_stream *l);

#endif
