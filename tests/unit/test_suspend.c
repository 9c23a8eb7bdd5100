// SPDX-License-Identifier: Apache-2.0
/* suspend.h: what is taken for a suspend, and what is not. */
#include <check.h>

#include "capture/suspend.h"
#include "suite.h"

#define SECOND 1000000000ULL

/* Read the clocks at a time of CLOCK_MONOTONIC (ns), after so many ns of suspends in all. */
static uint64_t watch(struct suspend_watch *w, uint64_t now, uint64_t asleep, uint64_t apart)
{
	const struct suspend_reading r = {now, now + apart / 2 + asleep, now + apart};

	return suspend_watch(w, &r);
}

START_TEST(suspends_are_reported_once)
{
	struct suspend_watch w = {0};

	/* one before the beginning is not reported */
	ck_assert_uint_eq(watch(&w, 5 * SECOND, 3600 * SECOND, 100), 0);
	ck_assert_uint_eq(watch(&w, 6 * SECOND, 3600 * SECOND, 100), 0);
	ck_assert_uint_eq(watch(&w, 7 * SECOND, 3605 * SECOND, 100), 5 * SECOND - 100);
	ck_assert_uint_eq(watch(&w, 8 * SECOND, 3605 * SECOND, 100), 0);
	ck_assert_uint_eq(watch(&w, 9 * SECOND, 7205 * SECOND, 0), 3600 * SECOND - 50);
}
END_TEST

START_TEST(a_slow_reading_is_no_suspend)
{
	struct suspend_watch w = {0};

	/* the thread lost its CPU for a second between two readings */
	ck_assert_uint_eq(watch(&w, 5 * SECOND, 0, SECOND), 0);
	ck_assert_uint_eq(watch(&w, 7 * SECOND, 0, 100), 0);
	ck_assert_uint_eq(watch(&w, 8 * SECOND, 0, SECOND), 0);
	ck_assert_uint_eq(watch(&w, 10 * SECOND, 0, 0), 0);
	ck_assert_uint_eq(watch(&w, 11 * SECOND, 2 * SECOND, 0), 3 * SECOND / 2);
}
END_TEST

SUITE("suspend", suspends_are_reported_once, a_slow_reading_is_no_suspend)
