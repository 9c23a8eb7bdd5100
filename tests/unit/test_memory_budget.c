// SPDX-License-Identifier: Apache-2.0
/* Test the steps of the memory budget (memory_budget.h). */
#include <stdlib.h>

#include "serve/memory_budget.h"
#include "suite.h"

#define MIB (1024ULL * 1024)
#define BUDGET (64 * MIB)
#define S MEMORY_SECOND
#define INTERVAL 10 /* s between two measurements */

struct measured {
	struct memory_budget b;
	uint64_t now; /* ns */
};

static void begin(struct measured *m)
{
	m->now = 1000 * S;
	memory_budget_init(&m->b, BUDGET, 3);
}

static enum memory_step take(struct measured *m, uint64_t mib, uint64_t helper)
{
	const struct memory_measured now = {m->now, mib * MIB, helper * MIB};

	m->now += INTERVAL * S;
	return memory_budget_step(&m->b, &now);
}

START_TEST(within_the_budget_nothing_is_done)
{
	struct measured m;

	begin(&m);
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(take(&m, 56, 50), MEMORY_NOTHING);
	ck_assert_uint_eq(m.b.clamps, 0);
	memory_budget_init(&m.b, 0, 3);
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(take(&m, 10000, 60), MEMORY_NOTHING);
	ck_assert(!m.b.exceeded);
}
END_TEST

START_TEST(steps_come_in_their_order_until_none_is_left)
{
	struct measured m;

	begin(&m);
	ck_assert_int_eq(take(&m, 65, 30), MEMORY_FORGET);
	ck_assert_int_eq(take(&m, 65, 30), MEMORY_REPLACE);
	ck_assert_int_eq(take(&m, 65, 20), MEMORY_REPLACE);
	ck_assert_int_eq(take(&m, 65, 30), MEMORY_SLOWER);
	ck_assert_int_eq(take(&m, 65, 30), MEMORY_SLOWER);
	ck_assert_uint_eq(m.b.slower, 2);
	ck_assert(!m.b.exceeded);
	ck_assert_int_eq(take(&m, 65, 30), MEMORY_NOTHING);
	ck_assert(m.b.exceeded);
	ck_assert_uint_eq(m.b.clamps, 5);
}
END_TEST

/* In the last eighth the rate stays, and the other steps come ever less. */
START_TEST(near_the_budget_the_rate_stays)
{
	struct measured m;
	uint64_t before;

	begin(&m);
	ck_assert_int_eq(take(&m, 57, 30), MEMORY_FORGET);
	ck_assert_int_eq(take(&m, 64, 30), MEMORY_REPLACE);
	ck_assert_int_eq(take(&m, 64, 30), MEMORY_REPLACE);
	ck_assert_int_eq(take(&m, 64, 30), MEMORY_NOTHING);
	ck_assert(!m.b.exceeded);
	for (int i = 0; i < 24 * 3600 / INTERVAL; i++)
		(void)take(&m, 60, 60);
	ck_assert(!m.b.exceeded);
	ck_assert_uint_eq(m.b.slower, 0);
	before = m.b.clamps;
	for (int i = 0; i < 10 * 3600 / INTERVAL; i++)
		(void)take(&m, 60, 60);
	ck_assert_uint_le(m.b.clamps - before, 33);
}
END_TEST

START_TEST(small_helpers_are_not_replaced)
{
	struct measured m;

	begin(&m);
	ck_assert_int_eq(take(&m, 65, 7), MEMORY_FORGET);
	ck_assert_int_eq(take(&m, 65, 7), MEMORY_SLOWER);
	ck_assert_int_eq(take(&m, 65, 30), MEMORY_SLOWER);
	ck_assert_int_eq(take(&m, 65, 30), MEMORY_NOTHING);
}
END_TEST

/* One that is enough is all that is done; much later the first one comes again. */
START_TEST(a_step_that_helps_is_the_last_one)
{
	struct measured m;

	begin(&m);
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(take(&m, 70, 30), MEMORY_FORGET);
		for (int k = 0; k < 10; k++)
			ck_assert_int_eq(take(&m, 46 + k, 30), MEMORY_NOTHING);
	}
	ck_assert_uint_eq(m.b.slower, 0);
}
END_TEST

/* A load that nothing helps against: the steps, which cost CPU time, come ever less. */
START_TEST(what_does_not_help_is_done_ever_less)
{
	struct measured m;
	uint64_t before;

	begin(&m);
	for (int i = 0; i < 24 * 3600 / INTERVAL; i++)
		(void)take(&m, 100, 60);
	ck_assert(m.b.exceeded);
	before = m.b.clamps;
	for (int i = 0; i < 10 * 3600 / INTERVAL; i++)
		(void)take(&m, 100, 60);
	/* three steps a round: the rate is the lowest */
	ck_assert_uint_le(m.b.clamps - before, 33);
	ck_assert_uint_ge(m.b.clamps - before, 24);
}
END_TEST

START_TEST(the_rate_comes_back_after_a_calm_time)
{
	struct measured m;
	unsigned int faster = 0;

	begin(&m);
	for (int i = 0; i < 5; i++)
		(void)take(&m, 65, 30);
	ck_assert_uint_eq(m.b.slower, 2);
	for (int i = 0; i < 600; i++) /* within the budget, and not calm */
		ck_assert_int_eq(take(&m, 55, 30), MEMORY_NOTHING);
	for (int i = 0; i < 14; i++)
		faster += take(&m, 40, 30) == MEMORY_FASTER;
	ck_assert_uint_eq(faster, 2);
	ck_assert_uint_eq(m.b.slower, 0);
	ck_assert_int_eq(take(&m, 40, 30), MEMORY_NOTHING);
}
END_TEST

/* A load that takes too much at the high rate only: its changes become rare. */
START_TEST(a_load_that_alternates_changes_the_rate_ever_less)
{
	struct measured m;
	unsigned int faster = 0;

	begin(&m);
	for (int i = 0; i < 24 * 3600 / INTERVAL; i++)
		(void)take(&m, m.b.slower == 2 ? 30 : 70, 5);
	for (int i = 0; i < 10 * 3600 / INTERVAL; i++)
		faster += take(&m, m.b.slower == 2 ? 30 : 70, 5) == MEMORY_FASTER;
	ck_assert_uint_le(faster, 11);
	ck_assert_uint_ge(faster, 5);
}
END_TEST

START_TEST(an_old_helper_goes_first)
{
	struct memory_helper h[] = {
		{.pid = 1, .bytes = 40 * MIB, .since = 900 * S},
		{.pid = 2, .bytes = 17 * MIB},
		{.pid = 3, .bytes = MIB},
	};
	struct measured m;

	begin(&m);
	ck_assert_ptr_null(memory_budget_choose(&m.b, h, 0, m.now));
	ck_assert_int_eq(memory_budget_choose(&m.b, h, 3, m.now)->pid, 2);
	/* none is old and holds an eighth */
	h[1].since = m.now - MEMORY_YOUNG + 1;
	ck_assert_int_eq(memory_budget_choose(&m.b, h, 3, m.now)->pid, 1);
	/* among old ones the largest, too */
	h[1].since = h[0].since = m.now - MEMORY_YOUNG;
	ck_assert_int_eq(memory_budget_choose(&m.b, h, 3, m.now)->pid, 1);
}
END_TEST

SUITE("memory budget", within_the_budget_nothing_is_done, an_old_helper_goes_first,
      near_the_budget_the_rate_stays, steps_come_in_their_order_until_none_is_left,
      small_helpers_are_not_replaced, a_step_that_helps_is_the_last_one,
      what_does_not_help_is_done_ever_less, the_rate_comes_back_after_a_calm_time,
      a_load_that_alternates_changes_the_rate_ever_less)
