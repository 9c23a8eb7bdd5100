// SPDX-License-Identifier: Apache-2.0
/* Test the search in names by the plain part of regular expressions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "suite.h"

static const struct {
	const char *text, *name;
	bool matches;
} searches[] = {
	{"loop", "main_loop_end", true},
	{"loop", "Main::LOOP", true},
	{"Loop", "main::loop", false},
	{"Loop", "EventLoop", true},
	{"^loop", "loop_end", true},
	{"^loop", "main_loop", false},
	{"loop$", "main_loop", true},
	{"loop$", "loop_end", false},
	{"^loop$", "loop", true},
	{"^loop$", "loops", false},
	{"a.c", "xabcx", true},
	{"a.c", "ac", false},
	{"a\\.c", "abc", false},
	{"a\\.c", "a.c", true},
	{"f\\(int\\)", "f(int)", true},
	{"x|main", "the main", true},
	{"x|^main", "the main", false},
	{"^a|b$", "cb", true},
	{"^a|b$", "ca", false},
	{"fo.d",
	 "fo\xc3\xb6"
	 "d",
	 true}, /* one character of two bytes */
	{"a/b", "a/b", true},
	{"a\\/b", "a/b", true},
	{"-<>&;\"'", "x-<>&;\"'", true},
	{"a", "", false},
	{"aab", "aaab", true}, /* a begin that matches in part is no match in whole */
	{".", "\xff", true},
	{"...", "ab", false},
};

START_TEST(finds)
{
	for (size_t i = 0; i < sizeof(searches) / sizeof(searches[0]); i++) {
		struct pattern p;

		ck_assert_int_eq(pattern_parse(&p, searches[i].text), 0);
		ck_assert_msg(pattern_matches(&p, searches[i].name) == searches[i].matches,
			      "%s in %s", searches[i].text, searches[i].name);
	}
}
END_TEST

START_TEST(refuses)
{
	static const char *const wrong[] = {"",	   "a*",  "a+",	 "a?",	"(a",  "a)",   "[a]",
					    "a]",  "a{2", "a}",	 "|",	"a|",  "|a",   "a||b",
					    "^",   "$",	  "^$",	 "a^b", "a$b", "\\",   "\\d",
					    "\\n", "a|^", "a|$", "^^a", "a$$", "a\\x", "a|^$"};
	struct pattern p, before;

	ck_assert_int_eq(pattern_parse(&p, "kept"), 0);
	before = p;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_msg(pattern_parse(&p, wrong[i]) == -EINVAL, "%s", wrong[i]);
		ck_assert_mem_eq(&p, &before, sizeof(p));
	}
}
END_TEST

START_TEST(length)
{
	char text[PATTERN_LENGTH_MAX + 2], name[100000];
	struct pattern p;

	memset(text, 'a', sizeof(text));
	text[PATTERN_LENGTH_MAX + 1] = '\0';
	ck_assert_int_eq(pattern_parse(&p, text), -EINVAL);
	text[PATTERN_LENGTH_MAX] = '\0';
	ck_assert_int_eq(pattern_parse(&p, text), 0);
	ck_assert(pattern_matches(&p, text));
	/* the worst there is: each place matches up to the last sign */
	text[PATTERN_LENGTH_MAX - 1] = 'b';
	ck_assert_int_eq(pattern_parse(&p, text), 0);
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	ck_assert(!pattern_matches(&p, name));
	name[sizeof(name) - 2] = 'b';
	ck_assert(pattern_matches(&p, name));
}
END_TEST

SUITE("pattern", finds, refuses, length)
