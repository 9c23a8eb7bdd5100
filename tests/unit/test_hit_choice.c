// SPDX-License-Identifier: Apache-2.0
/* The choice of hits of probes (bpf/hit_choice.h): few are all taken, and storms are bounded. */
#include "bpf/unwind/state.h" /* kernel types for user space */

#include <stdlib.h>

#include "bpf/hit_choice.h"
#include "suite.h"

#define START 5000000000ULL /* ns */

static struct wire_hit_stacks s;
static uint64_t taken, weight;

static void begin(void)
{
	s = (struct wire_hit_stacks){0};
	taken = weight = 0;
	srandom(1);
}

/* Let so many hits come at equal distances in a window, whose number is given. */
static void hit(unsigned int count, unsigned int window)
{
	for (unsigned int i = 0; i < count; i++) {
		uint64_t now =
			START + (uint64_t)HIT_WINDOW * window + (uint64_t)HIT_WINDOW * i / count;
		uint32_t random32 = (uint32_t)random() << 8 ^ (uint32_t)random();
		uint32_t one = choose_hit(&s, now, random32);

		taken += one != 0;
		weight += one;
	}
}

START_TEST(few_are_all_taken)
{
	begin();
	for (unsigned int window = 0; window < 100; window++)
		hit(HIT_BUDGET, window);
	ck_assert_uint_eq(taken, 100 * HIT_BUDGET);
	ck_assert_uint_eq(weight, taken);
}
END_TEST

/* In the first window, each halving takes the budget once. */
START_TEST(a_storm_costs_the_budget_for_each_halving)
{
	begin();
	hit(1 << 20, 0);
	ck_assert_uint_ge(taken, 12 * HIT_BUDGET);
	ck_assert_uint_le(taken, 14 * HIT_BUDGET);
}
END_TEST

START_TEST(a_lasting_storm_meets_the_budget)
{
	begin();
	hit(1 << 18, 0);
	taken = 0;
	for (unsigned int window = 1; window <= 50; window++)
		hit(1 << 18, window);
	/* at most a half more: by chance the budget is used up before the window ends */
	ck_assert_uint_le(taken, 50 * HIT_BUDGET * 3 / 2);
	ck_assert_uint_ge(taken, 50 * HIT_BUDGET / 2);
}
END_TEST

START_TEST(after_a_storm_all_are_taken_again)
{
	begin();
	hit(1 << 20, 0);
	hit(100, 1); /* with the probability of the storm */
	taken = 0;
	hit(100, 2);
	ck_assert_uint_eq(taken, 100);
	hit(1 << 20, 3);
	taken = 0;
	hit(100, 9); /* windows without a hit */
	ck_assert_uint_eq(taken, 100);
}
END_TEST

/* The mean of 400 estimates of 10,000 hits is off by less than five standard errors. */
START_TEST(weights_estimate_the_number_without_bias)
{
	const double hits = 10000;
	double sum = 0, squares = 0, error;

	begin();
	for (unsigned int i = 0; i < 400; i++) {
		weight = 0;
		s = (struct wire_hit_stacks){0};
		hit((unsigned int)hits, 0);
		sum += (double)weight - hits;
		squares += ((double)weight - hits) * ((double)weight - hits);
	}
	error = squares / 400 / 400;
	ck_assert(sum / 400 * (sum / 400) < 25 * error);
	/* and one estimate is off by less than a tenth of them, as a rule */
	ck_assert(squares / 400 < 1000.0 * 1000.0);
}
END_TEST

/* A thread that was preempted may come with a time before the window. */
START_TEST(an_early_time_begins_no_window)
{
	begin();
	hit(HIT_BUDGET / 2, 1);
	ck_assert_uint_eq(choose_hit(&s, START, 0), 1);
	ck_assert_uint_eq(s.window, START + HIT_WINDOW);
	ck_assert_uint_eq(s.hits, HIT_BUDGET / 2 + 1);
}
END_TEST

SUITE("hit choice", few_are_all_taken, a_storm_costs_the_budget_for_each_halving,
      a_lasting_storm_meets_the_budget, after_a_storm_all_are_taken_again,
      weights_estimate_the_number_without_bias, an_early_time_begins_no_window)
