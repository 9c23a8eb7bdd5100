// SPDX-License-Identifier: Apache-2.0
/* Read the streams of one trace record by record, for merging. */
#include "trace/merge_stream.h"

#include <string.h>

#define TIMELINE (WANT(SLICE) | WANT(EDGE))

/* The record of a stream as its words; the union has room for the columns of every kind. */
union words {
	union merge_record record;
	uint64_t words[CODEC_COLUMNS_MAX];
};

static int next_of_timeline(struct merge_stream *l, struct error *err)
{
	const void *record;
	int ret = trace_timeline_next(l->timeline, &l->kind, &record, err);

	l->end = ret == 0;
	if (ret <= 0)
		return ret;
	memcpy(&l->record, record, kinds[l->kind].size);
	l->order = l->kind == KIND_SLICE ? slice_order(&l->record.slice) : l->record.edge.time;
	return 0;
}

static int next_of_chunks(struct merge_stream *l, struct error *err)
{
	union words r;

	while (l->row == l->chunks.columns.count) {
		int ret = chunks_next(&l->chunks, err);

		l->row = 0;
		l->end = ret == 0;
		if (ret <= 0)
			return ret;
	}
	columns_record(&l->chunks.columns, l->row++, r.words);
	memcpy(&l->record, r.words, kinds[l->kind].size);
	/* An open span keeps its place after those before it. */
	if (l->kind != KIND_SPAN)
		l->order = r.words[0];
	else if (l->record.span.end)
		l->order = span_order(&l->record.span);
	return 0;
}

int merge_stream_next(struct merge_stream *l, struct error *err)
{
	return l->is_timeline ? next_of_timeline(l, err) : next_of_chunks(l, err);
}

static enum record_kind only_kind(uint64_t mask)
{
	return (enum record_kind)__builtin_ctzll(mask);
}

int merge_stream_open(struct merge_stream *l, struct trace *t, uint64_t mask,
		      const struct chunk_losses *losses, struct error *err)
{
	const struct trace_timeline_query q = {.to = UINT64_MAX, .kinds = mask, .losses = *losses};
	const struct chunk_query one = {
		.kind = only_kind(mask), .to = UINT64_MAX, .losses = *losses};
	int ret;

	*l = (struct merge_stream){.is_timeline = mask & TIMELINE, .kind = one.kind};
	ret = l->is_timeline ? trace_timeline_open(&l->timeline, t, &q, err)
			     : chunks_open(&l->chunks, t, &one, err);
	return ret < 0 ? ret : merge_stream_next(l, err);
}

void merge_stream_close(struct merge_stream *l)
{
	trace_timeline_close(l->timeline);
	if (!l->is_timeline)
		chunks_close(&l->chunks);
}
