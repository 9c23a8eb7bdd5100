// SPDX-License-Identifier: Apache-2.0
/* Test demangle.c with C++ and both schemes of Rust, and with names that would take forever. */
#include <errno.h>

#include "files.h"
#include "suite.h"
#include "symbolizers/demangle.h"

/* Return 1 with the demangled name in buf, 0 if name stays unchanged, or -ETIME. */
static int demangle(struct demangler *d, const char *name, char *buf, size_t size)
{
	const char *demangled = demangler_get(d, name);

	if (!demangled)
		return demangler_refused(d) ? -ETIME : 0;
	demangle_copy_cut(demangled, buf, size);
	return 1;
}

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
	struct demangler *d = demangler_new();
	char buf[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *expected = cases[i].expected;

		ck_assert_int_eq(demangle(d, cases[i].name, buf, sizeof(buf)), expected != NULL);
		if (expected)
			ck_assert_str_eq(buf, expected);
	}
	demangler_free(d);
}
END_TEST

START_TEST(long_results_are_cut)
{
	struct demangler *d = demangler_new();
	char buf[16];

	ck_assert_int_eq(demangle(d, "_ZN10abcdefghij10klmnopqrstEv", buf, sizeof(buf)), 1);
	ck_assert_str_eq(buf, "abcdefghij::\xe2\x80\xa6");
	ck_assert_uint_eq(demangle_copy_cut("0123456789abcde", buf, sizeof(buf)), 15);
	ck_assert_str_eq(buf, "0123456789abcde");
	ck_assert_uint_eq(demangle_copy_cut("0123456789abcdef", buf, sizeof(buf)), 15);
	/* No character is split. */
	demangle_copy_cut("01234567890\xc3\xa4\xc3\xa4\xc3\xa4", buf, sizeof(buf));
	ck_assert_str_eq(buf, "01234567890\xe2\x80\xa6");
	demangler_free(d);
}
END_TEST

/*
 * CPU time that one name may take in this test, in ms. The bound is 8 ms, and 20 ms if the kernel's
 * clock ticks at 100 Hz; without a bound, the calls of these tests take from seconds to forever.
 * Time that a host steals from a virtual machine may count as the process's; it would have to be
 * 180 ms in one call.
 */
#define MOST_MS 200

static double cpu_ms(void)
{
	return (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e6;
}

/* Demangle with new bounds, and return the result of demangle(). */
static int bounded(struct demangler *d, const char *name)
{
	struct demangle_cost cost = {0};
	char buf[4097];
	double before;
	int ret;

	demangler_charge(d, &cost);
	before = cpu_ms();
	ret = demangle(d, name, buf, sizeof(buf));
	ck_assert_msg(cpu_ms() - before < MOST_MS, "%.60s: %.0f ms", name, cpu_ms() - before);
	return ret;
}

/* Nested template arguments and a name of a megabyte are demangled or refused soon. */
START_TEST(long_names_are_bounded)
{
	struct demangler *d = demangler_new();
	size_t size = 1 << 20;
	char *name = malloc(size + 1);

	for (size_t length = 64; length <= size; length *= 4) {
		memset(name, 'P', length);
		memcpy(name, "_Z1f", 4);
		name[length] = '\0';
		(void)bounded(d, name);
		memset(name + 4, 'I', length - 4);
		(void)bounded(d, name);
		memcpy(name, "_RNv", 4);
		(void)bounded(d, name);
	}
	free(name);
	demangler_free(d);
}
END_TEST

/*
 * Append a reference to an item: a letter, then nothing for number 0, or n - 1 in the base for n,
 * then '_'.
 */
static void add_reference(char *to, char letter, unsigned int number, const char *digits)
{
	unsigned int base = (unsigned int)strlen(digits);
	char text[16] = "_";

	for (unsigned int rest = number - 1; number; rest /= base) {
		memmove(text + 1, text, strlen(text) + 1);
		text[0] = digits[rest % base];
		if (rest < base)
			break;
	}
	sprintf(to + strlen(to), "%c%s", letter, text);
}

/* Each substitution is a template with the previous one as both arguments: b<b<…>, b<…> >. */
static void double_substitutions(char *name, unsigned int times)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	strcpy(name, "_Z1f1a1bIS_S_E");
	for (unsigned int i = 2; i < times + 2; i++) {
		strcat(name, "S0_I");
		add_reference(name, 'S', i, digits);
		add_reference(name, 'S', i, digits);
		strcat(name, "E");
	}
}

/* Each tuple contains the previous one twice; the numbers are positions in the name. */
static void double_references(char *name, unsigned int times)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t before, here;

	strcpy(name, "_RIC1a");
	before = strlen(name) - 2;
	strcat(name, "Tjj");
	for (unsigned int i = 0; i < times; i++) {
		strcat(name, "E");
		here = strlen(name) - 2;
		strcat(name, "T");
		add_reference(name, 'B', (unsigned int)before, digits);
		add_reference(name, 'B', (unsigned int)before, digits);
		before = here;
	}
	strcat(name, "EE");
}

START_TEST(doubling_is_cut)
{
	struct demangler *d = demangler_new();
	char name[8192], buf[4097];
	struct demangle_cost cost = {0};

	double_substitutions(name, 1);
	ck_assert_int_eq(demangle(d, name, buf, sizeof(buf)), 1);
	ck_assert_str_eq(buf, "f(a, b<a, a>, b<b<a, a>, b<a, a> >)");
	double_references(name, 1);
	ck_assert_int_eq(demangle(d, name, buf, sizeof(buf)), 1);
	ck_assert_str_eq(buf, "a::<(usize, usize), ((usize, usize), (usize, usize))>");
	for (unsigned int times = 15; times <= 60; times += 15) {
		double_substitutions(name, times);
		ck_assert_int_eq(bounded(d, name), 1);
		double_references(name, times);
		ck_assert_int_eq(bounded(d, name), 1);
	}
	demangler_charge(d, &cost);
	ck_assert_int_eq(demangle(d, name, buf, sizeof(buf)), 1);
	ck_assert_uint_ge(strlen(buf), sizeof(buf) - 4);
	ck_assert_str_eq(buf + strlen(buf) - 3, "\xe2\x80\xa6");
	demangler_free(d);
}
END_TEST

/* 62^9 lifetimes in a path that is parsed but not printed. */
static const char silent[] = "_RMIC1aFGzzzzzzzzz_EuEu";

static long resident_pages(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long pages = 0;

	ck_assert_int_eq(fscanf(f, "%*d %ld", &pages), 1);
	fclose(f);
	return pages;
}

START_TEST(what_writes_nothing_is_left)
{
	struct demangler *d = demangler_new();
	char name[4096] = "_RC";
	struct demangle_cost cost = {0};
	char buf[256];
	long before;

	ck_assert_int_eq(bounded(d, silent), -ETIME);
	before = resident_pages();
	for (int i = 0; i < 50; i++)
		ck_assert_int_eq(bounded(d, silent), -ETIME);
	ck_assert_int_lt(resident_pages() - before, 64);
	demangler_charge(d, &cost);
	ck_assert_int_eq(demangle(d, "_Z3fooi", buf, sizeof(buf)), 1);
	ck_assert_str_eq(buf, "foo(int)");
	ck_assert_int_eq(demangle(d, "_RC10u4_bcherefu", buf, sizeof(buf)), 0);
	/* The decoded name of a crate is stored in an arena: short ones fit, longer ones do not. */
	ck_assert_int_eq(demangle(d, "_RCu8gdel_5qa", buf, sizeof(buf)), 1);
	ck_assert_str_eq(buf, "g\xc3\xb6"
			      "del");
	sprintf(name, "_RCu%d", 3000);
	memset(name + strlen(name), 'a', 3000);
	ck_assert_int_eq(bounded(d, name), -ETIME);
	demangler_free(d);
}
END_TEST

/* One file uses up its time, which does not affect other files. */
START_TEST(a_file_that_takes_too_much_is_left_alone)
{
	struct demangler *d = demangler_new();
	struct demangle_cost hostile = {0}, other = {0};
	double before = cpu_ms();
	char name[64], buf[256];

	demangler_charge(d, &hostile);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "_RMIC1aFGzzzzzzz%03d_EuEu", i);
		ck_assert_ptr_null(demangler_get(d, name));
		ck_assert(demangler_refused(d));
	}
	/* The bound is 100 ms with ticks of 4 ms; 1,000 names without a bound take 8 s. */
	ck_assert_double_lt(cpu_ms() - before, 2000);
	ck_assert_ptr_null(demangler_get(d, "_Z3fooi"));
	ck_assert(demangler_refused(d));
	demangler_charge(d, &other);
	ck_assert_str_eq(demangler_get(d, "_Z3fooi"), "foo(int)");
	ck_assert(!demangler_refused(d));
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "_Z4many%05dv", i);
		(void)demangle(d, name, buf, sizeof(buf));
	}
	ck_assert_ptr_null(demangler_get(d, "main"));
	ck_assert(!demangler_refused(d));
	demangler_free(d);
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
      long_names_are_bounded, doubling_is_cut, what_writes_nothing_is_left,
      a_file_that_takes_too_much_is_left_alone, the_cache_gives_what_it_was_given)
