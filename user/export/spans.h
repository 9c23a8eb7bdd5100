/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep the spans and counters of a trace for formats that show them: in memory, since they may come
 * in any order, 40 bytes a span and 32 a value. Readers of timelines require that what is on one
 * track nests; spans of a lane that do not are put on further rows.
 */
#ifndef SKEIN_EXPORT_SPANS_H
#define SKEIN_EXPORT_SPANS_H

#include "analyze/lane_owners.h"
#include "analyze/names.h"
#include "base/pipe.h"
#include "base/vector.h"

/* Most rows of a lane; a span for which there is no room is cut short on the last one. */
#define SPAN_ROWS 32

struct shown_span {
	uint64_t time, end; /* ns, cut to the requested range */
	uint64_t lane; /* lane.id */
	uint32_t name, args; /* numbers in shown_spans.texts; INDEX_NONE: none */
	uint16_t kind; /* enum span_kind; SPAN_NONE: unknown */
	uint8_t origin; /* enum span_origin */
	uint8_t row; /* 0 to SPAN_ROWS - 1: spans of one lane and row nest */
	bool open; /* it had not ended: it is shown until the end of the range */
};

struct shown_value {
	uint64_t time; /* ns */
	uint64_t lane; /* lane.id */
	int64_t value;
	uint32_t name; /* number in shown_spans.texts; INDEX_NONE: none */
};

struct shown_spans {
	/* sorted by lane, row and time, outer ones first, by shown_spans_sort() */
	VECTOR(struct shown_span) list;
	VECTOR(struct shown_value) values; /* sorted by lane, name and time */
	struct names texts;
	struct index name_of; /* name.id -> number in texts */
	struct index lane_name_of; /* lane.id -> number in texts */
	struct lane_owners owners;
};

/* Keep a span, a counter, or an entity to which they refer. Return 0 or -ENOMEM. */
int shown_spans_put(struct shown_spans *s, enum record_kind kind, const void *record);
/*
 * Cut the spans to a range (ns), drop what lies outside of it, and sort. Spans whose end is 0 reach
 * to the end of the range. Return 0 or -ENOMEM.
 */
int shown_spans_sort(struct shown_spans *s, uint64_t from, uint64_t to);
void shown_spans_free(struct shown_spans *s);

/* Return the index after the last of the sorted spans that are on the lane of the first. */
size_t shown_spans_lane_end(const struct shown_spans *s, size_t first);
/* Return the index after the last of them that are on its row, too. */
size_t shown_spans_row_end(const struct shown_spans *s, size_t first);
/* Return the index after the last of the sorted values that are of the same counter. */
size_t shown_values_end(const struct shown_spans *s, size_t first);
/* Return the name of a lane as it was recorded, hostile; "" if it has none. */
const char *shown_lane_name(const struct shown_spans *s, uint64_t lane);
/* Return whether a span is an instant: it ended when it began. */
static inline bool shown_span_is_instant(const struct shown_span *s)
{
	return s->time == s->end && !s->open;
}

/* Return the name under which a span is shown: its own, or that of its kind. It is hostile. */
const char *shown_span_name(const struct shown_spans *s, const struct shown_span *span);

#endif
