// SPDX-License-Identifier: Apache-2.0
/*
 * Export spans and counters to Perfetto. Spans of a thread are slices of its own track; those of a
 * runtime have a track below the process for each lane, and one more for each row of spans that
 * overlap. Counters are below their process.
 */
#include <string.h>

#include "base/json_members.h"
#include "export/perfetto.h"

enum { PROCESS_OF_PID = 1 };
enum {
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_REAL = 5,
	ANNOTATION_TEXT = 6,
	ANNOTATION_NAME = 10
};

/* The track of a lane's row. */
static uint64_t row_track(const struct shown_span *s, bool thread)
{
	return thread && !s->row ? TRACK(THREAD, s->lane)
				 : TRACK(SPANS, s->lane * SPAN_ROWS + s->row);
}

/* Declare the track of a process, and return its number; 0 if the process is not known. */
static uint64_t declare_process(struct perfetto *p, uint32_t process)
{
	struct protobuf *buf = &p->packets.buf;
	uint64_t track = TRACK(PROCESS, (uint64_t)process + 1);
	size_t packet, mark, of;

	if (process == PROFILE_NONE)
		return 0;
	mark = perfetto_begin_track(p, track, NULL, &packet);
	of = protobuf_begin(buf, TRACK_PROCESS_OF);
	protobuf_varint(buf, PROCESS_OF_PID, timeline_pid(&p->timeline, process) & INT32_MAX);
	protobuf_end(buf, of);
	perfetto_end_track(p, mark, packet);
	return track;
}

static void declare_below(struct perfetto *p, uint64_t track, const char *name, uint64_t parent,
			  bool counter)
{
	struct protobuf *buf = &p->packets.buf;
	size_t packet, mark = perfetto_begin_track(p, track, NULL, &packet);

	perfetto_text(p, buf, TRACK_NAME, name);
	if (parent)
		protobuf_varint(buf, TRACK_PARENT, parent);
	if (counter)
		protobuf_end(buf, protobuf_begin(buf, TRACK_COUNTER));
	perfetto_end_track(p, mark, packet);
}

/* Declare the track of the row of a span, and return its number. */
static uint64_t declare_row(struct perfetto *p, const struct shown_span *s)
{
	struct timeline_owner owner = timeline_owner_of(&p->timeline, s->lane);
	const struct timeline_lane *lane = timeline_lane(&p->timeline, s->lane);
	const char *name = shown_lane_name(&p->timeline.spans, s->lane);
	bool thread = lane && lane->thread != PROFILE_NONE;
	uint64_t track = row_track(s, thread);

	if (thread) {
		perfetto_declare_thread(p, lane);
		if (s->row)
			declare_below(p, track, "overlapping", TRACK(THREAD, s->lane), false);
		return track;
	}
	declare_below(p, track, *name ? name : "runtime", declare_process(p, owner.process), false);
	return track;
}

static void annotate_member(struct perfetto *p, const struct json_member *m)
{
	struct protobuf *buf = &p->packets.buf;
	size_t mark = protobuf_begin(buf, EVENT_ANNOTATION);

	perfetto_text(p, buf, ANNOTATION_NAME, m->name);
	if (m->type == JSON_INT)
		protobuf_varint(buf, m->negative ? ANNOTATION_INT : ANNOTATION_UINT, m->value);
	else if (m->type == JSON_REAL)
		protobuf_double(buf, ANNOTATION_REAL, m->real);
	else if (m->type == JSON_WORD && *m->text != 'n')
		protobuf_varint(buf, ANNOTATION_BOOL, *m->text == 't');
	else
		perfetto_text(p, buf, ANNOTATION_TEXT, m->text);
	protobuf_end(buf, mark);
}

static void annotate_words(struct perfetto *p, const char *name, const char *text)
{
	struct json_member m = {.type = JSON_TEXT};

	strcpy(m.name, name);
	strcpy(m.text, text);
	annotate_member(p, &m);
}

/* Write the begin of a span, or all of it if it is an instant. */
static void write_span_begin(struct perfetto *p, const struct shown_span *s, uint64_t track)
{
	const struct shown_spans *all = &p->timeline.spans;
	const char *args = names_text(&all->texts, s->args);
	unsigned int type = shown_span_is_instant(s) ? TYPE_INSTANT : TYPE_BEGIN;
	struct protobuf *buf = &p->packets.buf;
	struct json_member m;
	size_t packet, mark = perfetto_begin_event(p, s->time, track, type, &packet);

	protobuf_text(buf, EVENT_CATEGORY, span_kind_word(s->kind));
	perfetto_text(p, buf, EVENT_NAME, shown_span_name(all, s));
	while (json_member_next(&args, &m))
		annotate_member(p, &m);
	annotate_words(p, "known by", span_origin_word(s->origin));
	if (s->open)
		annotate_words(p, "end", "had not ended");
	perfetto_end_event(p, mark, packet);
}

static void write_span_end(struct perfetto *p, uint64_t time, uint64_t track)
{
	size_t packet, mark = perfetto_begin_event(p, time, track, TYPE_END, &packet);

	perfetto_end_event(p, mark, packet);
}

/* Write the spans of one row, which nest. The reader keeps the order of events of one time. */
static void write_row(struct perfetto *p, size_t first, size_t end)
{
	const struct shown_span *spans = p->timeline.spans.list.items;
	uint64_t track = declare_row(p, &spans[first]);
	VECTOR(uint64_t) open = {0};

	for (size_t i = first; i < end; i++) {
		for (; open.count && open.items[open.count - 1] <= spans[i].time; open.count--)
			write_span_end(p, open.items[open.count - 1], track);
		write_span_begin(p, &spans[i], track);
		if (!shown_span_is_instant(&spans[i]))
			perfetto_fail(p, vector_push(&open, spans[i].end));
	}
	for (; open.count; open.count--)
		write_span_end(p, open.items[open.count - 1], track);
	vector_free(&open);
}

static void write_values(struct perfetto *p, size_t first, size_t end)
{
	const struct shown_value *values = p->timeline.spans.values.items;
	struct timeline_owner owner = timeline_owner_of(&p->timeline, values[first].lane);
	const char *name = names_text(&p->timeline.spans.texts, values[first].name);
	uint64_t track = TRACK(VALUES, (uint64_t)first + 1);

	declare_below(p, track, name, declare_process(p, owner.process), true);
	for (size_t i = first; i < end; i++) {
		size_t packet, mark = perfetto_begin_event(p, values[i].time, track, TYPE_COUNTER,
							   &packet);

		protobuf_varint(&p->packets.buf, EVENT_COUNTER_INT, (uint64_t)values[i].value);
		perfetto_end_event(p, mark, packet);
	}
}

void perfetto_write_spans(struct perfetto *p)
{
	const struct shown_spans *s = &p->timeline.spans;

	for (size_t first = 0, end; first < s->list.count; first = end) {
		end = shown_spans_row_end(s, first);
		write_row(p, first, end);
	}
	for (size_t first = 0, end; first < s->values.count; first = end) {
		end = shown_values_end(s, first);
		write_values(p, first, end);
	}
}
