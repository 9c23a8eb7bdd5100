// SPDX-License-Identifier: Apache-2.0
/* vector.h: pushed items are kept, and sizes that cannot be allocated are refused. */
#include <errno.h>
#include <stdint.h>

#include "base/vector.h"
#include "suite.h"

struct item {
	uint64_t n;
	char pad[5];
};

START_TEST(keeps_what_is_pushed)
{
	VECTOR(struct item) v = {0};

	for (uint64_t n = 0; n < 10000; n++)
		ck_assert_int_eq(vector_push(&v, ((struct item){.n = n})), 0);
	ck_assert_uint_eq(v.count, 10000);
	ck_assert_uint_le(v.count, v.capacity);
	for (uint64_t n = 0; n < v.count; n++)
		ck_assert_uint_eq(v.items[n].n, n);
	vector_free(&v);
	ck_assert_ptr_null(v.items);
	ck_assert_uint_eq(v.count + v.capacity, 0);
	vector_free(&v);
}
END_TEST

START_TEST(reserves_once)
{
	VECTOR(int) v = {0};
	int *items;

	ck_assert_int_eq(vector_reserve(&v, 1000), 0);
	items = v.items;
	for (int n = 0; n < 1000; n++)
		ck_assert_int_eq(vector_push(&v, n), 0);
	ck_assert_ptr_eq(v.items, items);
	vector_free(&v);
}
END_TEST

START_TEST(fits_what_is_left)
{
	VECTOR(int) v = {0};

	for (int n = 0; n < 1000; n++)
		ck_assert_int_eq(vector_push(&v, n), 0);
	v.count = 3;
	vector_fit(&v);
	ck_assert_uint_eq(v.capacity, 3);
	ck_assert_int_eq(vector_push(&v, 3), 0);
	for (int n = 0; n < 4; n++)
		ck_assert_int_eq(v.items[n], n);
	v.count = 0;
	vector_fit(&v);
	ck_assert_ptr_null(v.items);
	ck_assert_uint_eq(v.capacity, 0);
	ck_assert_int_eq(vector_push(&v, 7), 0);
	vector_free(&v);
}
END_TEST

START_TEST(refuses_what_overflows)
{
	VECTOR(struct item) v = {0};

	ck_assert_int_eq(vector_push(&v, ((struct item){.n = 1})), 0);
	ck_assert_int_eq(vector_reserve(&v, SIZE_MAX), -ENOMEM);
	ck_assert_int_eq(vector_reserve(&v, SIZE_MAX / sizeof(struct item)), -ENOMEM);
	ck_assert_uint_eq(v.count, 1);
	ck_assert_uint_eq(v.items[0].n, 1);
	vector_free(&v);
}
END_TEST

SUITE("vector", keeps_what_is_pushed, reserves_once, fits_what_is_left, refuses_what_overflows)
