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

static void check_name(const struct symtab *t, size_t i, const char *text)
{
	char expected[512];

	snprintf(expected, sizeof(expected), "%s%zu", text, i);
	ck_assert_str_eq(name_at(t, i * 10 + 5), expected);
}

/* Many names, in several blocks; every second one is not in the code. */
static void pack_many(size_t count, const char *text)
{
	struct symtab t = {0};
	char name[512];
	size_t before;

	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "data_%zu_of_%s", i, text);
		ck_assert_int_gt(symtab_add_name(&t, name, strlen(name)), 0);
		snprintf(name, sizeof(name), "%s%zu", text, i);
		add(&t, i * 10, i * 10 + 10, name, (uint32_t)i);
	}
	ck_assert_int_eq(symtab_build(&t), 0);
	symtab_seal(&t);
	before = symtab_bytes(&t) - t.spans.capacity * sizeof(*t.spans.items);
	symtab_pack(&t);
	ck_assert_ptr_nonnull(t.packed);
	symtab_pack(&t);
	for (size_t i = 0; i < count; i++)
		check_name(&t, i, text);
	for (size_t i = 0; i < count; i++)
		check_name(&t, i * 7919 % count, text);
	ck_assert_ptr_null(name_at(&t, count * 10));
	if (count >= 2000)
		ck_assert_uint_lt(symtab_bytes(&t) - t.spans.capacity * sizeof(*t.spans.items),
				  before / 4);
	symtab_free(&t);
}

START_TEST(packed_names_are_found)
{
	char text[401];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	pack_many(1, "f");
	pack_many(20, "few_names_");
	pack_many(2000, "_ZN4llvm12SelectionDAG7getNodeEjRKNS_5SDLocENS_3EVTENS_7SDValueES5_");
	pack_many(3000, text);
}
END_TEST

/* A name that is longer than a block, and between others. */
START_TEST(a_long_name_is_packed)
{
	struct symtab t = {0};
	const size_t size = 100000;
	char *name = malloc(size + 1);

	memset(name, 'n', size);
	name[size] = '\0';
	add(&t, 0, 10, "before", 1);
	add(&t, 10, 20, name, 2);
	add(&t, 20, 30, "after", 3);
	add(&t, 12, 15, "inside", 4);
	ck_assert_int_eq(symtab_build(&t), 0);
	symtab_seal(&t);
	symtab_pack(&t);
	ck_assert_ptr_nonnull(t.packed);
	ck_assert_str_eq(name_at(&t, 25), "after");
	ck_assert_str_eq(name_at(&t, 11), name);
	ck_assert_str_eq(name_at(&t, 13), "inside");
	ck_assert_str_eq(name_at(&t, 16), name);
	ck_assert_str_eq(name_at(&t, 5), "before");
	ck_assert_uint_lt(symtab_bytes(&t), 3 * size);
	symtab_free(&t);
	free(name);
}
END_TEST

/* Names that share their ends would take far more than the table: it stays as it is. */
START_TEST(overlapping_names_are_not_packed)
{
	struct symtab t = {0};
	const size_t size = 10000;
	char *name = malloc(size + 1);
	int64_t at;

	memset(name, 'n', size);
	name[size] = '\0';
	at = symtab_add_name(&t, name, size);
	for (uint32_t i = 0; i < size; i++)
		ck_assert_int_eq(symtab_add(&t, &(struct symbol_range){i * 10ULL, i * 10ULL + 10,
								       (uint32_t)at + i, i}),
				 0);
	ck_assert_int_eq(symtab_build(&t), 0);
	symtab_seal(&t);
	symtab_pack(&t);
	ck_assert_ptr_null(t.packed);
	ck_assert_uint_eq(strlen(name_at(&t, 75)), size - 7);
	symtab_free(&t);
	free(name);
}
END_TEST

SUITE("symtab", packed_names_are_found, a_long_name_is_packed, overlapping_names_are_not_packed,
      an_empty_table_finds_nothing, a_piece_knows_its_whole_function,
      impossible_ranges_are_left_out, agrees_with_painting, names_are_cut_at_nul_and_bounded)
