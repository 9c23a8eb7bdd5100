// SPDX-License-Identifier: Apache-2.0
/* demangle.c: C++ and both of Rust's schemes, and names made to take for ever. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "suite.h"
#include "symbolizers/demangle.h"

static const struct {
	const char *name, *expected; /* NULL: left as it is */
} cases[] = {
	{"main", NULL},
	{"", NULL},
	{"_start", NULL},
	{"_Zebra", NULL},
	{"_Z", NULL},
	{"_R", NULL},
	{"_Z3fooi", "foo(int)"},
	{"_ZN3foo3barEPKcRSt6vectorIiSaIiEE",
	 "foo::bar(char const*, std::vector<int, std::allocator<int> >&)"},
	{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
	{"_ZN3std2io5stdio6_print17hG123456789abcdefE",
	 "std::io::stdio::_print::hG123456789abcdef"},
	{"_RNvCs4fqI2P2rA04_7mycrate4main", "mycrate::main"},
	{"_RNvMs_NtC3abc3defNtB4_3Foo3bar", "<abc::def::Foo>::bar"},
	{"_Z3fooi [module]", "foo(int) [module]"},
	{"_Z3foov.cold", "foo() [clone .cold]"},
};

START_TEST(names_are_as_their_programmers_wrote_them)
{
	char buf[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *expected = cases[i].expected;

		ck_assert_int_eq(demangle(cases[i].name, buf, sizeof(buf)), expected != NULL);
		if (expected)
			ck_assert_str_eq(buf, expected);
	}
}
END_TEST

START_TEST(long_results_are_cut)
{
	char buf[16];

	ck_assert_int_eq(demangle("_ZN10abcdefghij10klmnopqrstEv", buf, sizeof(buf)), 1);
	ck_assert_str_eq(buf, "abcdefghij::\xe2\x80\xa6");
	ck_assert_uint_eq(copy_cut("0123456789abcde", buf, sizeof(buf)), 15);
	ck_assert_str_eq(buf, "0123456789abcde");
	ck_assert_uint_eq(copy_cut("0123456789abcdef", buf, sizeof(buf)), 15);
	/* no character is cut in two */
	copy_cut("01234567890\xc3\xa4\xc3\xa4\xc3\xa4", buf, sizeof(buf));
	ck_assert_str_eq(buf, "01234567890\xe2\x80\xa6");
}
END_TEST

/* Nested template arguments and a name of a megabyte: answered or refused, soon. */
START_TEST(bombs_are_bounded)
{
	size_t size = 1 << 20;
	char *name = malloc(size + 1), buf[4097];
	clock_t before = clock();

	for (size_t length = 64; length <= size; length *= 4) {
		memset(name, 'P', length);
		memcpy(name, "_Z1f", 4);
		name[length] = '\0';
		(void)demangle(name, buf, sizeof(buf));
		memset(name + 4, 'I', length - 4);
		(void)demangle(name, buf, sizeof(buf));
		memcpy(name, "_RNv", 4);
		(void)demangle(name, buf, sizeof(buf));
	}
	/* each substitution doubles the length of what it stands for */
	strcpy(name, "_Z1fI1aE");
	for (int i = 0; i < 40; i++)
		strcat(name, "S_IS_S_E");
	(void)demangle(name, buf, sizeof(buf));
	ck_assert_int_lt((clock() - before) / CLOCKS_PER_SEC, 10);
	free(name);
}
END_TEST

START_TEST(the_cache_gives_what_it_was_given)
{
	struct demangler *d = demangler_new();
	char name[32], expected[32];

	ck_assert_ptr_nonnull(d);
	ck_assert_ptr_null(demangler_get(d, "main"));
	for (int round = 0; round < 3; round++) {
		for (int i = 100; i < 9999; i++) {
			snprintf(name, sizeof(name), "_Z6f%05dv", i);
			snprintf(expected, sizeof(expected), "f%05d()", i);
			ck_assert_str_eq(demangler_get(d, name), expected);
			ck_assert_str_eq(demangler_get(d, name), expected);
		}
		ck_assert_ptr_null(demangler_get(d, "_Zebra"));
	}
	demangler_free(d);
	demangler_free(NULL);
}
END_TEST

SUITE("demangle", names_are_as_their_programmers_wrote_them, long_results_are_cut,
      bombs_are_bounded, the_cache_gives_what_it_was_given)
