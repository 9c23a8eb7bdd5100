// SPDX-License-Identifier: Apache-2.0
/* Compare time_sorter.c, which sorts by distribution over time, with a sort by comparison. */
#include "base/time_sorter.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

#define MOST 20000

static int compare(const void *a, const void *b)
{
	const struct timed_item *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/*
 * Sort records with these times, and check that equal ones keep the order in which they were added.
 */
static void check(const uint64_t *times, uint32_t count)
{
	static struct timed_item wanted[MOST];
	struct time_sorter b = {0};

	for (uint32_t i = 0; i < count; i++) {
		wanted[i] = (struct timed_item){.time = times[i], .source = i * 7, .index = i};
		ck_assert_int_eq(vector_push(&b.list, wanted[i]), 0);
	}
	qsort(wanted, count, sizeof(*wanted), compare);
	ck_assert_int_eq(time_sorter_sort(&b), 0);
	ck_assert_uint_eq(b.list.count, count);
	if (count)
		ck_assert_int_eq(memcmp(b.list.items, wanted, count * sizeof(*wanted)), 0);
	time_sorter_free(&b);
}

static uint64_t random64(void)
{
	return (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
}

START_TEST(any_times)
{
	static uint64_t times[MOST];

	srand(2);
	for (uint32_t count = 0; count < 300; count++) {
		for (uint32_t i = 0; i < count; i++)
			times[i] = random64() >> rand() % 64;
		check(times, count);
	}
	for (uint32_t i = 0; i < MOST; i++)
		times[i] = 1000000 + random64() % 5000;
	check(times, MOST);
}
END_TEST

START_TEST(equal_times_and_the_ends_of_the_scale)
{
	static uint64_t times[MOST];

	for (uint32_t i = 0; i < MOST; i++)
		times[i] = 5;
	check(times, MOST);
	times[7] = UINT64_MAX;
	times[MOST - 1] = 0;
	check(times, MOST);
}
END_TEST

/* At each level of the distribution, nearly all records are in the first interval. */
START_TEST(records_that_crowd)
{
	static uint64_t times[MOST];

	srand(3);
	for (uint32_t i = 0; i < MOST; i++)
		times[i] = random64() >> (i % 64);
	check(times, MOST);
	for (uint32_t i = 0; i < MOST; i++)
		times[i] = i < 64 ? 1ULL << i : random64() % 3;
	check(times, MOST);
}
END_TEST

START_TEST(memory_is_given_back)
{
	struct time_sorter b = {0};

	ck_assert_int_eq(time_sorter_reserve(&b, MOST), 0);
	ck_assert_uint_ge(b.list.capacity, MOST);
	time_sorter_shrink(&b, 10);
	ck_assert_uint_eq(b.list.capacity, 10);
	ck_assert_uint_eq(b.ends.capacity, 20);
	time_sorter_shrink(&b, 0);
	ck_assert_ptr_null(b.list.items);
	time_sorter_free(&b);
}
END_TEST

SUITE("by-time", any_times, equal_times_and_the_ends_of_the_scale, records_that_crowd,
      memory_is_given_back)
