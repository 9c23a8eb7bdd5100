// SPDX-License-Identifier: Apache-2.0
/* symtab.c, compared with a model that stores the name of every address. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "symbolizers/client.h"
#include "symbolizers/symtab.h"

#define SPACE 400

static void add(struct symtab *t, uint64_t start, uint64_t end, const char *name, uint32_t rank)
{
	struct symbol_range r = {.start = start, .end = end, .rank = rank};

	if (name) {
		int64_t at = symtab_add_name(t, name, strlen(name));

		ck_assert_int_gt(at, 0);
		r.name = (uint32_t)at;
	}
	ck_assert_int_eq(symtab_add(t, &r), 0);
}

static const char *name_at(const struct symtab *t, uint64_t address)
{
	struct found_symbol f = {0};

	return symtab_find(t, address, &f) ? f.name : NULL;
}

START_TEST(an_empty_table_finds_nothing)
{
	struct symtab t = {0};

	ck_assert_int_eq(symtab_build(&t), 0);
	ck_assert_ptr_null(name_at(&t, 0));
	ck_assert_ptr_null(name_at(&t, UINT64_MAX));
	symtab_seal(&t);
	symtab_free(&t);
}
END_TEST

START_TEST(a_piece_knows_its_whole_function)
{
	struct symtab t = {0};
	struct found_symbol f;

	add(&t, 100, 200, "outer", 1);
	add(&t, 120, 130, "inner", 2);
	ck_assert_int_eq(symtab_build(&t), 0);
	ck_assert(symtab_find(&t, 150, &f));
	ck_assert_str_eq(f.name, "outer");
	ck_assert_uint_eq(f.start, 100);
	ck_assert_uint_eq(f.size, 100);
	ck_assert_uint_eq(f.flags, SYMBOL_FOUND);
	ck_assert_str_eq(name_at(&t, 120), "inner");
	ck_assert_ptr_null(name_at(&t, 99));
	ck_assert_ptr_null(name_at(&t, 200));
	symtab_free(&t);
}
END_TEST

START_TEST(impossible_ranges_are_left_out)
{
	struct symtab t = {0};

	add(&t, 10, 10, "empty", 1);
	add(&t, 10, 5, "backwards", 2);
	add(&t, 0, UINT64_MAX, "everything", 3);
	add(&t, UINT64_MAX - 5, UINT64_MAX, "top", 4);
	ck_assert_int_eq(symtab_build(&t), 0);
	ck_assert_uint_eq(t.ranges.count, 1);
	ck_assert_ptr_null(name_at(&t, 10));
	ck_assert_str_eq(name_at(&t, UINT64_MAX - 1), "top");
	ck_assert_ptr_null(name_at(&t, UINT64_MAX));
	symtab_free(&t);
}
END_TEST

/* Check one random set of ranges: names are their numbers, one in eight is a hole. */
static void check_random(unsigned int seed)
{
	int painted[SPACE] = {0}, rank[SPACE] = {0};
	struct symtab t = {0};
	unsigned int count = (unsigned int)rand_r(&seed) % 40;
	char name[16];

	for (unsigned int i = 1; i <= count; i++) {
		uint64_t start = (uint64_t)rand_r(&seed) % SPACE;
		uint64_t end = start + (uint64_t)rand_r(&seed) % 100;
		/* each rank once, in an order independent of i */
		int r = (int)((i * 17) % 41), hole = rand_r(&seed) % 8 == 0;

		snprintf(name, sizeof(name), "%u", i);
		add(&t, start, end, hole ? NULL : name, (uint32_t)r);
		for (uint64_t a = start; a < end && a < SPACE; a++) {
			if (r < rank[a])
				continue;
			rank[a] = r;
			painted[a] = hole ? 0 : (int)i;
		}
	}
	ck_assert_int_eq(symtab_build(&t), 0);
	for (uint64_t a = 0; a < SPACE; a++) {
		const char *found = name_at(&t, a);

		ck_assert_int_eq(found ? atoi(found) : 0, painted[a]);
	}
	symtab_free(&t);
}

START_TEST(agrees_with_painting)
{
	for (unsigned int seed = 1; seed <= 3000; seed++)
		check_random(seed);
}
END_TEST

START_TEST(names_are_cut_at_nul_and_bounded)
{
	struct symtab t = {0};
	int64_t at = symtab_add_name(&t, "ab\0cd", 5);

	ck_assert_int_eq(at, 1);
	ck_assert_str_eq(t.names.items + at, "ab");
	ck_assert_int_eq(symtab_add_name(&t, "x", 1), 4);
	t.names.count = SYMBOL_NAMES_MAX - 1;
	ck_assert_int_eq(symtab_add_name(&t, "x", 1), -E2BIG);
	t.names.count = 0;
	t.ranges.count = SYMBOLS_MAX;
	ck_assert_int_eq(symtab_add(&t, &(struct symbol_range){.start = 1, .end = 2}), -E2BIG);
	t.ranges.count = 0;
	symtab_free(&t);
}
END_TEST

SUITE("symtab", an_empty_table_finds_nothing, a_piece_knows_its_whole_function,
      impossible_ranges_are_left_out, agrees_with_painting, names_are_cut_at_nul_and_bounded)
