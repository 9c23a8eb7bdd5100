// SPDX-License-Identifier: Apache-2.0
/* pauses.c: how long programs stood still, by service and kind, as metrics. */
#include <stdlib.h>
#include <string.h>

#include "serve/pauses.h"
#include "suite.h"

#define MS 1000000ULL

/* Pauses, with the processes and threads of a sink. */
struct pause_scene {
	struct pauses p;
	struct entity_store stores[KIND_COUNT];
};

static void begin_pauses(struct pause_scene *s)
{
	memset(s, 0, sizeof(*s));
	entity_store_init(&s->stores[KIND_PROCESS], KIND_PROCESS);
	entity_store_init(&s->stores[KIND_THREAD], KIND_THREAD);
}

static void end_pauses(struct pause_scene *s)
{
	entity_store_free(&s->stores[KIND_PROCESS]);
	entity_store_free(&s->stores[KIND_THREAD]);
	pauses_free(&s->p);
}

static void put_service(struct pause_scene *s, uint64_t id, const char *service)
{
	const struct process p = {.id = id, .service = service};

	ck_assert_int_eq(entity_store_put(&s->stores[KIND_PROCESS], &p, 0), 0);
}

static void put_pause_lane(struct pause_scene *s, uint64_t id, enum lane_kind kind, uint64_t parent,
			   uint64_t number)
{
	const struct lane l = {.id = id, .parent = parent, .kind = kind, .number = number};

	ck_assert_int_eq(pauses_put(&s->p, KIND_LANE, &l, s->stores), 0);
}

static void put_stop(struct pause_scene *s, enum span_kind kind, uint64_t lane, uint64_t ns)
{
	const struct span span = {.time = 5, .end = ns ? 5 + ns : 0, .lane = lane, .kind = kind};

	ck_assert_int_eq(pauses_put(&s->p, KIND_SPAN, &span, s->stores), 0);
}

/* Write the metrics; free them with free(). */
static char *written_pauses(const struct pause_scene *s, size_t *size)
{
	struct metrics_page m = {.open = true};
	char *text;

	m.out = open_memstream(&text, size);
	pauses_write(&m, &s->p);
	fclose(m.out);
	return text;
}

static void check_line(const struct pause_scene *s, const char *line)
{
	size_t size;
	char *text = written_pauses(s, &size);

	ck_assert_msg(strstr(text, line) != NULL, "no %s in %s", line, text);
	free(text);
}

/* Pauses of a JVM by kind; what runs beside it, or has not ended, does not count. */
START_TEST(counts_a_jvm)
{
	struct pause_scene s;
	size_t size;
	char *text;

	begin_pauses(&s);
	text = written_pauses(&s, &size);
	ck_assert_uint_eq(size, 0);
	free(text);
	put_service(&s, 3, "shop");
	put_pause_lane(&s, 10, LANE_PROCESS, 0, 3);
	put_pause_lane(&s, 11, LANE_RUNTIME, 10, 0);
	put_stop(&s, SPAN_COLLECTION, 11, 90 * MS);
	put_stop(&s, SPAN_SAFEPOINT, 11, 0);
	text = written_pauses(&s, &size);
	ck_assert_uint_eq(size, 0);
	free(text);
	put_stop(&s, SPAN_SAFEPOINT, 11, 10 * MS);
	put_stop(&s, SPAN_SAFEPOINT, 11, 10 * MS + 1);
	put_stop(&s, SPAN_SAFEPOINT, 11, 6000 * MS);
	put_stop(&s, SPAN_GC_STOP, 11, MS);
	check_line(&s, "# TYPE skein_pause_seconds histogram\n");
	check_line(&s, "_bucket{service=\"shop\",kind=\"safepoint\",le=\"0.005\"} 0\n");
	check_line(&s, "_bucket{service=\"shop\",kind=\"safepoint\",le=\"0.01\"} 1\n");
	check_line(&s, "_bucket{service=\"shop\",kind=\"safepoint\",le=\"0.05\"} 2\n");
	check_line(&s, "_bucket{service=\"shop\",kind=\"safepoint\",le=\"5.0\"} 2\n");
	check_line(&s, "_bucket{service=\"shop\",kind=\"safepoint\",le=\"+Inf\"} 3\n");
	check_line(&s, "_sum{service=\"shop\",kind=\"safepoint\"} 6.020000001\n");
	check_line(&s, "_count{service=\"shop\",kind=\"safepoint\"} 3\n");
	check_line(&s, "_sum{service=\"shop\",kind=\"stopped for a collection\"} 0.001000000\n");
	end_pauses(&s);
}
END_TEST

/*
 * A thread of Python comes after its lane. Its process is remembered, also when the thread has
 * another name and the first one was dropped.
 */
START_TEST(counts_python)
{
	struct pause_scene s;
	const struct thread t = {.id = 70, .process = 4};

	begin_pauses(&s);
	put_service(&s, 4, "");
	put_pause_lane(&s, 20, LANE_THREAD, 0, 70);
	ck_assert_int_eq(entity_store_put(&s.stores[KIND_THREAD], &t, 0), 0);
	put_stop(&s, SPAN_COLLECTION, 20, 2 * MS);
	entity_store_free(&s.stores[KIND_THREAD]);
	entity_store_init(&s.stores[KIND_THREAD], KIND_THREAD);
	put_service(&s, 4, "web");
	put_stop(&s, SPAN_COLLECTION, 20, 3 * MS);
	put_stop(&s, SPAN_PROBE, 20, 3 * MS);
	check_line(&s, "_sum{service=\"(none)\",kind=\"collection\"} 0.002000000\n");
	check_line(&s, "_sum{service=\"web\",kind=\"collection\"} 0.003000000\n");
	end_pauses(&s);
}
END_TEST

/* Many services with long names: the rest is one, nothing is left out, and the page is small. */
START_TEST(rows_are_bounded)
{
	struct pause_scene s;
	char service[400], *text;
	uint64_t count = 0;
	size_t size;

	begin_pauses(&s);
	for (unsigned int i = 1; i <= 10000; i++) {
		memset(service, "\"\\\n<\x80"[i % 5], 300);
		snprintf(service + 300, 100, "%u", i);
		put_service(&s, i, service);
		put_pause_lane(&s, 2 * i, LANE_PROCESS, 0, i);
		put_pause_lane(&s, 2 * i + 1, LANE_RUNTIME, 2 * i, 0);
		put_stop(&s, i % 2 ? SPAN_SAFEPOINT : SPAN_PAUSE, 2 * i + 1, MS);
	}
	ck_assert_uint_eq(s.p.rows.count, PAUSE_ROWS + 2);
	for (size_t i = 0; i < s.p.rows.count; i++)
		count += s.p.rows.items[i].count;
	ck_assert_uint_eq(count, 10000);
	check_line(&s, "_count{service=\"(other)\",kind=\"pause\"} 4950\n");
	text = written_pauses(&s, &size);
	ck_assert_uint_le(size, METRICS_MAX / 8);
	free(text);
	end_pauses(&s);
}
END_TEST

SUITE("pauses", counts_a_jvm, counts_python, rows_are_bounded)
