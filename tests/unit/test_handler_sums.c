// SPDX-License-Identifier: Apache-2.0
/* Test the sums of what served interrupts, and the rows of a timeline that show it. */
#include "analyze/filter.h"
#include "analyze/handler_sums.h"
#include "handler_scene.h"
#include "lanes/lanes.h"
#include "suite.h"

#define MS 1000000ULL

static struct handler_sums *sums_of(uint64_t from, uint64_t to)
{
	struct handler_sums *h = NULL;
	struct error err;

	ck_assert_int_eq(handler_sums_read(&h, handler_scene_source(), from, to, &err), 0);
	return h;
}

START_TEST(of_all)
{
	struct handler_sums *h = sums_of(0, 0);
	const struct handler_row *net = &h->rows.items[0], *timer = &h->rows.items[1];

	ck_assert(!h->ranged);
	ck_assert_uint_eq(h->to - h->from, 100 * MS);
	ck_assert_uint_eq(h->rows.count, 3);
	ck_assert_str_eq(handler_sums_name(h, net), "softirq net_rx");
	ck_assert_uint_eq(net->count, 11);
	ck_assert_uint_eq(net->time, 15200000);
	ck_assert_uint_eq(net->cpus, 1);
	ck_assert_str_eq(handler_sums_name(h, timer), "local timer");
	ck_assert_uint_eq(timer->count, 501);
	ck_assert_uint_eq(timer->time, 6500000);
	ck_assert_uint_eq(timer->longest, 5 * MS);
	ck_assert_uint_eq(timer->without, 2);
	ck_assert_uint_eq(timer->cpus, 2);
	ck_assert_uint_eq(timer->cpu, 0);
	ck_assert_uint_eq(timer->most, 5400000);
	ck_assert_str_eq(handler_sums_name(h, &h->rows.items[2]), HOSTILE_DEVICE);
	handler_sums_free(h);
}
END_TEST

/* Of a part of the recording, spans are added up: the part of each that lies in it. */
START_TEST(of_a_part)
{
	struct handler_sums *h = sums_of(35 * MS, 61 * MS);

	ck_assert(h->ranged);
	ck_assert_uint_eq(h->to - h->from, 26 * MS);
	ck_assert_uint_eq(h->rows.count, 2);
	ck_assert_str_eq(handler_sums_name(h, &h->rows.items[0]), "softirq net_rx");
	ck_assert_uint_eq(h->rows.items[0].count, 1);
	ck_assert_uint_eq(h->rows.items[0].time, 5 * MS);
	ck_assert_uint_eq(h->rows.items[0].longest, 20 * MS);
	ck_assert_str_eq(handler_sums_name(h, &h->rows.items[1]), HOSTILE_DEVICE);
	ck_assert_uint_eq(h->rows.items[1].time, 1 * MS);
	handler_sums_free(h);
	h = sums_of(80 * MS, 90 * MS);
	ck_assert_ptr_null(h);
}
END_TEST

static void read_scene(struct lanes *l)
{
	const struct filter everything = {0};
	struct source *filtered;
	struct error err;

	ck_assert_int_eq(filter_source(&filtered, handler_scene_source(), &everything, &err), 0);
	ck_assert_int_eq(lanes_read(l, filtered, &err), 0);
	l->time = AT(0);
	l->end = AT(100);
	ck_assert_int_eq(lanes_choose_runtimes(l), 0);
	source_free(filtered);
}

static void assert_act(const struct lanes *l, const struct lane_act *a, uint64_t from, uint64_t to,
		       const char *text)
{
	ck_assert_ptr_nonnull(a);
	ck_assert_uint_eq(a->time, AT(from));
	ck_assert_uint_eq(a->end, AT(to));
	ck_assert_str_eq(lanes_act_text(l, a), text);
}

/* An interrupted softirq is in two parts; what is not at a time comes before or after it. */
START_TEST(acts)
{
	struct lanes l = {0};
	const struct lane_act *next;

	read_scene(&l);
	assert_act(&l, lanes_act_at(&l, HANDLER_LANE_0, AT(21), &next), 20, 25, "softirq net_rx");
	assert_act(&l, next, 25, 30, "local timer");
	assert_act(&l, lanes_act_at(&l, HANDLER_LANE_0, AT(25), &next), 25, 30, "local timer");
	assert_act(&l, lanes_act_at(&l, HANDLER_LANE_0, AT(99), &next), 30, 40, "softirq net_rx");
	ck_assert_ptr_null(next);
	ck_assert_ptr_null(lanes_act_at(&l, HANDLER_LANE_1, AT(10), &next));
	assert_act(&l, next, 60, 62, HOSTILE_DEVICE);
	ck_assert_ptr_null(lanes_act_at(&l, HANDLER_THREAD_LANE, AT(10), &next));
	ck_assert_ptr_null(next);
	lanes_free(&l);
}
END_TEST

START_TEST(rows_and_strokes)
{
	struct lanes l = {0};
	struct stroke strokes[10];
	const struct lane_row *row;

	read_scene(&l);
	row = lanes_interrupts_of(&l, 0);
	ck_assert_ptr_nonnull(row);
	ck_assert_uint_eq(row->lane, HANDLER_LANE_0);
	ck_assert_double_eq_tol(row->busy, 0.2, 1e-9);
	ck_assert_uint_eq(lanes_interrupts_of(&l, 1)->lane, HANDLER_LANE_1);
	ck_assert_ptr_null(lanes_interrupts_of(&l, 2));
	ck_assert_int_eq(lanes_runtime_strokes(&l, HANDLER_LANE_0, strokes, 10), 0);
	for (unsigned int i = 0; i < 10; i++)
		ck_assert_uint_eq(strokes[i].level, i == 2 || i == 3 ? STROKE_FULL : 0);
	ck_assert_uint_eq(strokes[2].bar, FILL_INTERRUPT);
	ck_assert_uint_eq(strokes[3].bar, FILL_SOFTIRQ);
	lanes_free(&l);
}
END_TEST

/* More spans than are kept: the shortest are left out, and the least length is known. */
START_TEST(too_many)
{
	struct lanes_entities c = {0};
	uint64_t count = 600000, shortest = UINT64_MAX;

	for (uint64_t i = 0; i < count; i++) {
		const struct lane_act a = {i << 20, (i << 20) + 10000 + i % 64 * 1000,
					   HANDLER_LANE_0, FILL_SOFTIRQ, LANES_NONE};

		ck_assert_int_eq(lanes_add_handled(&c, &a, NAME_NET), 0);
	}
	ck_assert_uint_lt(c.acts.count, 1u << 19);
	ck_assert_uint_gt(c.handled_least, 10000);
	for (size_t i = 0; i < c.acts.count; i++)
		if (c.acts.items[i].end - c.acts.items[i].time < shortest)
			shortest = c.acts.items[i].end - c.acts.items[i].time;
	ck_assert_uint_ge(shortest, c.handled_least);
	vector_free(&c.acts);
}
END_TEST

SUITE("handler_sums", of_all, of_a_part, acts, rows_and_strokes, too_many)
