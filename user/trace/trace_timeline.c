// SPDX-License-Identifier: Apache-2.0
/*
 * Merge the streams of slices and edges. Of each stream, the current chunk is decoded, and its rows
 * within the query are sorted by time.
 */
#include "trace/trace_timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/sort.h"

/* The two streams. Slices come first, because they precede edges of the same time. */
static const enum record_kind stream_kinds[] = {KIND_SLICE, KIND_EDGE};
#define STREAMS (sizeof(stream_kinds) / sizeof(stream_kinds[0]))

union timeline_record {
	struct slice slice;
	struct edge edge;
	uint64_t words[CODEC_COLUMNS_MAX];
};

struct timeline_stream {
	struct chunks chunks;
	struct sorter sorter;
	uint32_t next, count; /* next row, and number of rows, in sorted order */
	bool end;
};

struct trace_timeline {
	struct trace_timeline_query query;
	struct timeline_stream streams[STREAMS];
	union timeline_record record;
};

static uint64_t record_order(enum record_kind kind, const union timeline_record *r)
{
	return kind == KIND_SLICE ? slice_order(&r->slice) : r->edge.time;
}

static bool is_in_range(const struct trace_timeline_query *q, const union timeline_record *r)
{
	/* Records of both kinds begin with time and end. */
	uint64_t time = r->words[0], end = r->words[1];

	return time <= q->to && (end > time ? end : time) >= q->from;
}

static int sort_stream_chunk(struct trace_timeline *l, struct timeline_stream *stream)
{
	const struct columns *c = &stream->chunks.columns;
	union timeline_record r;

	stream->next = stream->count = 0;
	if (sorter_reserve(&stream->sorter, c->count) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->count; i++) {
		columns_record(c, i, r.words);
		if (!is_in_range(&l->query, &r))
			continue;
		stream->sorter.keys[i] = record_order(stream->chunks.kind, &r);
		stream->sorter.rows[stream->count++] = i;
	}
	sorter_sort(&stream->sorter, stream->count);
	return 0;
}

/* Load chunks until the stream has a next row or ends. */
static int load_stream_rows(struct trace_timeline *l, struct timeline_stream *stream,
			    struct error *err)
{
	int ret;

	while (!stream->end && stream->next == stream->count) {
		ret = chunks_next(&stream->chunks, err);
		stream->end = ret <= 0;
		if (ret > 0 && sort_stream_chunk(l, stream) < 0)
			ret = error_set(err, -ENOMEM, "out of memory");
		if (ret < 0)
			return ret;
	}
	return 0;
}

static uint64_t next_row_key(const struct timeline_stream *stream)
{
	return stream->sorter.keys[stream->sorter.rows[stream->next]];
}

int trace_timeline_next(struct trace_timeline *l, enum record_kind *kind, const void **record,
			struct error *err)
{
	struct timeline_stream *first = NULL;
	int ret;

	for (size_t i = 0; i < STREAMS; i++) {
		struct timeline_stream *stream = &l->streams[i];

		ret = load_stream_rows(l, stream, err);
		if (ret < 0)
			return ret;
		if (!stream->end && (!first || next_row_key(stream) < next_row_key(first)))
			first = stream;
	}
	if (!first)
		return 0;
	columns_record(&first->chunks.columns, first->sorter.rows[first->next++], l->record.words);
	*kind = first->chunks.kind;
	*record = &l->record;
	return 1;
}

int trace_timeline_open(struct trace_timeline **out, struct trace *t,
			const struct trace_timeline_query *q, struct error *err)
{
	const struct chunk_range range = {q->from, q->to, q->after, q->until};
	struct trace_timeline *l = calloc(1, sizeof(*l));
	struct chunk_losses losses = q->losses;
	int ret = 0;

	if (!l)
		return error_set(err, -ENOMEM, "out of memory");
	l->query = *q;
	for (size_t i = 0; ret == 0 && i < STREAMS; i++) {
		l->streams[i].end = !(q->kinds & 1ULL << stream_kinds[i]);
		if (l->streams[i].end)
			continue;
		ret = chunks_open(&l->streams[i].chunks, t, stream_kinds[i], &range, &losses, err);
		losses.reported_elsewhere = true;
	}
	if (ret < 0)
		trace_timeline_close(l);
	else
		*out = l;
	return ret;
}

void trace_timeline_close(struct trace_timeline *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < STREAMS; i++) {
		chunks_close(&l->streams[i].chunks);
		sorter_free(&l->streams[i].sorter);
	}
	free(l);
}
