// SPDX-License-Identifier: Apache-2.0
/* Compare a map from ids to indexes with an array. */
#include <stdbool.h>
#include <stdlib.h>

#include "analyze/index.h"
#include "suite.h"

#define KEYS 500

/* Return keys with equal low bits, and some that are close together, small and large. */
static uint64_t key_of(unsigned int i)
{
	return i % 2 ? INDEX_SMALL - KEYS / 2 + i : (uint64_t)i << 40;
}

static bool is_large(unsigned int i)
{
	return key_of(i) >= INDEX_SMALL;
}

static void check_all(const struct index *x, const uint32_t *values, size_t count)
{
	ck_assert_uint_eq(x->count, count);
	for (unsigned int i = 0; i < KEYS; i++)
		if (index_get(x, key_of(i)) != values[i])
			ck_abort_msg("key %u is %u", i, index_get(x, key_of(i)));
}

START_TEST(keys_come_and_go)
{
	struct index x = {0};
	uint32_t values[KEYS];
	size_t count = 0;

	srand(1);
	for (unsigned int i = 0; i < KEYS; i++)
		values[i] = INDEX_NONE;
	index_remove(&x, 1);
	for (unsigned int round = 0; round < 200000; round++) {
		unsigned int i = (unsigned int)rand() % (round % 2000 < 1000 ? KEYS : KEYS / 8);

		if (rand() % 2) {
			count += is_large(i) && values[i] == INDEX_NONE;
			values[i] = round;
			if (index_put(&x, key_of(i), round) < 0)
				ck_abort_msg("out of memory");
		} else {
			count -= is_large(i) && values[i] != INDEX_NONE;
			values[i] = INDEX_NONE;
			index_remove(&x, key_of(i));
		}
		if (round % 500 == 0)
			check_all(&x, values, count);
	}
	check_all(&x, values, count);
	ck_assert_uint_le(x.capacity, 1024);
	index_free(&x);
}
END_TEST

static void check_row(const struct index *x, uint64_t first, uint32_t count)
{
	ck_assert_uint_eq(index_get(x, first - 1), INDEX_NONE);
	for (uint32_t i = 0; i < count; i++)
		ck_assert_uint_eq(index_get(x, first + i), 7 + i);
	ck_assert_uint_eq(index_get(x, first + count), INDEX_NONE);
}

START_TEST(a_row_takes_no_memory)
{
	uint64_t first = UINT64_MAX - 200000;
	struct index x = {0};

	for (uint32_t i = 0; i < 100000; i++)
		ck_assert_int_eq(index_append(&x, first + i, 7 + i), 0);
	check_row(&x, first, 100000);
	ck_assert_uint_eq(x.dense_count + x.capacity, 0);
	/* One key is left out, one value, and one is replaced. */
	ck_assert_int_eq(index_append(&x, first + 100001, 100008), 0);
	check_row(&x, first, 100000);
	ck_assert_uint_eq(index_get(&x, first + 100001), 100008);
	ck_assert_int_eq(index_append(&x, first + 100000, 100007), 0);
	ck_assert_int_eq(index_append(&x, first + 100002, 1), 0);
	ck_assert_uint_eq(index_get(&x, first + 100002), 1);
	ck_assert_int_eq(index_put(&x, first + 100002, 100009), 0);
	check_row(&x, first, 100003);
	index_free(&x);
}
END_TEST

START_TEST(a_row_can_be_changed)
{
	struct index x = {0};

	for (uint32_t i = 0; i < 100; i++)
		ck_assert_int_eq(index_append(&x, 1000 + i, 7 + i), 0);
	ck_assert_int_eq(index_put(&x, 1050, 1), 0);
	ck_assert_uint_eq(index_get(&x, 1050), 1);
	ck_assert_int_eq(index_put(&x, 1050, 57), 0);
	check_row(&x, 1000, 100);
	index_free(&x);
}
END_TEST

SUITE("index", keys_come_and_go, a_row_takes_no_memory, a_row_can_be_changed)
