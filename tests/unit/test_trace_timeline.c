// SPDX-License-Identifier: Apache-2.0
/*
 * Slices and edges as one sequence: beside a brute force that sorts all that was put, for any
 * range, across cuts between chunks and past damage.
 */
#include <sqlite3.h>

#include "base/vector.h"
#include "files.h"
#include "suite.h"
#include "synthetic.h"
#include "trace/trace_timeline.h"
#include "trace_file.h"

#define FILE_NAME "timeline.skein"
#define LANES 7
#define FOUND UINT64_MAX

/* One record, with the number of its putting. */
struct item {
	enum record_kind kind;
	uint64_t order, put;
	union {
		struct slice slice;
		struct edge edge;
		uint64_t words[7];
	};
};

struct world {
	VECTOR(struct item) items;
	struct sink *sink;
	uint64_t random, time;
	uint64_t ends[LANES];
};

static void put(struct world *w, struct item item)
{
	struct error err = {0};

	item.put = w->items.count;
	item.order = item.kind == KIND_SLICE ? slice_order(&item.slice) : item.edge.time;
	ck_assert_int_eq(vector_push(&w->items, item), 0);
	ck_assert_msg(!sink_put(w->sink, item.kind, item.words, &err), "%s", err.text);
}

/* Slices that tile their lanes, open ones, losses that reach ahead, and edges, many at one time. */
static void put_random(struct world *w)
{
	uint64_t r = synthetic_random(&w->random), lane = r % LANES;
	struct item item = {.kind = KIND_SLICE};

	w->time += (r >> 8) % 4 ? 0 : (r >> 16) % 100;
	switch ((r >> 32) % 8) {
	case 0:
		item.slice = (struct slice){.time = w->time, .lane = lane, .state = STATE_SLEEPING};
		break;
	case 1:
		item.slice = (struct slice){.time = w->time,
					    .end = w->time + (r >> 40) % 5000,
					    .lane = lane,
					    .state = STATE_UNKNOWN};
		break;
	case 2:
	case 3:
	case 4:
		item.slice = (struct slice){.time = w->ends[lane],
					    .end = w->time,
					    .lane = lane,
					    .state = STATE_RUNNING,
					    .value = r >> 50};
		w->ends[lane] = w->time;
		break;
	default:
		item.kind = KIND_EDGE;
		item.edge = (struct edge){.time = w->time,
					  .end = w->time,
					  .from = lane,
					  .to = (r >> 40) % LANES,
					  .kind = EDGE_WAKEUP};
	}
	put(w, item);
}

static void begin_world(struct world *w, uint64_t seed)
{
	struct error err = {0};

	files_begin();
	*w = (struct world){.random = seed, .time = 1000};
	for (int i = 0; i < LANES; i++)
		w->ends[i] = 1000;
	ck_assert_msg(!trace_writer(&w->sink, FILE_NAME, &err), "%s", err.text);
}

static void end_world(struct world *w)
{
	struct error err = {0};

	ck_assert_msg(!w->sink->ops->finish(w->sink, &err), "%s", err.text);
	sink_free(w->sink);
}

static bool touches(const struct item *i, uint64_t from, uint64_t to)
{
	uint64_t time = i->words[0], end = i->words[1];

	return time <= to && (end > time ? end : time) >= from;
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->put < y->put ? -1 : x->put > y->put;
}

struct losses {
	uint64_t records, unknown;
};

static void count_lost(void *context, enum record_kind kind, uint64_t time, uint64_t end,
		       uint64_t records)
{
	struct losses *l = context;

	ck_assert_uint_le(time, end);
	l->records += records;
	l->unknown += kind == KIND_COUNT;
}

static struct trace_timeline_query query_of(uint64_t from, uint64_t to, struct losses *losses)
{
	return (struct trace_timeline_query){.from = from,
					     .to = to,
					     .kinds = WANT(SLICE) | WANT(EDGE),
					     .losses = {.lost = count_lost, .context = losses}};
}

/* Records at one time and of one kind may change places: their lanes distinguish them. */
static void check_group(struct item *wanted, struct item *got, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t k = 0;

		while (k < count &&
		       (wanted[k].put == FOUND ||
			memcmp(wanted[k].words, got[i].words, kinds[got[i].kind].size) != 0))
			k++;
		ck_assert_msg(k < count, "a record that nobody put, at %lu", got[i].order);
		wanted[k].put = FOUND;
	}
}

static void check_same(struct item *wanted, size_t count, struct item *got, size_t got_count)
{
	ck_assert_uint_eq(count, got_count);
	for (size_t i = 0, n; i < count; i += n) {
		for (n = 1; i + n < count && wanted[i + n].order == wanted[i].order &&
			    wanted[i + n].kind == wanted[i].kind;
		     n++)
			;
		for (size_t k = i; k < i + n; k++) {
			ck_assert_uint_eq(got[k].order, wanted[i].order);
			ck_assert_int_eq(got[k].kind, wanted[i].kind);
		}
		check_group(wanted + i, got + i, n);
	}
}

typedef VECTOR(struct item) items_t;

static items_t read_range(struct trace *t, const struct trace_timeline_query *q)
{
	struct trace_timeline *l = NULL;
	struct error err = {0};
	enum record_kind kind;
	const void *record;
	items_t items = {0};
	int result;

	ck_assert_msg(!trace_timeline_open(&l, t, q, &err), "%s", err.text);
	while ((result = trace_timeline_next(l, &kind, &record, &err)) > 0) {
		struct item item = {.kind = kind};

		memcpy(item.words, record, kinds[kind].size);
		item.order = kind == KIND_SLICE ? slice_order(&item.slice) : item.edge.time;
		ck_assert_int_eq(vector_push(&items, item), 0);
	}
	ck_assert_msg(!result, "%s", err.text);
	trace_timeline_close(l);
	return items;
}

static void check_range(struct world *w, struct trace *t, uint64_t from, uint64_t to)
{
	struct losses losses = {0};
	struct trace_timeline_query q = query_of(from, to, &losses);
	items_t got = read_range(t, &q), wanted = {0};

	for (size_t i = 0; i < w->items.count; i++)
		if (touches(&w->items.items[i], from, to))
			ck_assert_int_eq(vector_push(&wanted, w->items.items[i]), 0);
	if (wanted.count)
		qsort(wanted.items, wanted.count, sizeof(*wanted.items), compare_items);
	check_same(wanted.items, wanted.count, got.items, got.count);
	ck_assert_uint_eq(losses.records, 0);
	vector_free(&wanted);
	vector_free(&got);
}

/* A trace of several chunks of each kind, cut by ticks and by their size. */
static void put_world(struct world *w, uint64_t records, uint64_t per_tick)
{
	struct error err = {0};

	for (uint64_t i = 0; i < records; i++) {
		put_random(w);
		if (i % per_tick == 0) {
			w->time++;
			ck_assert_int_eq(sink_tick(w->sink, w->time, &err), 0);
		}
	}
}

START_TEST(any_range_as_brute_force)
{
	struct world w;
	struct trace *t;

	begin_world(&w, 17);
	put_world(&w, 20000, 1500);
	end_world(&w);
	t = trace_file_open(FILE_NAME);
	check_range(&w, t, 0, UINT64_MAX);
	check_range(&w, t, 0, 0);
	check_range(&w, t, w.time + 10000, UINT64_MAX);
	for (int i = 0; i < 60; i++) {
		uint64_t from = 1000 + synthetic_random(&w.random) % (w.time - 1000);

		check_range(&w, t, from, from + synthetic_random(&w.random) % 3000);
	}
	trace_close(t);
	vector_free(&w.items);
}
END_TEST

START_TEST(chunks_cut_by_their_size)
{
	struct world w;
	struct trace *t;

	begin_world(&w, 5);
	put_world(&w, 300000, 1000000);
	end_world(&w);
	t = trace_file_open(FILE_NAME);
	check_range(&w, t, 0, UINT64_MAX);
	check_range(&w, t, w.time / 2, w.time / 2 + 100);
	trace_close(t);
	vector_free(&w.items);
}
END_TEST

/* What comes late keeps its chunk: in order within it, and the same every time. */
START_TEST(late_records_come_in_one_order)
{
	struct error err = {0};
	struct losses losses = {0};
	struct trace_timeline_query q = query_of(0, UINT64_MAX, &losses);
	static const uint64_t times[] = {50, 30, 40, 0, 45, 60};
	static const uint64_t wanted[] = {30, 40, 50, 45, 60};
	struct scene s = {NULL, &err, 0};
	struct sink *sink;
	struct trace *t;
	items_t got;

	files_begin();
	ck_assert_int_eq(trace_writer(&sink, FILE_NAME, &err), 0);
	s.to = sink;
	for (size_t i = 0; i < SCENE_COUNT(times); i++)
		if (times[i])
			scene_slice(&s, 10, times[i], 1, STATE_RUNNING, 0, 0, 0);
		else
			ck_assert_int_eq(sink_tick(sink, 1, &err), 0);
	ck_assert_int_eq(s.ret, 0);
	ck_assert_int_eq(sink->ops->finish(sink, &err), 0);
	sink_free(sink);
	t = trace_file_open(FILE_NAME);
	for (int again = 0; again < 2; again++) {
		got = read_range(t, &q);
		ck_assert_uint_eq(got.count, 5);
		for (size_t i = 0; i < got.count; i++)
			ck_assert_uint_eq(got.items[i].slice.end, wanted[i]);
		vector_free(&got);
	}
	trace_close(t);
}
END_TEST

static void run_sql(const char *sql)
{
	char *message = NULL;
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(FILE_NAME, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s", message);
	sqlite3_close(db);
}

/* From behind the last chunk of a transaction on: what was put after it. */
START_TEST(begins_behind_a_chunk)
{
	struct losses losses = {0};
	struct trace_timeline_query q = query_of(0, UINT64_MAX, &losses);
	struct world w;
	struct trace *t;
	items_t all, got;

	begin_world(&w, 3);
	put_world(&w, 5000, 500);
	end_world(&w);
	t = trace_file_open(FILE_NAME);
	all = read_range(t, &q);
	for (q.after = 3; q.after <= 19; q.after += 8) {
		got = read_range(t, &q);
		ck_assert_uint_gt(got.count, 0);
		ck_assert_uint_lt(got.count, all.count);
		ck_assert_mem_eq(&got.items[got.count - 1], &all.items[all.count - 1],
				 sizeof(struct item));
		vector_free(&got);
	}
	q.after = 1000;
	ck_assert_uint_eq(read_range(t, &q).count, 0);
	trace_close(t);
	vector_free(&all);
	vector_free(&w.items);
}
END_TEST

START_TEST(damage_is_told_and_passed)
{
	static const struct {
		const char *sql;
		uint64_t chunks, unknown;
	} damages[] = {
		{"UPDATE chunk SET data = 'text' WHERE id = 3", 1, 0},
		{"UPDATE chunk SET records = records + 1 WHERE id IN (3, 4)", 2, 0},
		{"DELETE FROM chunk WHERE id = 3", 1, 1},
		{"UPDATE chunk SET kind = 'slicf' WHERE id = 3", 1, 1},
	};
	struct world w;

	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct losses losses = {0};
		struct trace_timeline_query q = query_of(0, UINT64_MAX, &losses);
		struct trace *t;
		items_t got;

		begin_world(&w, 11);
		put_world(&w, 5000, 500);
		end_world(&w);
		run_sql(damages[i].sql);
		t = trace_file_open(FILE_NAME);
		got = read_range(t, &q);
		ck_assert_uint_lt(got.count, w.items.count);
		ck_assert_uint_ge(got.count, w.items.count - 500 * damages[i].chunks);
		ck_assert_uint_eq(losses.unknown, damages[i].unknown);
		ck_assert_uint_gt(losses.records, 0);
		for (size_t k = 1; k < got.count; k++)
			ck_assert_uint_ge(got.items[k].order, got.items[k - 1].order);
		trace_close(t);
		vector_free(&got);
		vector_free(&w.items);
	}
}
END_TEST

struct order_check {
	struct sink sink;
	uint64_t last, records[KIND_COUNT];
	enum record_kind last_kind;
};

static int check_put(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	struct order_check *c = (struct order_check *)s;
	const struct edge *e = record;
	uint64_t order;

	(void)err;
	c->records[kind]++;
	if (kind != KIND_SLICE && kind != KIND_EDGE)
		return 0;
	order = kind == KIND_SLICE ? slice_order(record) : e->time;
	ck_assert(order > c->last || (order == c->last && kind >= c->last_kind));
	c->last = order;
	c->last_kind = kind;
	return 0;
}

START_TEST(file_source_merges)
{
	static const struct sink_ops ops = {.put = check_put};
	static const uint64_t wants[] = {WANT_ALL, WANT(SLICE), WANT(EDGE), WANT(SAMPLE)};
	struct world w;
	struct trace *t;

	begin_world(&w, 23);
	put_world(&w, 5000, 500);
	end_world(&w);
	t = trace_file_open(FILE_NAME);
	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
		struct order_check c = {.sink = {&ops, wants[i]}};

		trace_file_put(t, &c.sink);
		ck_assert_int_eq(c.records[KIND_SLICE] > 0, (wants[i] & WANT(SLICE)) > 0);
		ck_assert_int_eq(c.records[KIND_EDGE] > 0, (wants[i] & WANT(EDGE)) > 0);
	}
	trace_close(t);
	vector_free(&w.items);
}
END_TEST

SUITE("timeline", any_range_as_brute_force, chunks_cut_by_their_size,
      late_records_come_in_one_order, begins_behind_a_chunk, damage_is_told_and_passed,
      file_source_merges)
