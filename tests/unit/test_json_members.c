// SPDX-License-Identifier: Apache-2.0
/* Test the reader of flat JSON objects, which are hostile. */
#include <stdlib.h>
#include <string.h>

#include "base/json_members.h"
#include "suite.h"

/* Return the members as "name:type=text" joined by blanks; "!" at the end if the text is broken. */
static const char *members(const char *object)
{
	static const char types[] = "sirwn";
	static char text[4096];
	const char *at = object;
	struct json_member m;
	size_t used = 0;

	text[0] = '\0';
	while (json_member_next(&at, &m))
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s:%c=%s",
					 used ? " " : "", m.name, types[m.type], m.text);
	snprintf(text + used, sizeof(text) - used, "%s", *at == '}' && !at[1] ? "" : "!");
	return text;
}

START_TEST(all_types)
{
	ck_assert_str_eq(members("{}"), "");
	ck_assert_str_eq(members("{\"a\":\"x\",\"b\":-12,\"c\":1.5e3,\"d\":true,\"e\":null}"),
			 "a:s=x b:i=-12 c:r=1.5e3 d:w=true e:w=null");
	ck_assert_str_eq(members(" { \"a\" : 1 , \"b\" : [1,{\"]\":\"\\\"\"}] }"),
			 "a:i=1 b:n=[1,{\"]\":\"\\\"\"}]");
	ck_assert_str_eq(members("{\"a\":18446744073709551615,\"b\":18446744073709551616}"),
			 "a:i=18446744073709551615 b:r=18446744073709551616");
}
END_TEST

START_TEST(strings_are_decoded)
{
	ck_assert_str_eq(members("{\"a\\n\":\"\\u00e9\\ud83d\\ude00\\u0041\\\\\\/\"}"),
			 "a\n:s=\xc3\xa9\xf0\x9f\x98\x80"
			 "A\\/");
	/* no NUL and no half of a pair comes out */
	ck_assert_str_eq(members("{\"a\":\"x\\u0000y\\ud800z\\udc00\"}"),
			 "a:s=x\xef\xbf\xbdy\xef\xbf\xbdz\xef\xbf\xbd");
}
END_TEST

START_TEST(broken_texts_end)
{
	static const char *const broken[] = {
		"",
		"x",
		"{",
		"{\"",
		"{\"a",
		"{\"a\"",
		"{\"a\":",
		"{\"a\":\"x",
		"{\"a\":\"\\",
		"{\"a\":\"\\u1",
		"{\"a\":\"\\q\"}",
		"{\"a\":[",
		"{\"a\":[\"",
		"{\"a\":-",
		"{\"a\":nul}",
		"{\"a\" 1}",
		"{a:1}",
		"{\"a\":\"\\ud83d\\u",
	};

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		/* at the end of its memory, for AddressSanitizer */
		char *copy = strdup(broken[i]);

		ck_assert_str_eq(members(copy), "!");
		free(copy);
	}
	ck_assert_str_eq(members("{\"a\":1,\"b\":oops}"), "a:i=1!");
	ck_assert_str_eq(members("{\"a\":1e999}"), ""); /* no number, and no member */
}
END_TEST

START_TEST(long_texts_are_cut)
{
	char text[4096] = "{\"";
	struct json_member m;
	const char *at = text;

	memset(text + 2, 'n', 1000);
	strcpy(text + 1002, "\":\"");
	memset(text + 1005, 'v', 2000);
	strcpy(text + 3005, "\",\"b\":2}");
	ck_assert(json_member_next(&at, &m));
	ck_assert_uint_eq(strlen(m.name), sizeof(m.name) - 1);
	ck_assert_uint_eq(strlen(m.text), sizeof(m.text) - 1);
	ck_assert(json_member_find(text, "b", &m) && m.type == JSON_INT && m.value == 2);
	ck_assert(!json_member_find(text, "c", &m));
}
END_TEST

/* Any prefix of a text, and any byte changed, is read without harm. */
START_TEST(random_texts)
{
	static const char whole[] =
		"{\"a\":\"\\ud83d\\ude00\\\"\",\"b\":[1,{\"c\":\"]\"}],\"d\":-1.5e+3,\"e\":false}";

	srandom(1);
	for (int i = 0; i < 200000; i++) {
		size_t size = (size_t)random() % sizeof(whole);
		char *copy = strndup(whole, size);

		for (int n = 0; n < 3 && size; n++)
			copy[(size_t)random() % size] = whole[(size_t)random() % sizeof(whole)];
		members(copy);
		free(copy);
	}
}
END_TEST

SUITE("json members", all_types, strings_are_decoded, broken_texts_end, long_texts_are_cut,
      random_texts)
