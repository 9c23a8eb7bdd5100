// SPDX-License-Identifier: Apache-2.0
/* Test the counters of a timeline: every column has the values that held in it, and no others. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/filter.h"
#include "capture/jvm_counters.h"
#include "counters_scene.h"
#include "reference.h"
#include "suite.h"
#include "symbolizers/hotspot_perf.h"
#include "view/timeline.h"

#define COLUMNS 640
#define LENGTH (CS_AT(1000) - CS_START)

struct made {
	struct reference reference;
	struct lanes_windows windows;
	struct source *source;
	struct lanes lanes;
};

static void make(struct made *m, const struct lanes_limits *limits)
{
	static const struct filter all = {0};
	struct error err = {""};

	*m = (struct made){0};
	m->windows = (struct lanes_windows){reference_window, reference_free, &m->reference, NULL};
	m->lanes = (struct lanes){.windows = &m->windows, .time = CS_START, .end = CS_AT(1000)};
	ck_assert_int_eq(filter_source(&m->source, counters_scene_source(), &all, &err), 0);
	ck_assert_int_eq(lanes_read(&m->lanes, m->source, &err), 0);
	ck_assert_int_eq(lanes_choose(&m->lanes, limits, &err), 0);
	ck_assert_int_eq(lanes_join_all(&m->lanes, &err), 0);
}

static void drop(struct made *m)
{
	lanes_free(&m->lanes);
	source_free(m->source);
}

static size_t counter_named(const struct lanes *l, const char *name)
{
	const struct lanes_counters *c = &l->entities.counters;

	for (size_t i = 0; i < c->list.count; i++)
		if (!strcmp(c->list.items[i].name, name))
			return i;
	ck_abort_msg("there is no %s", name);
}

/* Values of one gauge by time, in the order of the recording. */
struct gauge {
	const struct counter *list[CS_CHANGES + 8];
	size_t count;
};

static int by_time(const void *a, const void *b)
{
	const struct counter *x = *(const struct counter *const *)a;
	const struct counter *y = *(const struct counter *const *)b;

	return x->time != y->time ? (x->time < y->time ? -1 : 1) : (x > y) - (x < y);
}

static struct gauge gauge_of(uint64_t name)
{
	const struct cs_values *v = cs_values();
	struct gauge g = {0};

	for (size_t i = 0; i < v->count; i++)
		if (v->list[i].name == name)
			g.list[g.count++] = &v->list[i];
	qsort(g.list, g.count, sizeof(*g.list), by_time);
	return g;
}

/* The least and the largest value that held between two times, found in the simplest way. */
static void check_column(const struct gauge *g, uint64_t begin, uint64_t end, uint64_t ended,
			 const struct counter_column *c)
{
	double least = NAN, most = NAN;

	for (size_t i = 0; i < g->count; i++) {
		const struct counter *now = g->list[i];
		uint64_t until = i + 1 < g->count ? g->list[i + 1]->time : ended;
		double value = (double)now->value;
		bool inside = now->time >= begin && now->time < end;
		bool lost = now->time < CS_LOST_FROM && until > CS_LOST_FROM;

		lost = lost ||
		       (now->time < CS_LOST_TO && now->time >= CS_LOST_FROM && until > CS_LOST_TO);
		/* it holds until values are lost */
		until = !lost ? until : now->time < CS_LOST_FROM ? CS_LOST_FROM : CS_LOST_TO;
		if (!inside && !(now->time < begin && until > begin))
			continue;
		least = !(least <= value) ? value : least;
		most = !(most >= value) ? value : most;
	}
	ck_assert_msg(least == c->least || (isnan(least) && isnan(c->least)), "%f %f", least,
		      c->least);
	ck_assert_msg(most == c->most || (isnan(most) && isnan(c->most)), "%f %f", most, c->most);
}

/* Whatever the zoom, the columns have exactly the least and the largest of their values. */
START_TEST(columns_have_their_extremes)
{
	static const struct {
		uint64_t name, ended;
		const char *shown;
	} gauges[] = {
		{CS_HEAP, CS_AT(1000), "heap used"},
		{CS_PRESSURE, CS_AT(1000), "CPU 0: pressure"},
		{CS_LIVE, CS_SHORT_END, "short 200: threads live"},
	};
	static struct counter_column columns[COLUMNS];
	struct made m;
	uint64_t seed = 5;

	make(&m, &(struct lanes_limits){.everything = true});
	for (int turn = 0; turn < 300; turn++) {
		const size_t which = synthetic_random(&seed) % 3;
		size_t counter = counter_named(&m.lanes, gauges[which].shown);
		struct gauge g = gauge_of(gauges[which].name);
		uint64_t length = 1 + (LENGTH >> synthetic_random(&seed) % 30);
		uint64_t from = CS_START + synthetic_random(&seed) % (LENGTH - length + 2);
		struct counter_range r = {from, from + length,
					  1 + (unsigned int)(synthetic_random(&seed) % COLUMNS)};

		/* a third of them around the value that held for 1 ns */
		if (turn % 3 == 0 && CS_SPIKE - length / 2 > CS_START)
			r.time = CS_SPIKE - length / 2;
		r.end = r.time + length;
		lanes_counter_columns(&m.lanes.entities.counters, counter, &r, columns);
		for (unsigned int i = 0; i < r.count; i++) {
			uint64_t begin = r.time + length * i / r.count;
			uint64_t end = r.time + length * (i + 1) / r.count;

			check_column(&g, begin, end > begin ? end : begin + 1, gauges[which].ended,
				     &columns[i]);
		}
	}
	drop(&m);
}
END_TEST

/* A value that held for a nanosecond is the largest of its column at every zoom. */
START_TEST(a_spike_is_never_lost)
{
	static struct counter_column columns[COLUMNS];
	struct made m;
	size_t heap;

	make(&m, &(struct lanes_limits){.everything = true});
	heap = counter_named(&m.lanes, "heap used");
	for (uint64_t length = LENGTH; length; length /= 2) {
		struct counter_range r = {CS_SPIKE - length / 3, CS_SPIKE - length / 3 + length,
					  COLUMNS};
		unsigned int seen = 0;

		lanes_counter_columns(&m.lanes.entities.counters, heap, &r, columns);
		for (unsigned int i = 0; i < COLUMNS; i++)
			seen += columns[i].most == (double)CS_SPIKE_HEIGHT;
		ck_assert_uint_ge(seen, 1);
		/* closer than a ns to a column, all of those that show it */
		ck_assert_uint_le(seen, length < COLUMNS ? COLUMNS / length + 1 : 1);
	}
	drop(&m);
}
END_TEST

/* Nothing is known before the first value and behind the end of a process; a loss is not a value.
 */
START_TEST(what_is_not_known_is_not_drawn)
{
	struct counter_column c;
	struct made m;
	struct lanes_counters *all;
	size_t live, heap;

	make(&m, &(struct lanes_limits){.everything = true});
	all = &m.lanes.entities.counters;
	live = counter_named(&m.lanes, "short 200: threads live");
	heap = counter_named(&m.lanes, "heap capacity");
	lanes_counter_columns(all, live, &(struct counter_range){CS_START, CS_AT(20), 1}, &c);
	ck_assert(isnan(c.least) && isnan(c.most) && isnan(c.last) && !c.lost);
	lanes_counter_columns(all, live, &(struct counter_range){CS_AT(601), CS_AT(700), 1}, &c);
	ck_assert(isnan(c.least) && isnan(c.last) && !c.lost);
	/* the only value is from before the loss, so it may have changed */
	lanes_counter_columns(all, heap, &(struct counter_range){CS_AT(2), CS_AT(399), 1}, &c);
	ck_assert(c.least == 512 << 20 && c.last == c.least && !c.lost);
	lanes_counter_columns(all, heap, &(struct counter_range){CS_AT(500), CS_AT(600), 1}, &c);
	ck_assert(isnan(c.least) && c.last == COUNTER_LOST && c.lost);
	drop(&m);
}
END_TEST

/* Of a total, the rate until the next value; not known where it fell; 0 after the last one. */
START_TEST(totals_are_rates)
{
	const struct quantity *share = quantity_of_name("time in safepoints");
	const struct quantity *rate = quantity_of_name("number of collections");
	struct counter_column columns[1];
	struct made m;
	size_t fell;

	ck_assert(quantity_rate(share, 250000000, 1000000000) == 0.25);
	ck_assert(quantity_rate(rate, 3, 2000000000) == 1.5);
	make(&m, &(struct lanes_limits){.everything = true});
	fell = counter_named(&m.lanes, "number of <collections>");
	lanes_counter_columns(&m.lanes.entities.counters, fell,
			      &(struct counter_range){CS_START, CS_AT(1000), 1}, columns);
	ck_assert(columns[0].lost && columns[0].least >= 0);
	lanes_counter_columns(&m.lanes.entities.counters,
			      counter_named(&m.lanes, "time in safepoints"),
			      &(struct counter_range){CS_AT(995), CS_AT(1000), 1}, columns);
	ck_assert(columns[0].least == 0 && columns[0].most == 0);
	drop(&m);
}
END_TEST

/* The terminal has those that changed and the heap, as many as the limit says; the page has all. */
START_TEST(rows)
{
	struct made m;
	const struct lanes_counters *c = &m.lanes.entities.counters;

	make(&m, &(struct lanes_limits){.everything = true});
	ck_assert_uint_eq(c->rows.count, 6);
	ck_assert_str_eq(c->list.items[c->rows.items[0].counter].name, "heap used");
	drop(&m);
	make(&m, &(struct lanes_limits){.counters = 0});
	ck_assert_uint_eq(c->rows.count, 6);
	drop(&m);
	make(&m, &(struct lanes_limits){.counters = 10});
	ck_assert_uint_eq(c->rows.count, 5); /* one did not change */
	ck_assert_uint_eq(c->total, 6);
	drop(&m);
	make(&m, &(struct lanes_limits){.counters = 1});
	ck_assert_uint_eq(c->rows.count, 3); /* of two processes and of none */
	drop(&m);
}
END_TEST

/* Names that JVMs report, and whether they are totals. */
START_TEST(quantities_of_jvms)
{
	for (unsigned int i = 0; i < HOTSPOT_COUNTER_COUNT; i++) {
		const char *name = hotspot_counter_quantity(i);
		bool gauge = i == HOTSPOT_COUNTER_THREADS_LIVE || i == HOTSPOT_COUNTER_THREADS_PEAK;

		if (*name)
			ck_assert_msg(quantity_of_name(name)->total == !gauge, "%s", name);
	}
	ck_assert_str_eq(quantity_of_name("heap old used")->unit, "bytes");
	ck_assert_str_eq(quantity_of_name("time in G1")->drawn, "share");
	ck_assert_str_eq(quantity_of_name("anything")->drawn, "");
}
END_TEST

START_TEST(values_as_text)
{
	static const struct {
		const char *unit, *text;
		double value;
	} values[] = {
		{"bytes", "512 MiB", 512 << 20},
		{"bytes", "1.12 MiB", 1.125 * (1 << 20)},
		{"bytes", "-3 B", -3},
		{"share", "3.25 %", 0.0325},
		{"share", "<0.01 %", 1e-6},
		{"share", "0 %", 0},
		{"/s", "12.5/s", 12.5},
		{"/s", "1,234/s", 1234.4},
		{"", "1,234", 1234},
		{"", "-1", -1},
		{"", "not known", NAN},
		{"/s", "very large", INFINITY},
	};
	char buf[QUANTITY_SIZE];

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		ck_assert_str_eq(quantity_show(values[i].unit, values[i].value, buf),
				 values[i].text);
}
END_TEST

SUITE("lane_counters", columns_have_their_extremes, a_spike_is_never_lost,
      what_is_not_known_is_not_drawn, totals_are_rates, rows, quantities_of_jvms, values_as_text)
