// SPDX-License-Identifier: Apache-2.0
/* Scopes, lines and texts of HotSpot: valid ones, and those that never end. */
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "symbolizers/hotspot_decode.h"

START_TEST(class_names_have_no_addresses)
{
	static const char *const names[][2] = {
		{"java/util/HashMap$Node", "java.util.HashMap$Node"},
		{"Main$$Lambda$14+0x00000008000c1000", "Main$$Lambda"},
		{"a/Main$$Lambda+0x00007f0000c00800", "a.Main$$Lambda"},
		{"java/lang/invoke/LambdaForm$MH+0x00000008000c1000",
		 "java.lang.invoke.LambdaForm$MH"},
		{"a/Main$$Lambda$14", "a.Main$$Lambda$14"},
		{"a/Sum+0x12", "a.Sum+0x12"},
		{"a/Sum+0x1234567g", "a.Sum+0x1234567g"},
	};
	char name[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		strcpy(name, names[i][0]);
		hotspot_class_shown(name);
		ck_assert_str_eq(name, names[i][1]);
	}
}
END_TEST

START_TEST(modified_utf8_becomes_utf8)
{
	static const char symbol[] = "gr\xc3\xbc\xc3\x9f_\xed\xa0\xb5\xed\xb2\xb3\xc0\x80";
	char text[64], small[9];

	ck_assert(hotspot_text_convert(text, sizeof(text), (const uint8_t *)symbol,
				       sizeof(symbol) - 1));
	ck_assert_str_eq(text, "grüß_\U0001d4b3\ufffd");
	ck_assert(hotspot_text_convert(small, sizeof(small), (const uint8_t *)symbol,
				       sizeof(symbol) - 1));
	ck_assert_str_eq(small, "grü\u2026");
	ck_assert(!hotspot_text_convert(text, sizeof(text), (const uint8_t *)"a\xff", 2));
	ck_assert_str_eq(text, "a\ufffd");
	/* two bytes for 'a', three for U+00FF */
	ck_assert(!hotspot_text_convert(text, sizeof(text), (const uint8_t *)"\xc1\xa1", 2));
	ck_assert(!hotspot_text_convert(text, sizeof(text), (const uint8_t *)"\xe0\x83\xbf", 3));
}
END_TEST

/* Of a name that is cut, the part of a character at its end is left out, and nothing else. */
START_TEST(cut_names_end_with_a_character)
{
	const uint8_t text[] = "ab\xc3\xbc\xed\xa0\xb5";

	ck_assert_uint_eq(hotspot_text_whole(text, 2), 2);
	ck_assert_uint_eq(hotspot_text_whole(text, 3), 2);
	ck_assert_uint_eq(hotspot_text_whole(text, 5), 4);
	ck_assert_uint_eq(hotspot_text_whole(text, 6), 4);
	ck_assert_uint_eq(hotspot_text_whole((const uint8_t *)"\x80\x80\x80\x80", 4), 4);
	ck_assert_uint_eq(hotspot_text_whole(text, 0), 0);
}
END_TEST

START_TEST(a_million_senders_end)
{
	const size_t size = 8u << 20;
	struct hotspot_stream s = {.size = size, .integers = HOTSPOT_INTEGERS_PLAIN};
	struct hotspot_scope scopes[HOTSPOT_FRAMES_MAX];
	uint8_t *bytes = malloc(size);

	/* each scope's caller is the one 7 bytes before: 5 bytes of sender, method, bci */
	for (uint32_t at = 7; at + 7 <= size; at += 7) {
		uint32_t rest = at - 7;

		for (int i = 0; i < 4; i++) {
			bytes[at + i] = (uint8_t)(192 + (rest - 192) % 64);
			rest = (rest - bytes[at + i]) / 64;
		}
		bytes[at + 4] = (uint8_t)rest;
		bytes[at + 5] = bytes[at + 6] = 1;
	}
	s.bytes = bytes;
	ck_assert_uint_eq(hotspot_scopes_decode(scopes, &s, 7 * 1000000), 0);
	/* a scope that is its own caller */
	bytes[1] = 1;
	bytes[2] = bytes[3] = 1;
	ck_assert_uint_eq(hotspot_scopes_decode(scopes, &s, 1), 0);
	bytes[1] = 0;
	ck_assert_uint_eq(hotspot_scopes_decode(scopes, &s, 1), 1);
	ck_assert_uint_eq(hotspot_scopes_decode(scopes, &s, UINT32_MAX), 0);
	free(bytes);
}
END_TEST

START_TEST(lines_are_those_of_stack_traces)
{
	/* not sorted, and bci 4 twice: the first counts */
	static const struct hotspot_line lines[] = {{0, 10}, {8, 30}, {4, 20}, {4, 21}};
	static const struct {
		int32_t bci;
		uint32_t line;
	} wanted[] = {{-1, 10}, {0, 10}, {3, 10}, {4, 20}, {5, 21}, {8, 30}, {100, 30}};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		ck_assert_uint_eq(hotspot_line_of(lines, 4, wanted[i].bci), wanted[i].line);
	ck_assert_uint_eq(hotspot_line_of(NULL, 0, 3), 0);
}
END_TEST

SUITE("hotspot_decode", class_names_have_no_addresses, modified_utf8_becomes_utf8,
      cut_names_end_with_a_character, a_million_senders_end, lines_are_those_of_stack_traces)
