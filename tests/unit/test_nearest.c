// SPDX-License-Identifier: Apache-2.0
/* nearest.c: the words that are near enough to a mistyped one to be suggested. */
#include <string.h>

#include "base/nearest.h"
#include "suite.h"

static const char *nearest_of(const char *word)
{
	static const char *const words[] = {"record", "report", "export", "query", "-", "from"};
	struct nearest near = {.word = word, .length = strlen(word)};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		nearest_try(&near, words[i]);
	return near.best;
}

START_TEST(one_error)
{
	ck_assert_str_eq(nearest_of("exprot"), "export"); /* two letters swapped */
	ck_assert_str_eq(nearest_of("repot"), "report"); /* a letter left out */
	ck_assert_str_eq(nearest_of("queery"), "query"); /* a letter added */
	ck_assert_str_eq(nearest_of("rexord"), "record"); /* a letter replaced */
	ck_assert_str_eq(nearest_of("fom"), "from");
	ck_assert_str_eq(nearest_of("query"), "query");
}
END_TEST

START_TEST(two_errors)
{
	ck_assert_str_eq(nearest_of("rceorq"), "record");
	ck_assert_ptr_null(nearest_of("qury4567")); /* five errors */
}
END_TEST

START_TEST(nothing_near)
{
	ck_assert_ptr_null(nearest_of(""));
	ck_assert_ptr_null(nearest_of("x"));
	ck_assert_ptr_null(nearest_of("merge"));
	ck_assert_ptr_null(
		nearest_of("zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"));
}
END_TEST

START_TEST(the_nearest_wins)
{
	ck_assert_str_eq(nearest_of("reporr"), "report");
	ck_assert_str_eq(nearest_of("recort"), "record"); /* "report" is farther away */
}
END_TEST

START_TEST(length_counts_not_the_nul)
{
	struct nearest near = {.word = "from=2s", .length = 4};

	nearest_try(&near, "from");
	ck_assert_str_eq(near.best, "from");
	ck_assert_uint_eq(near.distance, 0);
}
END_TEST

SUITE("nearest", one_error, two_errors, nothing_near, the_nearest_wins, length_counts_not_the_nul)
