// SPDX-License-Identifier: Apache-2.0
/* Test large.c: memory in large pages works like any other, and arrays keep their items. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/large.h"
#include "suite.h"

#define ITEMS 700000u

START_TEST(arrays_keep_their_items)
{
	size_t capacity = 0, moves = 0, wrong = 0;
	uint64_t *items = NULL;

	for (uint32_t i = 0; i < ITEMS; i++) {
		size_t had = capacity;

		if (i == capacity)
			ck_assert_int_eq(large_grow(&items, &capacity, i, sizeof(*items)), 0);
		moves += capacity != had && capacity * sizeof(*items) >= LARGE_LEAST;
		items[i] = i * 3ull;
	}
	for (uint32_t i = 0; i < ITEMS; i++)
		wrong += items[i] != i * 3ull;
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_le(moves, 3); /* 1, 4 and 16 MiB: growth is fourfold */
	free(items);
}
END_TEST

START_TEST(zeroed_is_zeroed)
{
	for (size_t bytes = 1; bytes < 16 << 20; bytes = bytes * 3 + 1) {
		char *block = large_alloc(bytes), *zeroed;

		ck_assert_ptr_nonnull(block);
		memset(block, 0x55, bytes); /* freed memory may be returned again */
		free(block);
		zeroed = large_zeroed(bytes, 1);
		ck_assert_ptr_nonnull(zeroed);
		ck_assert(!*zeroed && !memcmp(zeroed, zeroed + 1, bytes - 1));
		free(zeroed);
	}
}
END_TEST

START_TEST(too_much_is_refused)
{
	size_t capacity = SIZE_MAX / 8;
	uint64_t *items = NULL;

	ck_assert_ptr_null(large_alloc(SIZE_MAX));
	ck_assert_ptr_null(large_zeroed(SIZE_MAX / 2, 4));
	ck_assert_int_lt(large_grow(&items, &capacity, capacity, sizeof(*items)), 0);
	ck_assert_ptr_null(items);
}
END_TEST

SUITE("large", arrays_keep_their_items, zeroed_is_zeroed, too_much_is_refused)
