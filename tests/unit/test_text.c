// SPDX-License-Identifier: Apache-2.0
/* text.c against a decoder written another way: by arithmetic and by trying, not by a table. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "suite.h"

#define FFFD "\xef\xbf\xbd"
#define DOTS "\xe2\x80\xa6"

/* Bytes next to which the rules of UTF-8 change. */
static const uint8_t edges[] = {0x01, 0x1f, 0x20, 0x41, 0x7e, 0x7f, 0x80, 0x81, 0x8f, 0x90, 0x9f,
				0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
				0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xfc, 0xfe, 0xff};
#define EDGES (sizeof(edges))

/* The character that exactly these bytes are, or -1. */
static int32_t whole(const uint8_t *s, size_t n)
{
	static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	int32_t c = n == 1 ? s[0] : s[0] & (0x7f >> n);

	if (n == 1)
		return c < 0x80 ? c : -1;
	if ((uint8_t)(s[0] << n) >> 7 || (uint8_t)~s[0] >> (8 - n))
		return -1;
	for (size_t i = 1; i < n; i++) {
		if (s[i] >> 6 != 2)
			return -1;
		c = c * 64 + s[i] % 64;
	}
	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? -1 : c;
}

/* Whether some character of n bytes begins with the k bytes at s. */
static bool begins(const uint8_t *s, size_t k, size_t n)
{
	static const uint8_t follow[] = {0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf};
	uint8_t t[4];

	memcpy(t, s, k);
	for (size_t i = 0; i < sizeof(follow); i++) {
		memset(t + k, 0x80, 4 - k);
		t[k] = follow[i];
		if (whole(t, n) >= 0)
			return true;
	}
	return false;
}

static uint32_t reference_next(const char **text)
{
	const uint8_t *s = (const uint8_t *)*text;
	size_t length = strnlen(*text, 4), part = 1;

	for (size_t n = 1; n <= length; n++) {
		int32_t c = whole(s, n);

		if (c >= 0) {
			*text += n;
			return (uint32_t)c;
		}
	}
	for (size_t n = 2; n <= 4; n++)
		for (size_t k = 1; k < n && k <= length; k++)
			if (k > part && begins(s, k, n))
				part = k;
	*text += part;
	return 0xfffd;
}

static void check_same(const char *text)
{
	const char *a = text, *b = text;

	while (*a) {
		uint32_t expected = reference_next(&a), got = text_next(&b);

		if (a != b || expected != got)
			ck_abort_msg("%02x %02x %02x %02x: U+%04x, expected U+%04x",
				     (uint8_t)text[0], (uint8_t)text[1], (uint8_t)text[2],
				     (uint8_t)text[3], got, expected);
	}
}

START_TEST(decodes_every_pair_of_bytes)
{
	char text[5] = "";

	for (int a = 1; a < 256; a++)
		for (int b = 0; b < 256; b++)
			for (size_t c = 0; c < EDGES; c++) {
				text[0] = (char)a;
				text[1] = (char)b;
				text[2] = (char)edges[c];
				check_same(text);
			}
}
END_TEST

START_TEST(decodes_four_bytes_at_the_edges)
{
	char text[5] = "";

	for (size_t i = 0; i < EDGES * EDGES * EDGES * EDGES; i++) {
		size_t n = i;

		for (int k = 0; k < 4; k++, n /= EDGES)
			text[k] = (char)edges[n % EDGES];
		check_same(text);
	}
}
END_TEST

static size_t encode(uint32_t c, char *out)
{
	if (c < 0x80)
		return (size_t)(sprintf(out, "%c", c));
	if (c < 0x800)
		return (size_t)sprintf(out, "%c%c", 0xc0 + c / 64, 0x80 + c % 64);
	if (c < 0x10000)
		return (size_t)sprintf(out, "%c%c%c", 0xe0 + c / 4096, 0x80 + c / 64 % 64,
				       0x80 + c % 64);
	return (size_t)sprintf(out, "%c%c%c%c", 0xf0 + c / 262144, 0x80 + c / 4096 % 64,
			       0x80 + c / 64 % 64, 0x80 + c % 64);
}

START_TEST(every_character_passes_or_is_replaced_as_promised)
{
	for (uint32_t c = 1; c <= 0x10ffff; c++) {
		char in[8], out[8], same[8] = "";
		const char *expected = in, *p = in;
		size_t size;

		if (c >= 0xd800 && c <= 0xdfff)
			continue;
		size = encode(c, in);
		ck_assert_uint_eq(text_next(&p), c);
		ck_assert_uint_eq(text_utf8(in, same, sizeof(same)), size);
		ck_assert_mem_eq(in, same, size);
		if (c < 0x20 || (c >= 0x7f && c <= 0x9f))
			expected = "?";
		else if ((c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
			expected = FFFD;
		ck_assert_str_eq(text_clean(in, out, sizeof(out)), expected);
	}
}
END_TEST

/* The fast path takes eight bytes at a time: every byte at every place in and beside them. */
START_TEST(a_bad_byte_is_found_wherever_it_stands)
{
	for (size_t at = 0; at < 20; at++)
		for (int byte = 1; byte < 256; byte++) {
			char in[32] = "abcdefghijklmnopqrst", out[64], expected[64];

			in[at] = (char)byte;
			sprintf(expected, "%.*s%s%s", (int)at, in,
				byte >= 0x80		      ? FFFD
				: byte < 0x20 || byte == 0x7f ? "?"
							      : (char[]){(char)byte, 0},
				in + at + 1);
			ck_assert_str_eq(text_clean(in, out, sizeof(out)), expected);
		}
}
END_TEST

static bool valid(const char *text)
{
	while (*text) {
		const char *before = text;

		if (reference_next(&text) == 0xfffd && strncmp(before, FFFD, 3) != 0)
			return false;
	}
	return true;
}

/* Clean text into every size of buffer; the sanitizer watches the buffer's end. */
static void check_cuts(const char *in)
{
	char full[256];

	text_clean(in, full, sizeof(full));
	for (size_t size = 1; size <= strlen(full) + 2; size++) {
		char *buf = malloc(size);
		size_t length = strlen(text_clean(in, buf, size));

		ck_assert_uint_lt(length, size);
		ck_assert(valid(buf));
		if (size > strlen(full)) {
			ck_assert_str_eq(buf, full);
		} else if (size > 3) {
			ck_assert_uint_ge(length, 3);
			ck_assert_str_eq(buf + length - 3, DOTS);
			ck_assert_mem_eq(buf, full, length - 3);
			/* no more is cut than must be: the next character is what does not fit */
			ck_assert_uint_ge(length + 4, size);
		}
		free(buf);
	}
}

START_TEST(cutting_never_breaks_a_character)
{
	check_cuts("plain text that is longer than eight");
	check_cuts("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z\xf0\x9f\x98\x80\xe2\x82\xac\xc3\xa4");
	check_cuts("\xff\xff\xff\xff\xff");
	check_cuts("\xf0\x9f\x98");
	check_cuts("\n\n\n\n\n");
	check_cuts("");
}
END_TEST

START_TEST(random_bytes_come_out_valid)
{
	srand(7);
	for (int round = 0; round < 20000; round++) {
		char in[24];
		size_t n = (size_t)rand() % sizeof(in);

		for (size_t i = 0; i < n; i++)
			in[i] = (char)(rand() % 4 ? edges[(size_t)rand() % EDGES]
						  : 1 + rand() % 255);
		in[n] = '\0';
		if (round % 20 == 0)
			check_cuts(in);
		else {
			char out[128];

			ck_assert(valid(text_clean(in, out, sizeof(out))));
		}
	}
}
END_TEST

START_TEST(rejected_bytes_are_replaced)
{
	char buf[64];

	ck_assert_str_eq(text_clean_but("a;b c;;\n", "; ", '_', buf, sizeof(buf)), "a_b_c__?");
	ck_assert_str_eq(text_clean_but("a\xc3\xa4;", ";", ',', buf, sizeof(buf)), "a\xc3\xa4,");
	ck_assert_str_eq(text_clean_but("abc", "", '_', buf, sizeof(buf)), "abc");
	ck_assert_str_eq(text_clean_but(";;;;;;", ";", '_', buf, 5), "_" DOTS);
	buf[0] = 'x';
	text_clean_but(";", ";", '_', buf, 0);
	ck_assert_int_eq(buf[0], 'x');
}
END_TEST

START_TEST(utf8_tells_its_size_and_keeps_to_it)
{
	const char *in = "abcdefghi\xff\n\xe2\x80\xaexyz";
	const char *out = "abcdefghi" FFFD "\n\xe2\x80\xaexyz";
	size_t size = text_utf8(in, NULL, 0);

	ck_assert_uint_eq(size, strlen(out));
	for (size_t room = 0; room <= size; room++) {
		char *buf = malloc(room + 1);

		buf[room] = '!';
		ck_assert_uint_eq(text_utf8(in, buf, room), size);
		ck_assert_int_eq(buf[room], '!');
		if (room == size)
			ck_assert_mem_eq(buf, out, size);
		free(buf);
	}
	ck_assert_uint_eq(text_utf8("", NULL, 0), 0);
}
END_TEST

START_TEST(width_counts_columns)
{
	ck_assert_uint_eq(text_width(""), 0);
	ck_assert_uint_eq(text_width("abc"), 3);
	ck_assert_uint_eq(text_width("\xc3\xa4" DOTS), 2);
	ck_assert_uint_eq(text_width("e\xcc\x81"), 1); /* with a combining accent */
	ck_assert_uint_eq(text_width("\xe6\xbc\xa2\xe5\xad\x97"), 4);
	ck_assert_uint_eq(text_width("\xf0\x9f\x98\x80"), 2);
}
END_TEST

START_TEST(fit_keeps_to_columns_and_bytes)
{
	const char *texts[] = {"", "a", "std::vector<int>::push_back",
			       "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97",
			       "e\xcc\x81"
			       "e\xcc\x81"
			       "e\xcc\x81"
			       "e\xcc\x81"};

	for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++)
		for (unsigned int columns = 0; columns < 32; columns++)
			for (size_t size = 0; size < 40; size++)
				for (int tail = 0; tail < 2; tail++) {
					char *buf = malloc(size ? size : 1);

					ck_assert_ptr_eq(
						text_fit(texts[t], columns, tail, buf, size), buf);
					if (size) {
						ck_assert_uint_lt(strlen(buf), size);
						ck_assert_uint_le(text_width(buf), columns);
						ck_assert(valid(buf));
					}
					free(buf);
				}
}
END_TEST

START_TEST(fit_cuts_where_it_is_told)
{
	char buf[32];

	ck_assert_str_eq(text_fit("abcdef", 6, false, buf, sizeof(buf)), "abcdef");
	ck_assert_str_eq(text_fit("abcdef", 4, false, buf, sizeof(buf)), "abc" DOTS);
	ck_assert_str_eq(text_fit("abcdef", 4, true, buf, sizeof(buf)), DOTS "def");
	ck_assert_str_eq(text_fit("abcdef", 1, true, buf, sizeof(buf)), DOTS);
	ck_assert_str_eq(text_fit("abcdef", 6, false, buf, 6), "ab" DOTS);
	ck_assert_str_eq(text_fit("abcdef", 6, true, buf, 6), DOTS "ef");
	/* the accent of a letter that was cut off does not hang on the dots */
	ck_assert_str_eq(text_fit("abe\xcc\x81"
				  "cd",
				  3, true, buf, sizeof(buf)),
			 DOTS "cd");
}
END_TEST

START_TEST(appends_up_to_the_end)
{
	char buf[12];
	size_t used;

	memset(buf, 'x', sizeof(buf));
	used = text_append(buf, 10, 0, "%d", 123);
	ck_assert_uint_eq(used, 3);
	used = text_append(buf, 10, used, "%s", "456");
	ck_assert_str_eq(buf, "123456");
	used = text_append(buf, 10, used, "%s", "789012");
	ck_assert_uint_eq(used, 9);
	ck_assert_str_eq(buf, "123456789");
	for (int i = 0; i < 3; i++)
		used = text_append(buf, 10, used, "%s", "more");
	ck_assert_uint_eq(used, 9);
	ck_assert_str_eq(buf, "123456789");
	ck_assert_int_eq(buf[10], 'x');
}
END_TEST

SUITE("text", appends_up_to_the_end, decodes_every_pair_of_bytes, decodes_four_bytes_at_the_edges,
      every_character_passes_or_is_replaced_as_promised, a_bad_byte_is_found_wherever_it_stands,
      cutting_never_breaks_a_character, random_bytes_come_out_valid, rejected_bytes_are_replaced,
      utf8_tells_its_size_and_keeps_to_it, width_counts_columns, fit_keeps_to_columns_and_bytes,
      fit_cuts_where_it_is_told)
