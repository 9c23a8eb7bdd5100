// SPDX-License-Identifier: Apache-2.0
/*
 * The parts of the scheduler's sums: histograms, series and overlaps, compared with slow
 * implementations.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyze/histogram.h"
#include "analyze/overlap.h"
#include "analyze/series.h"
#include "suite.h"

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Return a random length of any magnitude. */
static uint64_t any_length(void)
{
	uint64_t bits =
		((uint64_t)random() << 33) ^ ((uint64_t)random() << 11) ^ (uint64_t)random();

	return bits >> (random() % 64);
}

START_TEST(quantiles_are_close)
{
	static uint64_t values[5000];
	const double quantiles[] = {1, 10, 50, 90, 99, 99.9, 100};
	struct histogram h = {0};
	size_t count = sizeof(values) / sizeof(values[0]);

	srandom(1);
	for (size_t i = 0; i < count; i++) {
		values[i] = any_length();
		ck_assert_int_eq(histogram_add(&h, values[i]), 0);
	}
	qsort(values, count, sizeof(values[0]), compare);
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		double exact =
			(double)values[(size_t)(quantiles[i] / 100 * (double)count + 0.999) - 1];
		double found = (double)histogram_quantile(&h, quantiles[i]);

		ck_assert_double_le(found, exact * (1 + 1.0 / 32));
		ck_assert_double_ge(found, exact * (1 - 1.0 / 32));
	}
	ck_assert_uint_eq(h.max, values[count - 1]);
	ck_assert_uint_eq(h.count, count);
	histogram_free(&h);
}
END_TEST

START_TEST(small_and_empty_histograms)
{
	struct histogram h = {0}, other = {0};

	ck_assert_uint_eq(histogram_quantile(&h, 50), 0);
	for (uint64_t value = 0; value < 16; value++)
		histogram_add(&h, value);
	for (uint64_t value = 0; value < 16; value++)
		ck_assert_uint_eq(histogram_quantile(&h, (double)(value + 1) * 100 / 16), value);
	histogram_add(&other, UINT64_MAX);
	histogram_add(&other, UINT64_MAX);
	ck_assert_int_eq(histogram_merge(&h, &other), 0);
	ck_assert_uint_eq(h.count, 18);
	ck_assert_uint_eq(h.max, UINT64_MAX);
	ck_assert_uint_eq(h.sum, UINT64_MAX);
	ck_assert_uint_eq(histogram_quantile(&h, 50), 8);
	histogram_free(&h);
	histogram_free(&other);
}
END_TEST

static void check_series(uint64_t from, uint64_t to, uint64_t last)
{
	struct series *s = malloc(sizeof(*s));
	uint64_t total = 0;

	series_init(s, from, to);
	series_add(s, 0, from);
	ck_assert_double_eq(series_sum(s, 0, last), 0);
	for (uint64_t at = from; at < last;) {
		uint64_t end = at + 1 + (uint64_t)random() % (1 + last / 50);

		end = end < last ? end : last;
		series_add(s, at, end);
		total += end - at;
		at = end + (uint64_t)random() % (1 + last / 50);
	}
	ck_assert_double_eq_tol(series_sum(s, 0, last), (double)total, 1);
	ck_assert_double_eq_tol(series_sum(s, from, from + (last - from) / 3) +
					series_sum(s, from + (last - from) / 3, last),
				(double)total, 1);
	free(s);
}

START_TEST(series_keep_their_sums)
{
	srandom(2);
	check_series(0, 0, 1000);
	check_series(1000000, 0, 50000000000);
	check_series(1000000, 1000700, 1000700);
	check_series(7, 123456789, 123456789);
	check_series(7, 1234, 99999999); /* longer than announced */
}
END_TEST

START_TEST(series_know_when)
{
	struct series *s = malloc(sizeof(*s));

	series_init(s, 100, 100 + SERIES_BUCKETS * 10);
	series_add(s, 100, 110);
	series_add(s, 135, 140);
	ck_assert_double_eq(series_sum(s, 100, 110), 10);
	ck_assert_double_eq(series_sum(s, 110, 130), 0);
	ck_assert_double_eq(series_sum(s, 130, 140), 5);
	/* within a bucket the distribution is unknown */
	ck_assert_double_eq(series_sum(s, 130, 135), 2.5);
	series_add(s, 0, UINT64_MAX);
	ck_assert_double_gt(series_sum(s, 0, UINT64_MAX), 1.8e19);
	free(s);
}
END_TEST

#define CPUS 5
#define LENGTH 4000

/* Random slices of CPUs in the order of their ends; some of them belong to one process ("mine"). */
struct reported {
	uint64_t time, end;
	uint32_t cpu;
	bool runs, mine;
};

static int by_end(const void *a, const void *b)
{
	const struct reported *x = a, *y = b;

	return (x->end > y->end) - (x->end < y->end);
}

static size_t make_slices(struct reported *list)
{
	size_t count = 0;

	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		for (uint64_t at = 0; at < LENGTH;) {
			uint64_t most = random() % 10 ? 20 : 1500;
			uint64_t end = at + 1 + (uint64_t)random() % most;
			bool runs = random() % 3;

			end = end < LENGTH ? end : LENGTH;
			list[count++] = (struct reported){at, end, cpu, runs, runs && random() % 2};
			at = end;
		}
	qsort(list, count, sizeof(*list), by_end);
	return count;
}

static void check_overlap(const struct overlap *o, const struct reported *list, size_t count,
			  bool mine)
{
	uint64_t want[CPUS + 1] = {0};

	for (uint64_t at = 0; at < LENGTH; at++) {
		unsigned int running = 0;

		for (size_t i = 0; i < count; i++)
			running += (mine ? list[i].mine : list[i].runs) && list[i].time <= at &&
				   at < list[i].end;
		want[running]++;
	}
	for (size_t k = 1; k <= CPUS; k++)
		ck_assert_uint_eq(k < o->done.count ? o->done.items[k] : 0, want[k]);
}

static uint64_t border_of(const struct borders *b, uint32_t cpu)
{
	for (size_t i = 0; i < b->list.count; i++)
		if (b->list.items[i].cpu == cpu)
			return b->list.items[i].time;
	ck_abort_msg("CPU %u has no border", cpu);
}

START_TEST(overlaps_are_exact)
{
	static struct reported list[CPUS * LENGTH];

	for (unsigned int seed = 0; seed < 20; seed++) {
		struct overlap all = {0}, mine = {0};
		struct borders borders = {0};
		size_t count;

		srandom(seed);
		count = make_slices(list);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			ck_assert_int_eq(borders_move(&borders, cpu, 0), 0);
		for (size_t i = 0; i < count; i++) {
			const struct reported *t = &list[i];

			ck_assert_uint_eq(border_of(&borders, t->cpu), t->time);
			if (t->runs)
				ck_assert_int_eq(overlap_add(&all, &borders, t->time, t->end), 0);
			if (t->mine)
				ck_assert_int_eq(overlap_add(&mine, &borders, t->time, t->end), 0);
			ck_assert_int_eq(borders_move(&borders, t->cpu, t->end), 0);
			/* at most a cell for each border and number, before and after a fold */
			ck_assert_uint_le(all.cells.count, 4 * CPUS * CPUS + 16);
		}
		ck_assert_int_eq(overlap_finish(&all), 0);
		ck_assert_int_eq(overlap_finish(&mine), 0);
		check_overlap(&all, list, count, false);
		check_overlap(&mine, list, count, true);
		overlap_free(&all);
		overlap_free(&mine);
		borders_free(&borders);
	}
}
END_TEST

/* The first slice of a CPU begins after the beginning of the range. */
START_TEST(overlaps_begin_late)
{
	struct borders borders = {0};
	struct overlap o = {0};

	borders_move(&borders, 0, 0);
	borders_move(&borders, 1, 0);
	borders_move(&borders, 1, 50);
	ck_assert_int_eq(overlap_add(&o, &borders, 50, 80), 0);
	borders_move(&borders, 1, 80);
	ck_assert_int_eq(overlap_add(&o, &borders, 0, 100), 0);
	ck_assert_int_eq(overlap_finish(&o), 0);
	ck_assert_uint_eq(o.done.items[1], 70);
	ck_assert_uint_eq(o.done.items[2], 30);
	overlap_free(&o);
	borders_free(&borders);
}
END_TEST

START_TEST(overlaps_refuse_disorder)
{
	struct borders borders = {0};
	struct overlap o = {0};

	borders_move(&borders, 7, 100);
	borders_move(&borders, 9, 100);
	ck_assert_int_eq(overlap_add(&o, &borders, 100, 200), 0);
	ck_assert_int_eq(overlap_add(&o, &borders, 100, 150), -EINVAL);
	ck_assert_int_eq(overlap_finish(&o), 0);
	ck_assert_uint_eq(o.done.items[1], 100);
	overlap_free(&o);
	borders_free(&borders);
}
END_TEST

SUITE("sched_parts", quantiles_are_close, small_and_empty_histograms, series_keep_their_sums,
      series_know_when, overlaps_are_exact, overlaps_begin_late, overlaps_refuse_disorder)
