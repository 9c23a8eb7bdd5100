// SPDX-License-Identifier: Apache-2.0
/* Test the sums of spans and counters, which are compared with the scene as it was made. */
#include <string.h>

#include "analyze/filter.h"
#include "analyze/runtime_sums.h"
#include "runtime_scene.h"
#include "suite.h"

#define MS 1000000ULL

static struct runtime_sums *read_scene(struct filter f, bool by_thread)
{
	struct runtime_query q = {f.from, f.to, by_thread};
	struct runtime_sums *made = NULL;
	struct source *filtered = NULL;
	struct error err = {""};
	int ret = filter_source(&filtered, runtime_scene_source(), &f, &err);

	if (!ret)
		ret = runtime_sums_read(&made, filtered, &q, &err);
	ck_assert_msg(!ret, "%s", err.text);
	source_free(filtered);
	return made;
}

/* Return the row of a kind and name; name NULL: of all names. */
static const struct runtime_row *row_of(const struct runtime_sums *m, uint64_t process,
					enum span_kind kind, const char *name)
{
	for (size_t i = 0; i < m->rows.count; i++) {
		const struct runtime_row *row = &m->rows.items[i];

		if (row->process == process && row->kind == kind &&
		    !strcmp(runtime_sums_text(m, row->name), name))
			return row;
	}
	return NULL;
}

static void check_row(const struct runtime_row *row, uint64_t count, uint64_t sum, uint64_t max)
{
	ck_assert_ptr_nonnull(row);
	ck_assert_uint_eq(row->lengths.count, count);
	ck_assert_uint_eq(row->lengths.sum, sum);
	ck_assert_uint_eq(row->lengths.max, max);
}

START_TEST(sums_by_kind_and_name)
{
	struct runtime_sums *m = read_scene((struct filter){0}, false);
	const struct runtime_row *row;

	ck_assert_uint_eq(m->from, AT(0));
	ck_assert_uint_eq(m->to, AT(1000));
	ck_assert_uint_eq(m->spans, SCENE_COUNT(rt_spans));
	check_row(row_of(m, 1, SPAN_COLLECTION, "G1 Young Generation"), 3, 14900000, 9300000);
	check_row(row_of(m, 1, SPAN_COLLECTION, "G1 Old Generation"), 1, 39300000, 39300000);
	check_row(row_of(m, 2, SPAN_COLLECTION, "generation 2"), 1, 25 * MS, 25 * MS);
	check_row(row_of(m, 1, SPAN_MONITOR, "com.shop.Orders"), 2, 70 * MS, 40 * MS);
	check_row(row_of(m, 1, SPAN_PROBE, "app:query"), 2, 130 * MS, 100 * MS);
	check_row(row_of(m, 1, SPAN_MARK, "app:query"), 1, 0, 0);
	row = row_of(m, 1, SPAN_SAFEPOINT, "safepoint");
	check_row(row, 6, 62 * MS, 40 * MS);
	ck_assert_uint_eq(row->open, 1);
	ck_assert_uint_eq(row->inside, 72 * MS); /* that until the end included */
	ck_assert_uint_eq(row->origins, 1u << ORIGIN_NOTE);
	row = row_of(m, 1, SPAN_THREAD, ""); /* names of threads make no rows */
	check_row(row, 0, 0, 0);
	ck_assert_uint_eq(row->inside, 995 * MS);
	runtime_sums_free(m);
}
END_TEST

START_TEST(rows_by_thread)
{
	struct runtime_sums *m = read_scene((struct filter){0}, true);
	uint64_t seen = 0;

	for (size_t i = 0; i < m->rows.count; i++) {
		const struct runtime_row *row = &m->rows.items[i];

		if (row->kind == SPAN_MONITOR) {
			check_row(row, 1, row->thread == 1 ? 30 * MS : 40 * MS, row->lengths.sum);
			seen |= 1u << row->thread;
		}
		if (row->kind == SPAN_SAFEPOINT)
			ck_assert_uint_eq(row->thread, 0);
	}
	ck_assert_uint_eq(seen, 1u << 1 | 1u << 2);
	runtime_sums_free(m);
}
END_TEST

START_TEST(causes_and_longest_stops)
{
	struct runtime_sums *m = read_scene((struct filter){0}, false);
	const struct span_process *p = &m->processes.items[0];

	const struct runtime_heap *heap =
		&row_of(m, 1, SPAN_COLLECTION, "G1 Young Generation")->heap;

	/* 51 MiB before and 2 MiB after, three times */
	ck_assert_uint_eq(heap->count, 3);
	ck_assert_int_eq(heap->freed, 3 * 49 << 20);
	ck_assert_uint_eq(heap->after, 2 << 20);
	ck_assert_uint_eq(m->causes.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct runtime_cause *c = &m->causes.items[i];
		bool young = !strcmp(runtime_sums_text(m, c->name), "G1 Young Generation");

		ck_assert_str_eq(runtime_sums_text(m, c->cause),
				 young ? "G1 Evacuation Pause" : "System.gc()");
		ck_assert_uint_eq(c->count, young ? 3 : 1);
	}
	ck_assert(p->id == 1 && p->safepoints);
	ck_assert_uint_eq(p->stop_count, RUNTIME_STOPS); /* of six with an end, the longest */
	ck_assert_uint_eq(p->stops[0].time, AT(700));
	ck_assert_uint_eq(p->stops[0].reaching, 200000);
	ck_assert_str_eq(runtime_sums_text(m, p->stops[0].operation), "G1CollectForAllocation");
	ck_assert_str_eq(runtime_sums_text(m, p->stops[0].requester), "order-worker-number-1");
	ck_assert_uint_eq(p->stops[3].time, AT(500));
	ck_assert_uint_eq(p->stops[3].reaching, 2500000);
	ck_assert_str_eq(runtime_sums_text(m, p->stops[3].requester), "main");
	for (unsigned int i = 1; i < p->stop_count; i++)
		ck_assert_uint_ge(p->stops[i - 1].end - p->stops[i - 1].time,
				  p->stops[i].end - p->stops[i].time);
	runtime_sums_free(m);
}
END_TEST

START_TEST(counters_over_time)
{
	struct runtime_sums *m = read_scene((struct filter){0}, false);
	const struct runtime_counter *heap = &m->counters.items[0], *threads = heap + 1;

	ck_assert_uint_eq(m->counters.count, 2);
	ck_assert_str_eq(runtime_sums_text(m, heap->name), "heap used");
	ck_assert_int_eq(heap->first, 10 << 20);
	ck_assert_int_eq(heap->least, 1 << 20);
	ck_assert_int_eq(heap->most, 100 << 20);
	ck_assert_int_eq(heap->last, 30 << 20);
	ck_assert(heap->seen[0] && heap->points[0] == 10 << 20);
	ck_assert(heap->seen[RUNTIME_POINTS - 1] && !heap->seen[1]);
	ck_assert_int_eq(threads->least, -1);
	ck_assert_uint_eq(threads->process, 1);
	runtime_sums_free(m);
}
END_TEST

START_TEST(filters_choose_spans)
{
	struct runtime_sums *m =
		read_scene((struct filter){.from = 200 * MS, .to = 305 * MS}, false);
	const struct runtime_row *row = row_of(m, 1, SPAN_SAFEPOINT, "safepoint");

	/* whole lengths of what touches the range, and its part within */
	check_row(row, 2, 12 * MS, 10 * MS);
	ck_assert_uint_eq(row->inside, 7 * MS);
	ck_assert_ptr_null(row_of(m, 2, SPAN_COLLECTION, "generation 2"));
	runtime_sums_free(m);

	m = read_scene((struct filter){.comm = "python*"}, false);
	ck_assert_uint_eq(m->spans, 2);
	ck_assert_uint_eq(m->counters.count, 0);
	runtime_sums_free(m);

	/* a thread's own spans, and what its runtime did */
	m = read_scene((struct filter){.tids = "4711"}, false);
	check_row(row_of(m, 1, SPAN_MONITOR, "com.shop.Orders"), 1, 30 * MS, 30 * MS);
	check_row(row_of(m, 1, SPAN_COLLECTION, "G1 Old Generation"), 1, 39300000, 39300000);
	ck_assert_ptr_null(row_of(m, 1, SPAN_PROBE, "app:query"));
	ck_assert_uint_eq(m->counters.count, 2);
	runtime_sums_free(m);
}
END_TEST

/* A safepoint that a damaged file puts into a lane which does not exist, and circles of lanes. */
static void build_damaged(struct scene *s, const void *unused)
{
	(void)unused;
	scene_host(s, .id = 1, .start = AT(0));
	scene_lane(s, .id = 1, .parent = 2, .kind = LANE_RUNTIME);
	scene_lane(s, .id = 2, .parent = 1, .kind = LANE_RUNTIME);
	scene_name(s, .id = 1, .text = "{\"cause\":");
	scene_span(s, .time = AT(5), .end = AT(4), .lane = 1, .kind = SPAN_GC_STOP, .name = 77);
	scene_span(s, .time = AT(5), .end = UINT64_MAX, .lane = 99, .kind = 99, .args = 1,
		   .origin = 99);
	scene_span(s, .time = AT(1), .lane = 2, .kind = SPAN_COLLECTION, .args = 1);
	scene_counter(s, .time = UINT64_MAX, .lane = 3, .value = INT64_MIN);
	scene_counter(s, .time = 0, .lane = 3, .value = INT64_MAX);
}

START_TEST(damaged_files_are_bounded)
{
	static struct scene_source damaged = SCENE_OF(build_damaged, NULL);
	struct runtime_query q = {.to = 0};
	struct runtime_sums *m = NULL;
	struct error err = {""};

	ck_assert_int_eq(runtime_sums_read(&m, &damaged.source, &q, &err), 0);
	ck_assert_uint_eq(m->spans, 3);
	ck_assert_uint_eq(m->causes.count, 0);
	ck_assert_uint_eq(m->processes.count, 1);
	runtime_sums_free(m);
}
END_TEST

SUITE("runtime sums", sums_by_kind_and_name, rows_by_thread, causes_and_longest_stops,
      counters_over_time, filters_choose_spans, damaged_files_are_bounded)
