// SPDX-License-Identifier: Apache-2.0
/*
 * pace.c: how often the rings are looked at, and that the looks are never in step with the sampling
 * clock.
 */
#include "capture/clock.h"
#include "capture/pace.h"
#include "suite.h"

#define PERIOD 1001001ULL /* ns, 999 Hz */
#define START (123 * NSEC_PER_SEC)
#define LOOKS 10000
#define BINS 20

static struct pace p;

static void start(uint64_t period, enum pace_source source)
{
	pace_start(&p, period, source, START, START);
}

/*
 * Return the mean interval of many looks with the same finding, ns; check that each is within half
 * of the mean.
 */
static uint64_t mean_of(enum pace_finding found)
{
	uint64_t now = START, least = UINT64_MAX, most = 0;

	pace_rings_read(&p, now, found);
	for (int i = 0; i < LOOKS; i++) {
		uint64_t interval = p.next - now;

		least = interval < least ? interval : least;
		most = interval > most ? interval : most;
		now = p.next;
		pace_rings_read(&p, now, found);
	}
	ck_assert_uint_lt(most, 3 * least + NSEC_PER_MSEC);
	ck_assert_uint_gt(most, 2 * least);
	return (now - START) / LOOKS;
}

START_TEST(it_looks_as_often_as_there_is_to_see)
{
	start(PERIOD, PACE_RINGS);
	ck_assert_uint_eq(mean_of(PACE_QUIET) / (5 * NSEC_PER_MSEC), 50);
	ck_assert_uint_eq((mean_of(PACE_LIFE) + NSEC_PER_MSEC / 2) / NSEC_PER_MSEC, 10);
	ck_assert_uint_eq(mean_of(PACE_LACKING) * 10 / PERIOD, 20);
	start(NSEC_PER_SEC / 99, PACE_RINGS);
	ck_assert_uint_eq((mean_of(PACE_LACKING) + NSEC_PER_MSEC / 2) / NSEC_PER_MSEC, 10);
	start(NSEC_PER_SEC / 4999, PACE_RINGS);
	ck_assert_uint_eq((mean_of(PACE_LACKING) + NSEC_PER_MSEC / 2) / NSEC_PER_MSEC, 2);
	start(NSEC_PER_SEC / 19, PACE_RINGS);
	ck_assert_uint_eq((mean_of(PACE_LIFE) + NSEC_PER_MSEC) / (5 * NSEC_PER_MSEC), 20);
	start(NSEC_PER_SEC / 19, PACE_TICKED_RINGS);
	ck_assert_uint_eq((mean_of(PACE_LIFE) + NSEC_PER_MSEC) / (5 * NSEC_PER_MSEC), 20);
	start(NSEC_PER_SEC / 19, PACE_TICKED_RINGS);
	ck_assert_uint_gt(mean_of(PACE_QUIET), 3 * NSEC_PER_SEC);
	start(PERIOD, PACE_ARRAYS);
	ck_assert_uint_eq((mean_of(PACE_QUIET) + NSEC_PER_MSEC) / (5 * NSEC_PER_MSEC), 20);
}
END_TEST

/* Records are in order 10 ms after their time stamp: at least one look must come after that. */
START_TEST(after_a_finding_it_looks_until_that_is_in_order)
{
	for (uint64_t seed = 1; seed < 1000; seed++) {
		uint64_t now = START, last = 0;

		pace_start(&p, PERIOD, PACE_RINGS, START, seed);
		pace_rings_read(&p, now, PACE_LACKING);
		ck_assert_int_eq(pace_sleep_kind(&p, now), WIRE_AWAKE);
		while (pace_sleep_kind(&p, p.next) == WIRE_AWAKE) {
			now = last = p.next;
			pace_rings_read(&p, now, PACE_QUIET);
		}
		now = p.next;
		ck_assert_uint_gt(now - START, ORDER_MARGIN);
		ck_assert_uint_lt(now - START, 45 * NSEC_PER_MSEC);
		ck_assert_uint_gt(last, START);
	}
}
END_TEST

/*
 * Check the bins by Chi-squared; the generator has a fixed seed. With 19 degrees of freedom, 60 is
 * exceeded once in 300,000 cases.
 */
static void check_even(const unsigned int bins[BINS])
{
	double expected = (double)LOOKS / BINS, chi = 0;

	for (int i = 0; i < BINS; i++)
		chi += (bins[i] - expected) * (bins[i] - expected) / expected;
	ck_assert_double_lt(chi, 60);
}

/* The phase is random also for a clock whose period divides all intervals. */
START_TEST(its_looks_have_any_phase)
{
	static const uint64_t periods[] = {NSEC_PER_SEC / 4999, PERIOD, NSEC_PER_MSEC,
					   NSEC_PER_SEC / 99};

	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++) {
		unsigned int bins[BINS] = {0};
		uint64_t now = START;

		start(periods[i], PACE_RINGS);
		for (int n = 0; n < LOOKS; n++) {
			pace_rings_read(&p, now, PACE_LACKING);
			now = p.next;
			bins[now % periods[i] * BINS / periods[i]]++;
		}
		check_even(bins);
	}
}
END_TEST

START_TEST(a_pause_is_any_part_of_a_period)
{
	unsigned int bins[BINS] = {0};

	start(PERIOD, PACE_RINGS);
	for (int n = 0; n < LOOKS; n++) {
		uint64_t pause = pace_pause(&p);

		ck_assert_uint_lt(pause, PERIOD);
		bins[pause * BINS / PERIOD]++;
	}
	check_even(bins);
	start(0, PACE_RINGS); /* no sampling clock */
	ck_assert_uint_eq(pace_pause(&p), 0);
	start(20 * NSEC_PER_SEC, PACE_RINGS); /* the pause is bounded for a slow clock */
	ck_assert_uint_le(pace_pause(&p), NSEC_PER_SEC);
}
END_TEST

SUITE("pace", it_looks_as_often_as_there_is_to_see, after_a_finding_it_looks_until_that_is_in_order,
      its_looks_have_any_phase, a_pause_is_any_part_of_a_period)
