/* SPDX-License-Identifier: Apache-2.0 */
/* The streams of one trace, record by record in the order of their times, for merging. */
#ifndef SKEIN_TRACE_MERGE_LINE_H
#define SKEIN_TRACE_MERGE_LINE_H

#include "trace/merge_ids.h"
#include "trace/timeline.h"

/* One stream, or slices and edges together. Zeroed: none. */
struct merge_line {
	struct chunks chunks;
	struct timeline *timeline; /* of slices and edges */
	uint32_t row; /* next of the chunk */
	bool is_timeline;
	bool end;
	/* the record at hand, unless that is the end */
	enum record_kind kind;
	uint64_t order; /* its place in time, by the stamps of its trace */
	union merge_record record;
};

/*
 * kinds: WANT() of one stream but stacks, or of slices and edges. The first record is at hand
 * then. l is written also on failure: close it. 0 or a negative errno.
 */
int merge_line_open(struct merge_line *l, struct trace *t, uint64_t kinds,
		    const struct chunk_losses *losses, struct error *err);
/* Have the next record at hand. 0 or a negative errno. */
int merge_line_next(struct merge_line *l, struct error *err);
void merge_line_close(struct merge_line *l);

#endif
