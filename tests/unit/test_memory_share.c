// SPDX-License-Identifier: Apache-2.0
/* Test how a memory budget is divided among the helpers that keep names (memory_share.c). */
#include <stdlib.h>

#include "serve/memory_budget.h"
#include "suite.h"

#define MIB (1024ULL * 1024)
#define BUDGET (64 * MIB)
#define MOST (BUDGET - BUDGET / MEMORY_ROOM) /* of all processes */

static uint64_t limits[3];

/* Helpers with these MiB: of names, of the memory of processes, and one that keeps no names. */
static void divide(uint64_t names, uint64_t memory, uint64_t others, struct memory_helper h[3])
{
	struct memory_budget b;

	h[0].bytes = names * MIB;
	h[1].bytes = memory * MIB;
	h[2].bytes = MIB;
	h[0].keeps_names = h[1].keeps_names = true;
	memory_budget_init(&b, BUDGET, 3);
	memory_budget_share(&b, h, 3, others * MIB, limits);
}

START_TEST(all_stays_within_the_budget)
{
	for (uint64_t others = 0; others < 38; others += 3)
		for (uint64_t names = 1; names < 60; names += 3)
			for (uint64_t memory = 1; memory < 60; memory += 3) {
				struct memory_helper h[3] = {0};

				divide(names, memory, others, h);
				ck_assert_uint_eq(limits[2], 0);
				ck_assert_uint_ge(limits[0], MEMORY_NAMES_LEAST);
				ck_assert_uint_ge(limits[1], MEMORY_NAMES_LEAST);
				ck_assert_uint_le(limits[0] + limits[1] + 2 * MEMORY_HELPER_OWN +
							  (others + 1) * MIB,
						  MOST);
			}
}
END_TEST

START_TEST(the_largest_gives_way_and_each_may_grow)
{
	struct memory_helper h[3] = {0};

	divide(30, 3, 30, h); /* 25 MiB are left: 11 for the small one, which has 8 more */
	ck_assert_uint_eq(limits[1], 11 * MIB - MEMORY_HELPER_OWN);
	ck_assert_uint_eq(limits[0], 14 * MIB - MEMORY_HELPER_OWN);
	h[0].limit = h[1].limit = 0;
	divide(20, 3, 10, h); /* 45 MiB are left: 28 and 11, and 3 more for each */
	ck_assert_uint_eq(limits[0], 31 * MIB - MEMORY_HELPER_OWN);
	ck_assert_uint_eq(limits[1], 14 * MIB - MEMORY_HELPER_OWN);
	h[0].limit = h[1].limit = 0;
	divide(1, 1, 1, h); /* half of the budget is the most for one */
	ck_assert_uint_le(limits[0], 32 * MIB - MEMORY_HELPER_OWN);
}
END_TEST

/* Without room, each has what it cannot do without. */
START_TEST(the_least_is_left)
{
	struct memory_helper h[3] = {0};

	divide(30, 30, 100, h);
	ck_assert_uint_eq(limits[0], MEMORY_NAMES_LEAST);
	ck_assert_uint_eq(limits[1], MEMORY_NAMES_LEAST);
}
END_TEST

START_TEST(only_news_is_sent)
{
	struct memory_helper h[3] = {0};

	divide(20, 20, 20, h);
	ck_assert_uint_ne(limits[0], 0);
	ck_assert_uint_eq(limits[0], h[0].limit);
	divide(20, 20, 20, h);
	ck_assert_uint_eq(limits[0], 0);
	divide(20, 20, 21, h); /* half a MiB less for each */
	ck_assert_uint_eq(limits[0], 0);
	divide(20, 20, 23, h);
	ck_assert_uint_ne(limits[0], 0);
	ck_assert_uint_eq(limits[0], h[0].limit);
}
END_TEST

START_TEST(without_a_budget_nothing_is_limited)
{
	struct memory_helper h[1] = {{.pid = 1, .keeps_names = true, .bytes = 500 * MIB}};
	struct memory_budget b;

	limits[0] = 1;
	memory_budget_init(&b, 0, 3);
	memory_budget_share(&b, h, 1, 500 * MIB, limits);
	ck_assert_uint_eq(limits[0], 0);
	memory_budget_init(&b, BUDGET, 3);
	memory_budget_share(&b, h, 0, 500 * MIB, limits);
}
END_TEST

SUITE("memory share", all_stays_within_the_budget, the_largest_gives_way_and_each_may_grow,
      the_least_is_left, only_news_is_sent, without_a_budget_nothing_is_limited)
