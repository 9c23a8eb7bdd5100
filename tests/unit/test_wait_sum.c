// SPDX-License-Identifier: Apache-2.0
/* Intervals of sums of waits, against tables and against their own promise. */
#include <math.h>

#include "analyze/wait_sum.h"
#include "suite.h"

#define PERIOD 2e6 /* ns */

static void check_near(double found, double expected)
{
	ck_assert_msg(fabs(found - expected) <= 2e-4 * expected + 1e-9, "%g, not %g", found,
		      expected);
}

/* From tables of the chi-square distribution. */
START_TEST(quantiles)
{
	check_near(chi_square_quantile(0.975, 2), 7.37776);
	check_near(chi_square_quantile(0.025, 2), 0.050636);
	check_near(chi_square_quantile(0.975, 10), 20.48318);
	check_near(chi_square_quantile(0.025, 10), 3.24697);
	check_near(chi_square_quantile(0.025, 100), 74.22193);
	check_near(chi_square_quantile(0.975, 100), 129.5612);
	check_near(chi_square_quantile(0.5, 1), 0.454936);
	ck_assert(chi_square_quantile(0.5, 0) == 0);
}
END_TEST

/* With one period, the interval is that of a Poisson number, times the period. (Garwood 1936) */
START_TEST(poisson)
{
	static const struct {
		int count;
		double low, high;
	} known[] = {{0, 0, 3.68888},
		     {1, 0.025318, 5.57164},
		     {10, 4.79539, 18.39036},
		     {100, 81.3639, 121.6272}};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct wait_sum s = {0};
		struct wait_interval in;

		for (int n = 0; n < known[i].count; n++)
			wait_sum_add(&s, 1000, (uint64_t)PERIOD);
		in = wait_sum_interval(&s, PERIOD);
		check_near(in.low / PERIOD, known[i].low);
		check_near(in.high / PERIOD, known[i].high);
	}
}
END_TEST

START_TEST(certain_waits_have_no_width)
{
	struct wait_sum s = {0};
	struct wait_interval in;

	wait_sum_add(&s, 5000000, 5000000);
	wait_sum_add(&s, 7000000, 7000000);
	ck_assert(wait_sum_total(&s) == 12e6);
	in = wait_sum_interval(&s, 0);
	ck_assert(in.low == 12e6 && in.high == 12e6);
}
END_TEST

static uint64_t random_state = 88172645463325252ULL;

static double draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (double)(random_state >> 11) * 0x1p-53;
}

/*
 * 2,000 draws of the same waits, with a period that changes: the interval holds the truth in at
 * least 95 %. Of 2,000 tries, fewer than 1,858 come by chance once in 100,000 if it holds in 95 %;
 * it holds more often, since the draws scatter less than Poisson numbers.
 */
START_TEST(holds_as_often_as_it_says)
{
	enum { TRIES = 2000, WAITS = 3000 };
	static uint64_t lengths[WAITS];
	double truth = 0;
	int held = 0;

	for (int i = 0; i < WAITS; i++) {
		lengths[i] = (uint64_t)(1000 * exp(draw() * 8));
		truth += (double)lengths[i];
	}
	for (int try = 0; try < TRIES; try++) {
		struct wait_sum s = {0};
		struct wait_interval in;

		for (int i = 0; i < WAITS; i++) {
			uint64_t period = (uint64_t)(i < WAITS / 2 ? PERIOD : 4 * PERIOD);
			uint64_t length = lengths[i];

			if (length >= period)
				wait_sum_add(&s, length, length);
			else if (draw() < (double)length / (double)period)
				wait_sum_add(&s, length, period);
		}
		in = wait_sum_interval(&s, 4 * PERIOD);
		held += in.low <= truth && truth <= in.high;
	}
	ck_assert_msg(held >= 1858, "%d of %d", held, TRIES);
}
END_TEST

static void check_parts(const struct wait_sum *s, uint64_t exact, uint64_t without)
{
	struct wait_shares parts = wait_sum_divide(s, PERIOD, exact);
	double sum = (double)s->certain * parts.certain + s->chance * parts.chance;

	ck_assert_uint_eq(parts.without, without);
	check_near(sum + (double)parts.without, (double)exact);
}

/* Chance is evened out; what it does not explain has no stack; certain waits keep their time. */
START_TEST(parts_add_up)
{
	struct wait_sum s = {0}, none = {0}, certain = {0};

	for (int n = 0; n < 100; n++)
		wait_sum_add(&s, 1000, (uint64_t)PERIOD);
	wait_sum_add(&s, 50000000, 50000000);
	check_parts(&s, 250000000, 0);
	check_parts(&s, 280000000, 0);
	check_parts(&s, 220000000, 0);
	check_parts(&s, 400000000, 150000000);
	ck_assert(wait_sum_divide(&s, PERIOD, 280000000).certain == 1);
	ck_assert(wait_sum_divide(&s, PERIOD, 400000000).chance == 1);
	check_parts(&s, 40000000, 0); /* less than the certain waits alone */
	check_parts(&s, 0, 0);
	check_parts(&none, 1000, 1000);
	check_parts(&none, 0, 0);
	/* no stack stands for short waits if none was chosen by chance */
	wait_sum_add(&certain, 5000000, 5000000);
	check_parts(&certain, 5001000, 1000);
	check_parts(&certain, 5000000, 0);
}
END_TEST

SUITE("wait_sum", quantiles, poisson, certain_waits_have_no_width, holds_as_often_as_it_says,
      parts_add_up)
