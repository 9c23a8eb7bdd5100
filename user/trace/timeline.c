// SPDX-License-Identifier: Apache-2.0
/*
 * Merge the streams of slices and edges. Of each stream, the current chunk is decoded, and its rows
 * within the query are sorted by time.
 */
#include "trace/timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/sort.h"

/* The two streams. Slices come first, because they precede edges of the same time. */
static const enum record_kind line_kinds[] = {KIND_SLICE, KIND_EDGE};
#define LINES (sizeof(line_kinds) / sizeof(line_kinds[0]))

union line_record {
	struct slice slice;
	struct edge edge;
	uint64_t words[CODEC_COLUMNS_MAX];
};

struct line {
	struct chunks chunks;
	struct sorter sorter;
	uint32_t next, count; /* next row, and number of rows, in sorted order */
	bool end;
};

struct timeline {
	struct timeline_query query;
	struct line lines[LINES];
	union line_record record;
};

static uint64_t order_of(enum record_kind kind, const union line_record *r)
{
	return kind == KIND_SLICE ? slice_order(&r->slice) : r->edge.time;
}

static bool is_in_range(const struct timeline_query *q, const union line_record *r)
{
	/* Records of both kinds begin with time and end. */
	uint64_t time = r->words[0], end = r->words[1];

	return time <= q->to && (end > time ? end : time) >= q->from;
}

static int sort_chunk(struct timeline *l, struct line *line)
{
	const struct columns *c = &line->chunks.columns;
	union line_record r;

	line->next = line->count = 0;
	if (sorter_reserve(&line->sorter, c->count) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->count; i++) {
		columns_record(c, i, r.words);
		if (!is_in_range(&l->query, &r))
			continue;
		line->sorter.keys[i] = order_of(line->chunks.kind, &r);
		line->sorter.rows[line->count++] = i;
	}
	sort_rows(&line->sorter, line->count);
	return 0;
}

/* Load chunks until the stream has a next row or ends. */
static int fill(struct timeline *l, struct line *line, struct error *err)
{
	int result;

	while (!line->end && line->next == line->count) {
		result = chunks_next(&line->chunks, err);
		line->end = result <= 0;
		if (result > 0 && sort_chunk(l, line) < 0)
			result = error_set(err, -ENOMEM, "out of memory");
		if (result < 0)
			return result;
	}
	return 0;
}

static uint64_t key_of(const struct line *line)
{
	return line->sorter.keys[line->sorter.rows[line->next]];
}

int timeline_next(struct timeline *l, enum record_kind *kind, const void **record,
		  struct error *err)
{
	struct line *first = NULL;
	int result;

	for (size_t i = 0; i < LINES; i++) {
		struct line *line = &l->lines[i];

		result = fill(l, line, err);
		if (result < 0)
			return result;
		if (!line->end && (!first || key_of(line) < key_of(first)))
			first = line;
	}
	if (!first)
		return 0;
	columns_record(&first->chunks.columns, first->sorter.rows[first->next++], l->record.words);
	*kind = first->chunks.kind;
	*record = &l->record;
	return 1;
}

int timeline_open(struct timeline **ret, struct trace *t, const struct timeline_query *q,
		  struct error *err)
{
	const struct chunk_range range = {q->from, q->to, q->after, q->until};
	struct timeline *l = calloc(1, sizeof(*l));
	struct chunk_losses losses = q->losses;
	int result = 0;

	if (!l)
		return error_set(err, -ENOMEM, "out of memory");
	l->query = *q;
	for (size_t i = 0; result == 0 && i < LINES; i++) {
		l->lines[i].end = !(q->kinds & 1ULL << line_kinds[i]);
		if (l->lines[i].end)
			continue;
		result = chunks_open(&l->lines[i].chunks, t, line_kinds[i], &range, &losses, err);
		losses.told = true;
	}
	if (result < 0)
		timeline_close(l);
	else
		*ret = l;
	return result;
}

void timeline_close(struct timeline *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < LINES; i++) {
		chunks_close(&l->lines[i].chunks);
		sorter_free(&l->lines[i].sorter);
	}
	free(l);
}
