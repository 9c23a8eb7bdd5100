// SPDX-License-Identifier: Apache-2.0
/*
 * Texts of HotSpot. A Symbol has the bytes of a class file's CONSTANT_Utf8: UTF-8 in which NUL is
 * C0 80, and characters above U+FFFF are surrogates of 3 bytes each. Source: JVM Specification,
 * section 4.4.7.
 */
#include <string.h>

#include "symbolizers/hotspot_decode.h"

#define REPLACEMENT 0xfffd
#define CUT_MARK "\u2026"

struct symbol_text {
	const uint8_t *at, *end;
	bool invalid; /* some bytes are no character */
};

static bool is_continuation(const struct symbol_text *t, size_t index)
{
	return index < (size_t)(t->end - t->at) && (t->at[index] & 0xc0) == 0x80;
}

/* Return the next unit of UTF-16, or REPLACEMENT for a NUL or a byte that cannot begin one. */
static uint32_t next_unit(struct symbol_text *t)
{
	uint32_t c = *t->at;

	if (c < 0x80) {
		t->at++;
		t->invalid |= !c;
		return c ? c : REPLACEMENT;
	}
	if ((c & 0xe0) == 0xc0 && is_continuation(t, 1)) {
		c = (c & 0x1f) << 6 | (t->at[1] & 0x3f);
		t->at += 2;
		t->invalid |= c && c < 0x80;
		return c >= 0x80 ? c : REPLACEMENT;
	}
	if ((c & 0xf0) == 0xe0 && is_continuation(t, 1) && is_continuation(t, 2)) {
		c = (c & 0xf) << 12 | (uint32_t)(t->at[1] & 0x3f) << 6 | (t->at[2] & 0x3f);
		t->at += 3;
		t->invalid |= c < 0x800;
		return c >= 0x800 ? c : REPLACEMENT;
	}
	t->at++;
	t->invalid = true;
	return REPLACEMENT;
}

static uint32_t next_symbol_character(struct symbol_text *t)
{
	struct symbol_text after;
	uint32_t high = next_unit(t), low;

	if (high < 0xd800 || high > 0xdfff)
		return high;
	after = *t;
	low = high <= 0xdbff && after.at < after.end ? next_unit(&after) : 0;
	if (low < 0xdc00 || low > 0xdfff)
		return REPLACEMENT;
	*t = after;
	return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/* Write a character as UTF-8, and return its bytes. */
static size_t put_character(char to[4], uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

size_t hotspot_text_whole(const uint8_t *bytes, size_t size)
{
	size_t begin = size;

	while (begin && size - begin < 3 && (bytes[begin - 1] & 0xc0) == 0x80)
		begin--;
	if (begin && bytes[begin - 1] >= 0xc0)
		return begin - 1;
	return size;
}

bool hotspot_text_convert(char *to, size_t room, const uint8_t *bytes, size_t size)
{
	struct symbol_text t = {.at = bytes, .end = bytes + size};
	const size_t mark = sizeof(CUT_MARK);
	size_t used = 0, fits = 0, length;
	char character[4];

	while (t.at < t.end) {
		length = put_character(character, next_symbol_character(&t));
		if (used + length >= room) {
			memcpy(to + fits, CUT_MARK, mark);
			return !t.invalid;
		}
		memcpy(to + used, character, length);
		used += length;
		/* the longest part that leaves room for the mark */
		if (used + mark <= room)
			fits = used;
	}
	to[used] = '\0';
	return !t.invalid;
}

#define ADDRESS_DIGITS_MIN 8

/* Return the '+' before the address at the end of a hidden class's name; NULL: it has none. */
static char *find_address(char *name)
{
	char *plus = strrchr(name, '+');

	if (!plus)
		plus = strrchr(name, '/');
	if (!plus || strncmp(plus + 1, "0x", 2) != 0 || strlen(plus + 3) < ADDRESS_DIGITS_MIN ||
	    plus[3 + strspn(plus + 3, "0123456789abcdefABCDEF")])
		return NULL;
	return plus;
}

/* Remove the number of a class that a lambda expression has made: up to JDK 20, "$$Lambda$14". */
static void cut_lambda_number(char *name)
{
	static const char lambda[] = "$$Lambda$";
	char *number = strstr(name, lambda);

	if (!number)
		return;
	number += sizeof(lambda) - 1;
	if (*number && number[strspn(number, "0123456789")] == '\0')
		number[-1] = '\0';
}

void hotspot_class_shown(char *name)
{
	char *address = find_address(name);

	if (address) {
		*address = '\0';
		cut_lambda_number(name);
	}
	for (char *p = name; *p; p++) {
		if (*p == '/')
			*p = '.';
	}
}
