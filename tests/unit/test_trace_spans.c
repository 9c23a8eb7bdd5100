// SPDX-License-Identifier: Apache-2.0
/* Spans in traces: their order, by time in SQL, merged, and with a time to keep. */
#include <string.h>

#include "files.h"
#include "scene.h"
#include "suite.h"
#include "trace/merge.h"
#include "trace_file.h"

#define SECOND 1000000000ULL
#define COUNT 3000

/*
 * Put spans as runtime_events.c does: by their ends, long ones after the short ones inside of them.
 * first: time of the first one, ns.
 */
static void put_spans(struct scene *s, uint64_t first)
{
	scene_host(s, .id = 1, .hostname = "m", .boot_id = "b", .start = 1);
	scene_lane(s, .id = 1, .host = 1, .kind = LANE_RUNTIME, .name = "JVM");
	scene_put(s, KIND_NAME, &(struct name){.id = 1, .text = "short"});
	scene_put(s, KIND_NAME, &(struct name){.id = 2, .text = "long"});
	for (uint64_t i = 0; i < COUNT; i++) {
		const struct span in = {first + i * 100, first + i * 100 + 10, 1, 1, 0,
					SPAN_PROBE,	 ORIGIN_NOTE};
		/* every tenth span lasts for ten others */
		const struct span out = {first + i * 100 - 905,
					 first + i * 100 + 20,
					 1,
					 2,
					 0,
					 SPAN_PROBE,
					 ORIGIN_NOTE};

		scene_put(s, KIND_SPAN, &in);
		if (i % 10 == 9)
			scene_put(s, KIND_SPAN, &out);
	}
	scene_put(s, KIND_SPAN, &(struct span){first + 50, 0, 1, 2, 0, SPAN_PROBE, ORIGIN_NOTE});
}

static void build_spans(struct scene *s, const void *context)
{
	put_spans(s, *(const uint64_t *)context);
}

static void write_spans(const char *path, uint64_t first)
{
	struct scene_source from = SCENE_OF(build_spans, &first);

	trace_file_write(path, &from.source);
}

/* The spans that a sink gets, and whether they are in order. */
struct span_sink {
	struct sink sink;
	uint64_t count, open, last;
	bool in_order;
};

static int count_span(struct sink *sink, enum record_kind kind, const void *record,
		      struct error *err)
{
	struct span_sink *c = (struct span_sink *)sink;
	const struct span *s = record;

	(void)err;
	if (kind != KIND_SPAN)
		return 0;
	c->count++;
	if (!s->end) {
		c->open++;
		return 0;
	}
	c->in_order &= span_order(s) >= c->last;
	c->last = span_order(s);
	return 0;
}

static const struct sink_ops count_ops = {.put = count_span};

START_TEST(spans_keep_their_order)
{
	struct span_sink c = {.sink = {&count_ops, WANT_ALL}, .in_order = true};

	files_begin();
	write_spans("one.skein", SECOND);
	trace_file_read("one.skein", &c.sink);
	ck_assert(c.in_order);
	ck_assert_uint_eq(c.count, COUNT + COUNT / 10 + 1);
	ck_assert_uint_eq(c.open, 1);
}
END_TEST

/* Spans of two traces at the same time merge by their ends; an open one keeps its place. */
START_TEST(spans_merge_by_their_ends)
{
	struct span_sink c = {.sink = {&count_ops, WANT_ALL}, .in_order = true};
	struct merge_part parts[2] = {{.name = "one"}, {.name = "two"}};
	struct source *merged;
	struct error err = {0};

	files_begin();
	write_spans("one.skein", SECOND);
	write_spans("two.skein", SECOND + 37 * COUNT);
	parts[0].trace = trace_file_open("one.skein");
	parts[1].trace = trace_file_open("two.skein");
	ck_assert_msg(!merge_source(&merged, parts, 2, NULL, &err), "%s", err.text);
	ck_assert_msg(!merged->ops->run(merged, &c.sink, &err), "%s", err.text);
	ck_assert(c.in_order);
	ck_assert_uint_eq(c.count, 2 * (COUNT + COUNT / 10 + 1));
	source_free(merged);
	trace_close(parts[0].trace);
	trace_close(parts[1].trace);
}
END_TEST

static uint64_t count_by(struct trace *t, const char *where)
{
	char sql[256], *text;
	unsigned long long count = 0;

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM span WHERE %s", where);
	text = trace_file_query(t, sql);
	ck_assert_int_eq(sscanf(text, "%*[^\n] %llu", &count), 1);
	free(text);
	return count;
}

/* All that touch a range are found, although the chunks are not ordered by begins. */
START_TEST(sql_finds_spans_by_time)
{
	struct trace *t;
	char where[128];

	files_begin();
	write_spans("one.skein", SECOND);
	t = trace_file_open("one.skein");
	for (uint64_t at = SECOND; at < SECOND + COUNT * 100; at += 100 * 97) {
		uint64_t all, found;

		snprintf(where, sizeof(where), "+time <= %llu AND (end >= %llu OR end = 0)",
			 (unsigned long long)at + 150, (unsigned long long)at);
		all = count_by(t, where);
		found = count_by(t, where + 1);
		ck_assert_uint_eq(found, all);
		ck_assert_uint_ge(found, 3);
		snprintf(where, sizeof(where), "+time BETWEEN %llu AND %llu",
			 (unsigned long long)at, (unsigned long long)at + 1000);
		ck_assert_uint_eq(count_by(t, where + 1), count_by(t, where));
	}
	trace_close(t);
}
END_TEST

/*
 * With a time to keep, names that no kept span uses go after they were forgotten, and lanes of
 * runtimes with their processes. The lane of the recording itself, below no process, stays.
 */
START_TEST(old_names_and_lanes_go)
{
	struct error err = {0};
	struct sink *w;
	struct scene s = {NULL, &err, 0};
	struct trace *t;
	uint64_t id = 0;
	char *text;

	files_begin();
	ck_assert_msg(!trace_writer(&w, "kept.skein", &err), "%s", err.text);
	ck_assert_msg(!trace_writer_retain(w, 5 * SECOND, &err), "%s", err.text);
	s.to = w;
	scene_host(&s, .id = 1, .hostname = "m", .start = 1);
	scene_lane(&s, .id = 1, .host = 1, .kind = LANE_RUNTIME, .name = "recording");
	for (uint64_t now = SECOND; now < 3000 * SECOND; now += SECOND) {
		uint64_t n = now / SECOND;

		scene_process(&s, .id = n, .host = 1, .pid = n, .end = now);
		scene_lane(&s, .id = 2 * n, .host = 1, .kind = LANE_PROCESS, .number = n);
		scene_lane(&s, .id = 2 * n + 1, .host = 1, .parent = 2 * n, .kind = LANE_RUNTIME);
		scene_put(&s, KIND_NAME, &(struct name){.id = ++id, .text = "x"});
		scene_put(&s, KIND_SPAN,
			  &(struct span){now - SECOND, now, 2 * n + 1, id, 0, SPAN_PROBE,
					 ORIGIN_NOTE});
		ck_assert_msg(!sink_tick(w, now, &err), "%s", err.text);
		if (n % 3 == 0)
			ck_assert_int_eq(sink_forget(w, &err), 0);
	}
	ck_assert_int_eq(s.ret, 0);
	ck_assert_int_eq(w->ops->finish(w, &err), 0);
	sink_free(w);
	t = trace_file_open("kept.skein");
	text = trace_file_query(t, "SELECT count(*) < 40, (SELECT count(*) FROM name) < 40,"
				   " (SELECT count(*) FROM span WHERE name NOT IN"
				   " (SELECT id FROM name)),"
				   " (SELECT count(*) FROM lane) < 5000,"
				   " (SELECT count(*) FROM span WHERE lane NOT IN"
				   " (SELECT id FROM lane)),"
				   " (SELECT count(*) FROM lane WHERE id = 1) FROM span");
	ck_assert_msg(strstr(text, "\n1,1,0,1,0,1") != NULL, "%s", text);
	free(text);
	trace_close(t);
}
END_TEST

SUITE("spans in traces", spans_keep_their_order, spans_merge_by_their_ends, sql_finds_spans_by_time,
      old_names_and_lanes_go)
