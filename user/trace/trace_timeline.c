// SPDX-License-Identifier: Apache-2.0
/*
 * Merge slices and edges by time. Of each stream, the current chunk is decoded, and its chosen rows
 * are sorted by time.
 */
#include "trace/trace_timeline.h"

#include <errno.h>
#include <stdlib.h>

/* The two streams; slices come first, because they precede edges of the same time. */
static const enum record_kind stream_kinds[] = {KIND_SLICE, KIND_EDGE};
#define STREAMS (sizeof(stream_kinds) / sizeof(stream_kinds[0]))
#define ROWS_AHEAD 8u /* so many rows before a row is returned, it is fetched */

union timeline_record {
	struct slice slice;
	struct edge edge;
	uint64_t words[CODEC_COLUMNS_MAX];
};

struct timeline_stream {
	struct chunks chunks;
	struct sorter sorter; /* the chosen rows */
	uint32_t next; /* index of the next row in sorter.rows */
	bool end;
};

struct trace_timeline {
	struct trace_timeline_query query;
	struct timeline_stream streams[STREAMS];
	union timeline_record record;
	uint32_t row; /* row number of record in its chunk */
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

static int choose_rows_in_range(void *context, enum record_kind kind, const struct columns *c,
				struct sorter *out, struct error *err)
{
	union timeline_record r;

	(void)err;
	for (uint32_t i = 0; i < c->count; i++) {
		columns_record(c, i, r.words);
		if (is_in_range(context, &r))
			sorter_add(out, i, record_order(kind, &r));
	}
	return 0;
}

static int sort_stream_chunk(struct trace_timeline *l, struct timeline_stream *stream,
			     struct error *err)
{
	const struct columns *c = &stream->chunks.columns;
	int ret;

	stream->next = 0;
	if (sorter_reserve(&stream->sorter, c->count) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	ret = l->query.choose(l->query.context, stream->chunks.query.kind, c, &stream->sorter, err);
	if (ret == 0)
		sorter_sort(&stream->sorter);
	return ret;
}

/* Load chunks until the stream has a next row or ends. */
static int load_stream_rows(struct trace_timeline *l, struct timeline_stream *stream,
			    struct error *err)
{
	int ret;

	while (!stream->end && stream->next == stream->sorter.count) {
		ret = chunks_next(&stream->chunks, err);
		stream->end = ret <= 0;
		if (ret > 0)
			ret = sort_stream_chunk(l, stream, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static uint64_t next_row_key(const struct timeline_stream *stream)
{
	return stream->sorter.keys[stream->sorter.rows[stream->next]];
}

/*
 * Have the processor fetch a row that will soon be returned. Rows of neighbouring times are far
 * apart, as a chunk is sorted by lane, so that each column would have to be waited for.
 */
static void fetch_later_row(const struct timeline_stream *stream)
{
	const struct columns *c = &stream->chunks.columns;

	if (stream->next + ROWS_AHEAD >= stream->sorter.count)
		return;
	for (unsigned int i = 0; i < c->width; i++)
		__builtin_prefetch(
			&columns_at(c, i)[stream->sorter.rows[stream->next + ROWS_AHEAD]]);
}

/* Copy the decoded columns of a row. */
static void copy_wanted_columns(const struct chunks *c, uint32_t row, uint64_t *words)
{
	for (unsigned int i = 0; i < c->columns.width; i++)
		if (c->query.columns & 1ULL << i)
			words[i] = columns_at(&c->columns, i)[row];
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
	l->row = first->sorter.rows[first->next++];
	fetch_later_row(first);
	copy_wanted_columns(&first->chunks, l->row, l->record.words);
	*kind = first->chunks.query.kind;
	*record = &l->record;
	return 1;
}

uint32_t trace_timeline_row(const struct trace_timeline *l)
{
	return l->row;
}

int trace_timeline_open(struct trace_timeline **out, struct trace *t,
			const struct trace_timeline_query *q, struct error *err)
{
	struct trace_timeline *l = calloc(1, sizeof(*l));
	struct chunk_query chunks = {.from = q->from,
				     .to = q->to,
				     .after = q->after,
				     .until = q->until,
				     .losses = q->losses};
	int ret = 0;

	if (!l)
		return error_set(err, -ENOMEM, "out of memory");
	l->query = *q;
	if (!q->choose) {
		l->query.choose = choose_rows_in_range;
		l->query.context = &l->query;
	}
	for (size_t i = 0; ret == 0 && i < STREAMS; i++) {
		chunks.kind = stream_kinds[i];
		chunks.columns = i ? q->edge_columns : q->slice_columns;
		l->streams[i].end = !(q->kinds & 1ULL << chunks.kind);
		if (l->streams[i].end)
			continue;
		ret = chunks_open(&l->streams[i].chunks, t, &chunks, err);
		chunks.losses.reported_elsewhere = true;
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
