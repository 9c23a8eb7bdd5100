// SPDX-License-Identifier: Apache-2.0
/* cell_runs.h: cells come back as they were added, for any number of equal ones. */
#include <stdlib.h>

#include "suite.h"
#include "trace/cell_runs.h"

#define ADDED 300
#define RUNS_OF_ANY_COUNT 6

struct added {
	uint64_t first, count;
	struct cell cell;
};

/* Return a few cells mostly, and now and then as many as a damaged trace may have. */
static uint64_t some_count(void)
{
	uint64_t count = (uint64_t)(random() % 5) + 1;

	return random() % 4 ? count : ((uint64_t)random() << 20) >> random() % 48 | count;
}

static uint64_t fill(struct cell_runs *s, struct added *all)
{
	uint64_t at = 1000;

	for (size_t i = 0; i < ADDED; i++) {
		struct added *a = &all[i];

		at += random() % 3 ? 0 : some_count();
		*a = (struct added){at, some_count(), {.activity = 127, .state = STATE_RUNNING}};
		a->cell.thread = (uint64_t)random() % 2;
		ck_assert_int_eq(cell_runs_add(s, a->first, a->count, &a->cell), 0);
		at += a->count;
		ck_assert_uint_eq(s->end, at);
	}
	return at;
}

/* Check that [from, to) of a cell_runs has the cells added there, in the same order. */
static void check(const struct cell_runs *s, const struct added *all, uint64_t from, uint64_t to)
{
	struct cell_run_list got = {0};
	size_t next = 0;
	uint64_t at = 0;

	ck_assert_int_eq(cell_runs_copy(s, from, to, &got), 0);
	for (size_t i = 0; i < ADDED; i++) {
		uint64_t first = all[i].first > from ? all[i].first : from;
		uint64_t end = all[i].first + all[i].count;

		for (end = end < to ? end : to; first < end; first = from + at) {
			const struct cell_run *r = &got.items[next];

			ck_assert_uint_lt(next, got.count);
			at = at > r->first ? at : r->first;
			ck_assert_uint_eq(from + at, first);
			ck_assert_uint_eq(r->cell.thread, all[i].cell.thread);
			ck_assert_uint_eq(r->cell.state, all[i].cell.state);
			at = r->first + r->count < end - from ? r->first + r->count : end - from;
			next += at == r->first + r->count;
		}
	}
	ck_assert_uint_eq(next, got.count);
	vector_free(&got);
}

START_TEST(as_they_were_added)
{
	struct added all[ADDED];

	for (unsigned int seed = 0; seed < 200; seed++) {
		struct cell_runs s = {0};
		uint64_t end, from, to;

		srandom(seed);
		end = fill(&s, all);
		check(&s, all, 0, end);
		for (int i = 0; i < 20; i++) {
			from = all[random() % ADDED].first + (uint64_t)random() % 8;
			to = from + some_count();
			check(&s, all, from, to);
		}
		from = all[random() % ADDED].first;
		cell_runs_drop(&s, from);
		check(&s, all, from, end);
		cell_runs_free(&s);
	}
}
END_TEST

/* A single damaged time must not cost gigabytes of memory. */
START_TEST(centuries)
{
	const struct cell cell = {.activity = 1, .state = STATE_SLEEPING};
	struct cell_runs s = {0};

	ck_assert_int_eq(cell_runs_add(&s, 7, UINT64_MAX - 7, &cell), 0);
	ck_assert_uint_le(s.count, RUNS_OF_ANY_COUNT);
	ck_assert_uint_eq(s.end, UINT64_MAX);
	cell_runs_free(&s);
}
END_TEST

/* Cells added one by one make nearly as few runs as cells added at once. */
START_TEST(one_by_one)
{
	const struct cell cell = {.activity = 1, .state = STATE_SLEEPING};
	struct cell_runs s = {0};

	for (uint64_t i = 0; i < 1000000; i++)
		ck_assert_int_eq(cell_runs_add(&s, i, 1, &cell), 0);
	ck_assert_uint_eq(s.end, 1000000);
	ck_assert_uint_le(s.count, 1000000 / 4096 + 1);
	cell_runs_free(&s);
}
END_TEST

SUITE("strip", as_they_were_added, centuries, one_by_one)
