// SPDX-License-Identifier: Apache-2.0
/* units.c: the examples of its header, and all values at which digits or units change. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "suite.h"

struct example {
	uint64_t value;
	const char *text;
};

#define CHECK(show, ...) check(show, (const struct example[]){__VA_ARGS__, {0, NULL}})

static void check(char *(*show)(uint64_t, char *, size_t), const struct example *e)
{
	for (; e->text; e++) {
		char buf[64];

		ck_assert_str_eq(show(e->value, buf, sizeof(buf)), e->text);
	}
}

START_TEST(durations)
{
	CHECK(show_duration, {0, "0 ns"}, {999, "999 ns"}, {1000, "1 us"}, {1250, "1.25 us"},
	      {9994, "9.99 us"}, {9996, "10 us"}, {99940, "99.9 us"}, {99960, "100 us"},
	      {999499, "999 us"}, {999501, "1 ms"}, {340000000, "340 ms"}, {1250000000, "1.25 s"},
	      {10000000000, "10 s"}, {59940000000, "59.9 s"}, {59950000000, "1 min 0 s"},
	      {125000000000, "2 min 5 s"}, {3599499999999, "59 min 59 s"},
	      {3599500000000, "1 h 0 min"}, {7260000000000, "2 h 1 min"},
	      {86399000000000, "1 d 0 h"}, {100 * 86400000000000, "100 d 0 h"},
	      {UINT64_MAX, "213504 d 0 h"});
}
END_TEST

START_TEST(bytes)
{
	CHECK(show_bytes, {0, "0 B"}, {1023, "1023 B"}, {1024, "1 KiB"}, {1280, "1.25 KiB"},
	      {14889779, "14.2 MiB"}, {1048575, "1 MiB"}, {1047000, "1022 KiB"},
	      {3ULL << 30, "3 GiB"}, {UINT64_MAX, "16 EiB"});
}
END_TEST

START_TEST(counts)
{
	CHECK(show_count, {0, "0"}, {999, "999"}, {1000, "1,000"}, {1234567, "1,234,567"},
	      {UINT64_MAX, "18,446,744,073,709,551,615"});
}
END_TEST

static void check_percent(uint64_t part, uint64_t whole, const char *text)
{
	char buf[32];

	ck_assert_str_eq(show_percent(part, whole, buf, sizeof(buf)), text);
}

START_TEST(percents_never_round_to_all_or_nothing)
{
	check_percent(0, 100, "0.0 %");
	check_percent(0, 0, "0.0 %");
	check_percent(1, 1000000, "<0.1 %");
	check_percent(123, 1000, "12.3 %");
	check_percent(999999, 1000000, "99.9 %");
	check_percent(UINT64_MAX, UINT64_MAX, "100.0 %");
	check_percent(300, 100, "300.0 %");
}
END_TEST

START_TEST(small_buffers_are_kept_to)
{
	for (size_t size = 1; size < 12; size++) {
		char *buf = malloc(size);

		ck_assert_uint_lt(strlen(show_duration(125000000000, buf, size)), size);
		ck_assert_uint_lt(strlen(show_bytes(14889779, buf, size)), size);
		ck_assert_uint_lt(strlen(show_count(1234567890, buf, size)), size);
		ck_assert_uint_lt(strlen(show_percent(1, 3, buf, size)), size);
		free(buf);
	}
}
END_TEST

SUITE("units", durations, bytes, counts, percents_never_round_to_all_or_nothing,
      small_buffers_are_kept_to)
