// SPDX-License-Identifier: Apache-2.0
/*
 * Test diff_test.c: known results, properties of all counts, and the rate of errors over many pairs
 * of made-up recordings (with fixed seeds, so that the errors are the same in every run).
 */
#include <math.h>
#include <stdlib.h>

#include "analyze/diff_test.h"
#include "suite.h"
#include "synthetic.h"

#define FUNCTIONS 150
#define PAIRS 400

static const struct diff_noise only_sampling = {1, 0, 0, 0, 0};

static struct diff_change compare(uint64_t before, double of, uint64_t after, double others,
				  bool shares)
{
	struct diff_count counts[] = {{before, of, false, 0, 0}, {after, others, true, 0, 0}};

	return diff_change_of(counts, 2, shares, &only_sampling);
}

static void check_near(double is, double should, double off)
{
	ck_assert_msg(fabs(is - should) <= off, "%.12g is not %.12g", is, should);
}

/* Fisher's tea tasting: 3 of 4 against 1 of 4 has a tail of 17/70. */
START_TEST(known_chances)
{
	check_near(compare(1, 4, 3, 4, true).p, 2 * 17.0 / 70, 1e-12);
	check_near(compare(0, 10, 10, 10, true).p, 2.0 / 184756, 1e-15);
	/* only heads */
	check_near(compare(0, 1, 10, 1, false).p, 2.0 / 1024, 1e-12);
	/*
	 * All of 5 in a third of the time; then 2 or more of 5, which is the more likely outcome.
	 */
	check_near(compare(0, 2, 5, 1, false).p, 2.0 / 243, 1e-12);
	check_near(compare(3, 2, 2, 1, false).p, 1, 0);
	check_near(compare(2, 2, 3, 1, false).p, 2 * (40.0 + 10 + 1) / 243, 1e-12);
	check_near(compare(7, 100, 7, 100, true).p, 1, 0);
}
END_TEST

/* Newcombe 1998, table II, method 10. */
START_TEST(known_intervals)
{
	struct diff_change c = compare(48, 80, 56, 70, true);

	check_near(c.change, 0.2, 1e-12);
	check_near(c.low, 0.0524, 5e-5);
	check_near(c.high, 0.3339, 5e-5);
	c = compare(3, 10, 9, 10, true);
	check_near(c.low, 0.1705, 5e-5);
	check_near(c.high, 0.8090, 5e-5);
	c = compare(0, 10, 10, 10, true);
	check_near(c.low, 0.6075, 5e-5);
	check_near(c.high, 1, 1e-12);
}
END_TEST

/*
 * From any table of Student's t: the spread within the runs is such that a change of 20 standard
 * deviations is one of t. The interval at 95 % then ends at 0.
 */
START_TEST(known_bounds_of_t)
{
	static const struct {
		unsigned int freedom;
		double chance, t;
	} known[] = {{1, 0.05, 12.706}, {2, 0.05, 4.303},  {3, 0.05, 3.182},
		     {4, 0.05, 2.776},	{5, 0.05, 2.571},  {5, 0.01, 4.032},
		     {10, 0.05, 2.228}, {30, 0.05, 2.042}, {30, 0.01, 2.750}};
	const uint64_t before = 4000000000000, more = 20 * sqrt(2 * before);
	const struct diff_count counts[] = {{before, 1, false, 0, 0},
					    {before + more, 1, true, 0, 0}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		double t = known[i].t;
		struct diff_noise noise = {1, 0, 0, 20 * 20 / t / t, known[i].freedom};
		struct diff_change c = diff_change_of(counts, 2, false, &noise);

		check_near(c.p, known[i].chance, 5e-5);
		if (known[i].chance == 0.05)
			check_near(c.low / c.change * t, 0, 6e-4);
	}
}
END_TEST

/* The example of Benjamini and Hochberg 1995: four of fifteen at 0.05. */
START_TEST(known_correction)
{
	static const double p[] = {.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344,
				   .0459, .3240, .4262, .5719, .6528, .7590, 1.000};
	struct diff_change changes[16] = {{.p = 1e-9}}; /* changes[15] is never tested */
	struct diff_change *list[16];
	int significant = 0;

	for (int i = 0; i < 15; i++)
		changes[i] = (struct diff_change){.p = p[i], .tested = true};
	changes[15] = (struct diff_change){.p = 1e-9, .q = 1};
	for (int i = 0; i < 16; i++)
		list[i] = &changes[(i * 7) % 16];
	ck_assert_int_eq(diff_correct(list, 16), 0);
	for (int i = 0; i < 15; i++)
		significant += changes[i].q <= DIFF_SIGNIFICANCE;
	ck_assert_int_eq(significant, 4);
	check_near(changes[0].q, .0015, 1e-12);
	check_near(changes[4].q, .0201 * 15 / 5, 1e-12);
	check_near(changes[5].q, .0298 * 15 / 7, 1e-12); /* not above that of a larger p */
	check_near(changes[15].q, 1, 0);
}
END_TEST

static double uniform(uint64_t *seed)
{
	return ((double)(synthetic_random(seed) >> 11) + 0.5) / 9007199254740992.0;
}

/* For any counts, exchanging the sides reverses all changes and leaves p the same. */
START_TEST(swapping_turns_it_round)
{
	struct diff_noise noise = {1.5, 0.1, 0.3, 0, 0};
	uint64_t seed = 4711;

	for (int i = 0; i < 5000; i++) {
		bool shares = i % 2;
		struct diff_count counts[6], swapped[6];
		size_t n = i % 3 ? 2 : 3 + i % 4;
		struct diff_change c, k;

		for (size_t r = 0; r < n; r++) {
			double whole = 1 + floor(pow(10, 6 * uniform(&seed)));
			double share = pow(uniform(&seed), 4);

			counts[r] = (struct diff_count){(uint64_t)(whole * share), whole, r % 2,
							(uint64_t)(whole * share / 2), whole / 3};
			swapped[r] = counts[r];
			swapped[r].after = !counts[r].after;
		}
		c = diff_change_of(counts, n, shares, &noise);
		k = diff_change_of(swapped, n, shares, &noise);
		check_near(k.change, -c.change, 1e-12);
		check_near(k.low, -c.high, 1e-12);
		check_near(k.high, -c.low, 1e-12);
		check_near(k.p, c.p, 1e-7 * c.p);
		ck_assert_int_eq(k.tested, c.tested);
		ck_assert(c.low <= c.change && c.change <= c.high && c.p >= 0 && c.p <= 1);
	}
}
END_TEST

/* Make shares of functions as programs have them: a few large, many small. */
static void make_shares(double *shares)
{
	double sum = 0;

	for (int i = 0; i < FUNCTIONS; i++)
		sum += shares[i] = pow(i + 1, -1.3);
	for (int i = 0; i < FUNCTIONS; i++)
		shares[i] /= sum;
}

static void sample(uint64_t *seed, const double *shares, unsigned int samples, uint64_t *counts)
{
	for (int i = 0; i < FUNCTIONS; i++)
		counts[i] = 0;
	while (samples--) {
		double at = uniform(seed);
		int i = 0;

		while (i < FUNCTIONS - 1 && (at -= shares[i]) > 0)
			i++;
		counts[i]++;
	}
}

/* Make a run of a program in which the share of each function varies from run to run. */
static void sample_run(uint64_t *seed, const double *shares, double noise, unsigned int samples,
		       uint64_t *counts)
{
	double those[FUNCTIONS], sum = 0;

	for (int i = 0; i < FUNCTIONS; i++) {
		double normal = -6;

		for (int k = 0; k < 12; k++)
			normal += uniform(seed);
		sum += those[i] = shares[i] * exp(noise * normal);
	}
	for (int i = 0; i < FUNCTIONS; i++)
		those[i] /= sum;
	sample(seed, those, samples, counts);
}

struct verdict {
	unsigned int any; /* pairs with any significant change */
	unsigned int significant, all; /* significant changes; all changes */
	unsigned int covered; /* changes whose interval contains the truth */
};

struct experiment {
	unsigned int runs; /* on each side */
	double noise; /* sigma of the logarithms of functions' shares among runs */
	double grown; /* factor of the third function */
	double assumed; /* noise that is assumed with one run on each side */
};

/*
 * Compare several runs of each side, where the third function takes grown times as much after as
 * before. So changes of that function are real, and all other changes are chance.
 */
static void compare_pair(uint64_t *seed, const struct experiment *e, struct verdict *found,
			 struct verdict *chance)
{
	unsigned int runs = e->runs;
	double grown = e->grown;
	struct diff_noise known = {1, e->assumed, 0, 0, 0};
	static uint64_t counts[12][FUNCTIONS];
	struct diff_change changes[FUNCTIONS], *list[FUNCTIONS];
	double shares[2][FUNCTIONS], sum = 0;
	unsigned int samples = 3000;
	bool any = false;

	make_shares(shares[0]);
	make_shares(shares[1]);
	for (int i = 0; i < FUNCTIONS; i++)
		shares[1][i] *= i == 2 ? grown : (1 - grown * shares[0][2]) / (1 - shares[0][2]);
	for (unsigned int r = 0; r < 2 * runs; r++)
		sample_run(seed, shares[r % 2], e->noise, samples, counts[r]);
	for (int twice = 0; twice < 2; twice++) {
		for (int i = 0; i < FUNCTIONS; i++) {
			struct diff_count these[12];

			for (unsigned int r = 0; r < 2 * runs; r++)
				these[r] = (struct diff_count){counts[r][i], samples, r % 2, 0, 0};
			changes[i] = diff_change_of(these, 2 * runs, true, &known);
			list[i] = &changes[i];
			sum += changes[i].tested ? changes[i].spread / FUNCTIONS : 0;
		}
		known.usual = fmax(1, sum);
	}
	ck_assert_int_eq(diff_correct(list, FUNCTIONS), 0);
	for (int i = 0; i < FUNCTIONS; i++) {
		struct verdict *t = i == 2 ? found : chance;
		double truth = shares[1][i] - shares[0][i];

		t->all++;
		t->significant += changes[i].q <= DIFF_SIGNIFICANCE;
		t->covered += changes[i].low <= truth && truth <= changes[i].high;
		any = any || (changes[i].q <= DIFF_SIGNIFICANCE && i != 2);
	}
	chance->any += any;
}

static void compare_pairs(struct experiment e, struct verdict *found, struct verdict *chance)
{
	uint64_t seed = 88172645463325252ULL;

	*found = *chance = (struct verdict){0};
	for (int i = 0; i < PAIRS; i++)
		compare_pair(&seed, &e, found, chance);
	printf("%u runs a side, noise %.2f, assumed %.2f, grown %.2f: in %.2f %% of pairs "
	       "anything that is chance; the change found in %.2f %%; intervals that hold the "
	       "truth: %.2f %%\n",
	       e.runs, e.noise, e.assumed, e.grown, 100.0 * chance->any / PAIRS,
	       100.0 * found->significant / PAIRS,
	       100.0 * (chance->covered + found->covered) / (chance->all + found->all));
	fflush(stdout);
}

/*
 * Two recordings of the same program: at the level of 5 %, at most 5 % of all pairs may show a
 * change.
 */
START_TEST(nothing_changed)
{
	struct verdict found, chance;

	compare_pairs((struct experiment){1, 0, 1, 0}, &found, &chance);
	ck_assert_uint_le(chance.any + found.significant, PAIRS * 5 / 100);
	ck_assert_uint_ge(chance.covered, chance.all * 94 / 100);
}
END_TEST

START_TEST(something_changed)
{
	struct verdict found, chance;

	compare_pairs((struct experiment){1, 0, 1.7, 0}, &found, &chance);
	ck_assert_uint_ge(found.significant, PAIRS * 95 / 100);
	ck_assert_uint_ge(found.covered, PAIRS * 91 / 100);
}
END_TEST

/*
 * Runs that vary: with one run on each side, changes are shown wrongly unless the variance is
 * assumed; with several runs they are not, whatever is assumed.
 */
START_TEST(runs_that_differ)
{
	struct verdict found, chance;

	compare_pairs((struct experiment){1, 0.2, 1, 0}, &found, &chance);
	ck_assert_uint_ge(chance.any, PAIRS / 4);
	compare_pairs((struct experiment){1, 0.2, 1, 0.2}, &found, &chance);
	ck_assert_uint_le(chance.any + found.significant, PAIRS * 5 / 100);
	compare_pairs((struct experiment){3, 0.2, 1, 0}, &found, &chance);
	ck_assert_uint_le(chance.any + found.significant, PAIRS * 5 / 100);
	compare_pairs((struct experiment){2, 0.2, 1, 0}, &found, &chance);
	ck_assert_uint_le(chance.any + found.significant, PAIRS * 5 / 100);
	compare_pairs((struct experiment){5, 0.2, 2.5, 0}, &found, &chance);
	ck_assert_uint_ge(found.significant, PAIRS * 9 / 10);
}
END_TEST

/*
 * With one run on each side and an assumed 10 %, large changes are shown, and none if runs vary
 * that much.
 */
START_TEST(one_run_a_side)
{
	struct verdict found, chance;

	compare_pairs((struct experiment){1, 0.1, 1, 0.1}, &found, &chance);
	ck_assert_uint_le(chance.any + found.significant, PAIRS * 5 / 100);
	compare_pairs((struct experiment){1, 0.1, 2.5, 0.1}, &found, &chance);
	ck_assert_uint_ge(found.significant, PAIRS * 9 / 10);
	ck_assert_uint_ge(found.covered, PAIRS * 91 / 100);
}
END_TEST

/*
 * Kernel time is assumed to vary more than program time. So a change that is significant in a
 * program is not significant in kernel functions, nor in a program if the change is only the
 * reverse of one in kernel time.
 */
START_TEST(kernel_time_differs_more)
{
	static const struct diff_noise noise = {1, 0.1, 0.3, 0, 0};
	struct diff_count counts[] = {{8000, 100000, false, 0, 8000},
				      {12000, 100000, true, 0, 12000}};
	double own = diff_change_of(counts, 2, true, &noise).p, called, beside, sampling;

	/* 0.9 of 10 % of 0.1, and 0.1 of 30 % of 0.1; twice, plus sampling. */
	check_near(own, erfc(0.04 / sqrt(2 * (2 * (0.000081 + 0.000009) + 0.0000018))), 1e-9);
	sampling = diff_change_of(counts, 2, true, &only_sampling).p;
	for (int i = 0; i < 2; i++)
		counts[i].kernel = counts[i].count;
	called = diff_change_of(counts, 2, true, &noise).p;
	for (int i = 0; i < 2; i++) {
		counts[i].count = 100000 - counts[i].count;
		counts[i].kernel = 0;
	}
	beside = diff_change_of(counts, 2, true, &noise).p;
	ck_assert(sampling < 1e-100 && called > 0.2 && beside > 0.2);
}
END_TEST

/*
 * Stretches of two runs, computed by hand: a change in only one of four stretches has t = 1; phases
 * that both runs have are no change; with fewer than two stretches nothing is known.
 */
START_TEST(stretches_of_one_run)
{
	struct diff_count pairs[8], whole[2] = {{400, 4000, false, 0, 0}, {800, 4000, true, 0, 0}};
	struct diff_noise noise = {1, 0, 0, 0, 0};
	double alone;

	/* Phases of 0, 100, 0 and 300 of 1,000 samples, and 400 more in one stretch. */
	for (int i = 0; i < 8; i++)
		pairs[i] = (struct diff_count){(i / 2 % 2) * (i / 2 * 100) + (i == 5) * 400, 1000,
					       i % 2, 0, 0};
	noise.within = diff_spread_within(pairs, 8, true, &noise.freedom);
	ck_assert_uint_eq(noise.freedom, 3);
	alone = diff_change_of(whole, 2, true, &only_sampling).p;
	ck_assert(alone < 1e-20);
	/* 0.1 of 4,000 on a side, of which 0.4 in a quarter: the standard deviation is 0.1, too: t
	 * = 1. */
	check_near(diff_change_of(whole, 2, true, &noise).p, 1 - M_2_PI * (M_PI / 6 + sqrt(3) / 4),
		   1e-9);
	pairs[5].count = 0;
	check_near(diff_spread_within(pairs, 8, true, &noise.freedom), 0, 1e-12);
	pairs[0].whole = pairs[3].whole = pairs[5].whole = 0;
	check_near(diff_spread_within(pairs, 8, true, &noise.freedom), 0, 0);
	ck_assert_uint_eq(noise.freedom, 0);
}
END_TEST

/* Nothing on one side, on both, or without a whole. */
START_TEST(little_or_nothing)
{
	ck_assert(!compare(0, 100, 0, 100, true).tested);
	ck_assert(!compare(1, 100, 2, 100, true).tested);
	ck_assert(compare(0, 100, 8, 100, true).tested);
	ck_assert(!compare(0, 0, 5, 100, true).tested);
	check_near(compare(0, 0, 5, 100, true).p, 1, 0);
	check_near(compare(100, 100, 100, 100, true).p, 1, 0);
	check_near(compare(500000, 1e6, 500000, 1e6, true).p, 1, 0);
	ck_assert(compare(400000, 1e6, 500000, 1e6, true).p < 1e-300);
	ck_assert(compare(0, 1e9, 3000000000, 1e9, false).p < 1e-300);
}
END_TEST

/* Very large counts: the computation ends, and there is no step where the method changes. */
START_TEST(very_many)
{
	for (int shares = 0; shares < 2; shares++) {
		double few = compare(199990000, 1e9, 200010000, 1e9, shares).p;
		double many = compare(200990000, 1e9, 201010000, 1e9, shares).p;

		check_near(few / many, 1, 0.02);
		ck_assert(compare(1ULL << 60, 0x1p62, (1ULL << 60) + (1 << 20), 0x1p62, shares).p >
			  0.99);
		ck_assert(compare(1ULL << 60, 0x1p62, 1ULL << 61, 0x1p62, shares).p < 1e-300);
		ck_assert(compare(0, 0x1p62, 1ULL << 61, 1, false).p < 1e-300);
	}
}
END_TEST

SUITE("diff_test", known_chances, known_intervals, known_bounds_of_t, known_correction,
      swapping_turns_it_round, nothing_changed, something_changed, runs_that_differ, one_run_a_side,
      kernel_time_differs_more, stretches_of_one_run, little_or_nothing, very_many)
