// SPDX-License-Identifier: Apache-2.0
/* numbers.c: own and global numbers of threads, also where numbers are used again. */
#include <stdlib.h>
#include <string.h>

#include "capture/clock.h"
#include "capture/numbers.h"
#include "suite.h"

static struct wire_number alive(uint64_t time, uint32_t tid, uint32_t own_pid, uint32_t own_tid)
{
	return (struct wire_number){.time = time,
				    .kind = WIRE_NUMBER_ALIVE,
				    .pid = tid,
				    .tid = tid,
				    .own_pid = own_pid,
				    .own_tid = own_tid};
}

static void apply(struct numbers *n, struct wire_number r, int result)
{
	ck_assert_int_eq(numbers_apply(n, &r), result);
}

static void free_at(struct numbers *n, uint32_t tid, uint64_t time)
{
	apply(n, (struct wire_number){.time = time, .kind = WIRE_NUMBER_FREED, .tid = tid}, 0);
}

START_TEST(both_directions)
{
	struct numbers *n = numbers_new();

	apply(n, alive(1, 500, 7, 7), 0);
	apply(n, alive(1, 501, 7, 8), 0);
	ck_assert_uint_eq(numbers_own(n, 501).pid, 7);
	ck_assert_uint_eq(numbers_own(n, 501).tid, 8);
	ck_assert_uint_eq(numbers_global(n, 8), 501);
	ck_assert_uint_eq(numbers_global(n, 7), 500);
	ck_assert_uint_eq(numbers_own(n, 7).tid, 0);
	ck_assert_uint_eq(numbers_global(n, 501), 0);
	numbers_free(n);
}
END_TEST

START_TEST(freed_threads_are_kept_for_late_records)
{
	struct numbers *n = numbers_new();

	apply(n, alive(1, 500, 7, 7), 0);
	free_at(n, 500, NSEC_PER_SEC);
	numbers_tidy(n, 2 * NSEC_PER_SEC);
	ck_assert_uint_eq(numbers_own(n, 500).tid, 7);
	numbers_tidy(n, 3 * NSEC_PER_SEC + 1);
	ck_assert_uint_eq(numbers_own(n, 500).tid, 0);
	ck_assert_uint_eq(numbers_global(n, 7), 0);
	numbers_free(n);
}
END_TEST

START_TEST(numbers_are_used_again)
{
	struct numbers *n = numbers_new();
	uint64_t generation;

	/* the own number of a freed thread */
	apply(n, alive(1, 500, 7, 7), 0);
	free_at(n, 500, 2);
	apply(n, alive(3, 600, 7, 7), 0);
	ck_assert_uint_eq(numbers_global(n, 7), 600);
	ck_assert_uint_eq(numbers_own(n, 500).tid, 7);
	numbers_tidy(n, 3 * NSEC_PER_SEC);
	ck_assert_uint_eq(numbers_own(n, 500).tid, 0);
	ck_assert_uint_eq(numbers_global(n, 7), 600);
	/* the global number, with and without a record of its end */
	generation = numbers_generation(n);
	apply(n, alive(4, 600, 9, 9), 0);
	ck_assert_uint_ne(numbers_generation(n), generation);
	ck_assert_uint_eq(numbers_own(n, 600).tid, 9);
	ck_assert_uint_eq(numbers_global(n, 7), 0);
	free_at(n, 600, 5);
	apply(n, alive(6, 600, 9, 9), 0);
	numbers_tidy(n, 9 * NSEC_PER_SEC);
	ck_assert_uint_eq(numbers_global(n, 9), 600);
	numbers_free(n);
}
END_TEST

START_TEST(threads_outside)
{
	struct wire_number r = alive(1, 502, 0, 0);
	struct numbers *n = numbers_new();

	r.pid = 500;
	strcpy(r.comm, "worker");
	strcpy(r.process_comm, "server");
	apply(n, r, 0);
	ck_assert_uint_eq(numbers_own(n, 502).pid, NUMBER_OUTSIDE | 500);
	ck_assert_uint_eq(numbers_own(n, 502).tid, NUMBER_OUTSIDE | 502);
	ck_assert_uint_eq(numbers_global(n, NUMBER_OUTSIDE | 502), 502);
	ck_assert_str_eq(numbers_comm(n, 502), "worker");
	ck_assert_str_eq(numbers_comm(n, 500), "server");
	apply(n, r, 0);
	strcpy(r.comm, "other");
	apply(n, r, 1);
	ck_assert_str_eq(numbers_comm(n, 502), "other");
	ck_assert_str_eq(numbers_comm(n, 1), "");
	numbers_free(n);
}
END_TEST

/* After a loss, all threads are listed again; those that were not found have been freed. */
START_TEST(sweep)
{
	struct numbers *n = numbers_new();

	for (uint32_t i = 1; i <= 100; i++)
		apply(n, alive(i, 500 + i, i, i), 0);
	for (uint32_t i = 1; i <= 100; i += 2)
		apply(n, alive(1000 + i, 500 + i, i, i), 0);
	numbers_sweep(n, 1000);
	numbers_tidy(n, 1000 + 2 * NSEC_PER_SEC);
	for (uint32_t i = 1; i <= 100; i++)
		ck_assert_uint_eq(numbers_global(n, i), i % 2 ? 500 + i : 0);
	numbers_free(n);
}
END_TEST

#define GLOBALS 40
#define OWN 30

/* Random births and deaths of few numbers, compared with arrays; nothing is left at the end. */
START_TEST(random_lives)
{
	uint32_t own_of[GLOBALS] = {0}, global_of[OWN] = {0};
	struct numbers *n = numbers_new();
	uint64_t time = 1;

	srand(7);
	for (int step = 0; step < 100000; step++, time += NSEC_PER_MSEC) {
		uint32_t tid = 1 + (uint32_t)rand() % (GLOBALS - 1);
		uint32_t own = 1 + (uint32_t)rand() % (OWN - 1);

		if (own_of[tid]) {
			global_of[own_of[tid]] = 0;
			own_of[tid] = 0;
			if (rand() % 10) /* else the record of its end is lost */
				free_at(n, tid, time);
		} else if (!global_of[own]) {
			own_of[tid] = own;
			global_of[own] = tid;
			apply(n, alive(time, tid, own, own), 0);
		}
		if (rand() % 50 == 0)
			numbers_tidy(n, time);
		for (uint32_t i = 1; i < GLOBALS; i++)
			if (own_of[i])
				ck_assert_uint_eq(numbers_own(n, i).tid, own_of[i]);
		for (uint32_t i = 1; i < OWN; i++)
			if (global_of[i])
				ck_assert_uint_eq(numbers_global(n, i), global_of[i]);
	}
	numbers_sweep(n, time);
	numbers_tidy(n, time + 2 * NSEC_PER_SEC);
	for (uint32_t i = 0; i < GLOBALS; i++)
		ck_assert_uint_eq(numbers_own(n, i).tid, 0);
	numbers_free(n);
}
END_TEST

SUITE("numbers", both_directions, freed_threads_are_kept_for_late_records, numbers_are_used_again,
      threads_outside, sweep, random_lives)
