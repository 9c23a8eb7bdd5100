// SPDX-License-Identifier: Apache-2.0
/* Test the account of a CPU's samples (bpf/account.h) with ticks, idle times and stolen time. */
#include "bpf/unwind/state.h" /* kernel types for user space */

#include <stdlib.h>

#include "bpf/account.h"
#include "suite.h"

#define PERIOD 1000000ULL
#define START 5000000000ULL /* time (ns) at which the clock was started */
#define US 1000ULL

static struct wire_clock cpu;
static struct wire_account *const a = &cpu.accounts[0];
static uint64_t steal; /* ns, as the host reports them */

static void start(void)
{
	cpu = (struct wire_clock){.accounts = {{.origin = START, .period = PERIOD}}};
	steal = 7;
}

/* Process the tick of a grid point that comes late by that many ns. */
static int tick(uint64_t point, uint64_t late)
{
	return account_sample(a, START + point * PERIOD + late, steal);
}

static void ticks(uint64_t from, uint64_t to)
{
	for (uint64_t point = from; point <= to; point++)
		ck_assert(tick(point, 5 * US));
}

static uint64_t all_periods(void)
{
	return a->runs + a->idle + a->stolen + a->delayed + a->skipped;
}

START_TEST(every_tick_is_a_sample)
{
	start();
	ticks(1, 1000);
	ck_assert_uint_eq(a->runs, 1000);
	ck_assert_uint_eq(all_periods(), 1000);
}
END_TEST

START_TEST(a_late_tick_covers_the_points_before)
{
	start();
	ticks(1, 10);
	ck_assert(tick(14, 400 * US)); /* interrupts were off for four periods */
	ticks(15, 20);
	ck_assert_uint_eq(a->delayed, 3);
	ck_assert_uint_eq(a->skipped, 0);
	ck_assert_uint_eq(all_periods(), 20);
}
END_TEST

START_TEST(a_gap_before_a_tick_in_time_was_skipped)
{
	start();
	ticks(1, 10);
	ticks(14, 20);
	ck_assert_uint_eq(a->skipped, 3);
	ck_assert_uint_eq(a->delayed, 0);
	ck_assert_uint_eq(all_periods(), 20);
}
END_TEST

START_TEST(stolen_points_are_nobodys)
{
	start();
	ticks(1, 10);
	steal += 3 * PERIOD + 200 * US;
	ck_assert(!tick(13, 250 * US));
	ticks(14, 20);
	ck_assert_uint_eq(a->stolen, 3);
	ck_assert_uint_eq(a->runs, 17);
	ck_assert_uint_eq(all_periods(), 20);
}
END_TEST

/*
 * The host has stolen one period, and interrupts were off for two: one sample, one point delayed.
 */
START_TEST(what_is_late_beyond_the_theft_is_delayed)
{
	start();
	ticks(1, 10);
	steal += PERIOD;
	ck_assert(tick(13, 250 * US));
	ck_assert_uint_eq(a->stolen, 1);
	ck_assert_uint_eq(a->delayed, 1);
	ck_assert_uint_eq(all_periods(), 13);
}
END_TEST

/* Short thefts that hit no tick add up to whole periods, and none is lost. */
START_TEST(short_thefts_add_up)
{
	uint64_t point = 0;

	start();
	ck_assert(tick(++point, 5 * US));
	for (int i = 0; i < 1000; i++) {
		steal += PERIOD / 10;
		(void)tick(++point, i % 10 ? 5 * US : 80 * US);
	}
	ck_assert_uint_ge(a->stolen, 98);
	ck_assert_uint_le(a->stolen, 101);
	ck_assert_uint_eq(all_periods(), point);
}
END_TEST

START_TEST(a_machine_that_nobody_steals_from_has_no_theft)
{
	start();
	steal = 0; /* no host has written the value */
	ticks(1, 10);
	ck_assert(tick(13, 250 * US));
	ck_assert_uint_eq(a->stolen, 0);
	ck_assert_uint_eq(a->delayed, 2);
}
END_TEST

START_TEST(the_first_reading_is_no_theft)
{
	start();
	steal = 12345678901ULL;
	ticks(1, 20);
	ck_assert_uint_eq(a->stolen, 0);
}
END_TEST

/* The CPU halts, and the host delays its wake-up: that time is idle. */
START_TEST(a_theft_in_idle_time_is_idle)
{
	start();
	ticks(1, 10);
	account_idle_begin(&cpu, START + 10 * PERIOD + 100 * US);
	steal += 5 * PERIOD;
	account_idle_end(&cpu, START + 16 * PERIOD + 300 * US, steal);
	ticks(17, 30);
	ck_assert_uint_eq(a->idle, 6);
	ck_assert_uint_eq(a->stolen, 0);
	ck_assert_uint_eq(all_periods(), 30);
}
END_TEST

START_TEST(idle_points_are_counted_once)
{
	start();
	ticks(1, 10);
	account_idle_begin(&cpu, START + 10 * PERIOD + 100 * US);
	account_idle_sample(&cpu, START + 12 * PERIOD + 5 * US);
	account_idle_end(&cpu, START + 15 * PERIOD + 300 * US, steal);
	/* The tick of point 15 was pending, and hits the thread that runs next. */
	ck_assert(tick(15, 310 * US));
	ticks(16, 20);
	ck_assert_uint_eq(a->idle, 4);
	ck_assert_uint_eq(a->runs, 16);
	ck_assert_uint_eq(all_periods(), 20);
}
END_TEST

/* After being throttled, the clock ticks 0.7 periods later than before, which is not lateness. */
START_TEST(the_grid_follows_a_clock_that_was_restarted)
{
	uint64_t shift = 700 * US;

	start();
	ticks(1, 100);
	for (uint64_t point = 105; point <= 300; point++)
		ck_assert(tick(point, shift + 5 * US));
	/* The host steals a little between these ticks, which does not make them stolen. */
	for (uint64_t point = 301; point <= 400; point++) {
		steal += 4 * US;
		ck_assert(tick(point, shift + 5 * US));
	}
	ck_assert_uint_eq(a->runs, 100 + 196 + 100);
	ck_assert_uint_le(a->delayed + a->skipped, 5);
	ck_assert_uint_le(all_periods(), 401);
	ck_assert_uint_ge(all_periods(), 399);
}
END_TEST

/* The first samples are late, later ones are not: none is counted for the point before. */
START_TEST(the_grid_moves_back_to_earlier_samples)
{
	start();
	for (uint64_t point = 1; point <= 200; point++)
		ck_assert(tick(point, 70 * US));
	ticks(201, 400);
	ck_assert_uint_eq(a->runs, 400);
	ck_assert_uint_eq(all_periods(), 400);
}
END_TEST

/*
 * Make ticks like a high-resolution timer: each timer moves on to the next point after the time at
 * which it was delivered, up to 1.4 periods late, on a grid that differs from the assumed one.
 */
START_TEST(every_period_is_counted_once_however_late)
{
	for (int64_t offset = -400; offset <= 400; offset += 50) {
		uint64_t point = 1, now = 0;

		start();
		srand(offset + 1000);
		while (point < 5000) {
			uint64_t due = START + point * PERIOD + offset * (int64_t)US;

			now = due + (rand() % 4 ? 3 : rand() % 1400) * US;
			(void)account_sample(a, now, steal);
			point += (now - due) / PERIOD + 1;
		}
		ck_assert_uint_le(all_periods(), point + 1);
		ck_assert_uint_ge(all_periods() + 2, point);
	}
}
END_TEST

START_TEST(an_event_that_is_no_clock_has_no_grid)
{
	start();
	a->period = 0;
	ck_assert(account_sample(a, START, steal));
	account_idle_sample(&cpu, START + 1);
	ck_assert_uint_eq(a->runs, 1);
	ck_assert_uint_eq(a->idle, 1);
	ck_assert_uint_eq(a->stolen + a->delayed + a->skipped, 0);
}
END_TEST

SUITE("account", every_tick_is_a_sample, a_late_tick_covers_the_points_before,
      a_gap_before_a_tick_in_time_was_skipped, stolen_points_are_nobodys,
      what_is_late_beyond_the_theft_is_delayed, short_thefts_add_up,
      a_machine_that_nobody_steals_from_has_no_theft, the_first_reading_is_no_theft,
      a_theft_in_idle_time_is_idle, idle_points_are_counted_once,
      the_grid_follows_a_clock_that_was_restarted, the_grid_moves_back_to_earlier_samples,
      every_period_is_counted_once_however_late, an_event_that_is_no_clock_has_no_grid)
