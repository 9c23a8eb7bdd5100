// SPDX-License-Identifier: Apache-2.0
/* The period T of stacks of waits follows what they cost, but not a single burst. */
#include "capture/wait_period.h"
#include "suite.h"

#define LEAST (2 * NSEC_PER_MSEC)
#define BUDGET (WAIT_ADAPT_INTERVAL / WAIT_BUDGET_PART) /* ns in an interval */

static struct wait_period period;
static struct wait_budget budgets[2];

static void begin(uint64_t least)
{
	wait_period_init(&period, least);
	for (int cpu = 0; cpu < 2; cpu++)
		wait_budget_init(&budgets[cpu]);
}

/* Let an interval pass in which the two CPUs spend these times, ns. Return T. */
static uint64_t spend(uint64_t first, uint64_t second)
{
	struct wait_verdict v = {0};

	wait_budget_judge(&budgets[0], budgets[0].spent + first, WAIT_ADAPT_INTERVAL, &v);
	wait_budget_judge(&budgets[1], budgets[1].spent + second, WAIT_ADAPT_INTERVAL, &v);
	wait_period_apply(&period, &v);
	return period.list[period.now];
}

START_TEST(periods_grow_by_the_root_of_two)
{
	begin(LEAST);
	ck_assert_uint_eq(period.list[0], LEAST);
	ck_assert_uint_eq(period.list[2], 2 * LEAST);
	ck_assert_uint_eq(period.list[1], 2828427);
	ck_assert_uint_le(period.list[period.count - 1], 4 * NSEC_PER_SEC);
	ck_assert_uint_gt(period.list[period.count - 1], 2 * NSEC_PER_SEC);
}
END_TEST

START_TEST(a_burst_changes_nothing)
{
	begin(LEAST);
	ck_assert_uint_eq(spend(9 * BUDGET, 0), LEAST);
	for (int i = 0; i < 10; i++)
		ck_assert_uint_eq(spend(0, 0), LEAST);
	ck_assert_uint_eq(spend(9 * BUDGET, 9 * BUDGET), LEAST);
}
END_TEST

/* A load of which stacks cost eight times the budget at the least T, and less as T grows. */
START_TEST(a_steady_load_meets_the_budget)
{
	uint64_t t = LEAST, all = 0;

	begin(LEAST);
	for (int i = 0; i < 100; i++) {
		uint64_t cost = 8 * BUDGET * LEAST / t;

		all += cost;
		t = spend(BUDGET / 4, cost);
	}
	ck_assert_uint_ge(t, 8 * LEAST * 7 / 10);
	ck_assert_uint_le(t, 16 * LEAST);
	/* with the second that was saved at first */
	ck_assert_uint_le(all, 100 * BUDGET + 10 * BUDGET + 10 * BUDGET);
	for (int i = 0; i < 20; i++)
		t = spend(0, 0);
	ck_assert_uint_eq(t, LEAST);
	ck_assert_uint_ge(period.list[period.most], 8 * LEAST * 7 / 10);
}
END_TEST

START_TEST(all_stacks_are_all_stacks)
{
	begin(0);
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(spend(100 * BUDGET, 100 * BUDGET), 0);
}
END_TEST

SUITE("wait_period", periods_grow_by_the_root_of_two, a_burst_changes_nothing,
      a_steady_load_meets_the_budget, all_stacks_are_all_stacks)
