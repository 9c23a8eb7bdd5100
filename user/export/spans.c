// SPDX-License-Identifier: Apache-2.0
/* Keep the spans and counters of a trace for formats that show them (export/spans.h). */
#include <errno.h>
#include <stdlib.h>

#include "export/spans.h"

static int keep_shown_text(struct shown_spans *s, struct index *of, uint64_t id, const char *text)
{
	uint32_t number;
	int ret = names_intern_text(&s->texts, text ? text : "", &number);

	return ret ? ret : index_put(of, id, number);
}

static int keep_shown_span(struct shown_spans *s, const struct span *r)
{
	struct shown_span kept = {
		.time = r->time,
		.end = r->end,
		.lane = r->lane,
		.name = r->name ? index_get(&s->name_of, r->name) : INDEX_NONE,
		.args = r->args ? index_get(&s->name_of, r->args) : INDEX_NONE,
		.kind = r->kind < SPAN_KIND_COUNT ? (uint16_t)r->kind : SPAN_NONE,
		.origin = r->origin < ORIGIN_COUNT ? (uint8_t)r->origin : ORIGIN_NONE,
		.open = !r->end,
	};

	return vector_push(&s->list, kept);
}

static int keep_shown_value(struct shown_spans *s, const struct counter *r)
{
	struct shown_value kept = {r->time, r->lane, r->value, index_get(&s->name_of, r->name)};

	return vector_push(&s->values, kept);
}

int shown_spans_put(struct shown_spans *s, enum record_kind kind, const void *record)
{
	const struct lane *lane = record;
	const struct name *name = record;
	int ret = 0;

	if (kind == KIND_SPAN)
		return keep_shown_span(s, record);
	if (kind == KIND_COUNTER)
		return keep_shown_value(s, record);
	if (kind == KIND_NAME)
		return keep_shown_text(s, &s->name_of, name->id, name->text);
	if (kind == KIND_LANE && (lane->kind == LANE_RUNTIME || lane->kind == LANE_HANDLERS))
		ret = keep_shown_text(s, &s->lane_name_of, lane->id, lane->name);
	return ret ? ret : lane_owners_put(&s->owners, kind, record);
}

/* Return how far inside spans of a kind lie, if several have the same begin and end. */
static int span_depth(uint16_t kind)
{
	return kind == SPAN_SAFEPOINT	? 0
	       : kind == SPAN_OPERATION ? 1
	       : kind == SPAN_GC_STOP	? 2
					: 3;
}

static int by_span_lane_and_time(const void *a, const void *b)
{
	const struct shown_span *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? 1 : -1;
	return span_depth(x->kind) - span_depth(y->kind);
}

static int by_span_lane_and_row(const void *a, const void *b)
{
	const struct shown_span *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return x->row != y->row ? x->row - y->row : by_span_lane_and_time(a, b);
}

static int by_value_name_and_time(const void *a, const void *b)
{
	const struct shown_value *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

/* Ends of the spans that are open on a row of a lane, the innermost last. */
typedef VECTOR(uint64_t) open_ends_t;

/* Return whether a span nests on a row at its time. */
static bool row_has_room(open_ends_t *row, const struct shown_span *s)
{
	while (row->count && row->items[row->count - 1] <= s->time)
		row->count--;
	return !row->count || row->items[row->count - 1] >= s->end;
}

/* Put the spans of one lane, sorted by time, on as few rows as needed. */
static int place_on_rows(struct shown_span *spans, size_t count, open_ends_t rows[SPAN_ROWS])
{
	for (int row = 0; row < SPAN_ROWS; row++)
		rows[row].count = 0;
	for (size_t i = 0; i < count; i++) {
		struct shown_span *s = &spans[i];
		unsigned int row = 0;

		while (row < SPAN_ROWS - 1 && !row_has_room(&rows[row], s))
			row++;
		if (!row_has_room(&rows[row], s))
			s->end = rows[row].items[rows[row].count - 1];
		s->row = (uint8_t)row;
		if (vector_push(&rows[row], s->end) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void cut_shown_spans(struct shown_spans *s, uint64_t from, uint64_t to)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->list.count; i++) {
		struct shown_span one = s->list.items[i];

		if (!one.end || one.end > to)
			one.end = to;
		if (one.time < from)
			one.time = from;
		if (one.end >= one.time)
			s->list.items[kept++] = one;
	}
	s->list.count = kept;
	kept = 0;
	for (size_t i = 0; i < s->values.count; i++)
		if (s->values.items[i].time >= from && s->values.items[i].time <= to)
			s->values.items[kept++] = s->values.items[i];
	s->values.count = kept;
}

int shown_spans_sort(struct shown_spans *s, uint64_t from, uint64_t to)
{
	open_ends_t rows[SPAN_ROWS] = {{0}};
	int ret = 0;

	cut_shown_spans(s, from, to);
	if (s->values.count)
		qsort(s->values.items, s->values.count, sizeof(*s->values.items),
		      by_value_name_and_time);
	if (!s->list.count)
		return 0;
	qsort(s->list.items, s->list.count, sizeof(*s->list.items), by_span_lane_and_time);
	for (size_t first = 0, end; first < s->list.count && !ret; first = end) {
		end = shown_spans_lane_end(s, first);
		ret = place_on_rows(s->list.items + first, end - first, rows);
	}
	qsort(s->list.items, s->list.count, sizeof(*s->list.items), by_span_lane_and_row);
	for (int row = 0; row < SPAN_ROWS; row++)
		vector_free(&rows[row]);
	return ret;
}

void shown_spans_free(struct shown_spans *s)
{
	vector_free(&s->list);
	vector_free(&s->values);
	names_free(&s->texts);
	index_free(&s->name_of);
	index_free(&s->lane_name_of);
	lane_owners_free(&s->owners);
}

size_t shown_spans_lane_end(const struct shown_spans *s, size_t first)
{
	size_t end = first;

	while (end < s->list.count && s->list.items[end].lane == s->list.items[first].lane)
		end++;
	return end;
}

size_t shown_spans_row_end(const struct shown_spans *s, size_t first)
{
	size_t end = first;

	while (end < s->list.count && s->list.items[end].lane == s->list.items[first].lane &&
	       s->list.items[end].row == s->list.items[first].row)
		end++;
	return end;
}

size_t shown_values_end(const struct shown_spans *s, size_t first)
{
	size_t end = first;

	while (end < s->values.count && s->values.items[end].lane == s->values.items[first].lane &&
	       s->values.items[end].name == s->values.items[first].name)
		end++;
	return end;
}

const char *shown_lane_name(const struct shown_spans *s, uint64_t lane)
{
	return names_text(&s->texts, index_get(&s->lane_name_of, lane));
}

const char *shown_span_name(const struct shown_spans *s, const struct shown_span *span)
{
	const char *name = names_text(&s->texts, span->name);

	return *name ? name : span_kind_word(span->kind);
}
