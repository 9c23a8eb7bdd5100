// SPDX-License-Identifier: Apache-2.0
/*
 * Make text fit to be shown. Nearly all names are plain ASCII, so every function first handles the
 * longest plain prefix, eight bytes at a time.
 */
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

#define REPLACEMENT 0xfffdu
#define ELLIPSIS "\xe2\x80\xa6"
#define ELLIPSIS_SIZE (sizeof(ELLIPSIS) - 1)

/* Return the number of bytes at the front of text that are printable ASCII. */
static size_t plain_length(const char *text, size_t length)
{
	const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
	size_t i = 0;

	for (; i + 8 <= length; i += 8) {
		uint64_t w, del;

		memcpy(&w, text + i, 8);
		del = w ^ (0x7f * ones);
		/* A top bit is set in w, or by a borrow from a byte below ' ' or from a DEL. */
		if ((w | (w - ' ' * ones) | (del - ones)) & tops)
			break;
	}
	while (i < length && text[i] >= ' ' && text[i] < 0x7f)
		i++;
	return i;
}

/*
 * Table 3-7 of the Unicode standard: the first byte determines how many bytes follow and between
 * which bounds the second byte lies; the other bytes are 80..bf.
 */
struct lead {
	uint8_t first, last; /* range of the first byte */
	uint8_t low, high; /* range of the second byte */
	uint8_t follow; /* number of bytes that follow */
	uint8_t bits; /* mask of the payload bits of the first byte */
};

static const struct lead leads[] = {
	{0xc2, 0xdf, 0x80, 0xbf, 1, 0x1f}, {0xe0, 0xe0, 0xa0, 0xbf, 2, 0x0f},
	{0xe1, 0xec, 0x80, 0xbf, 2, 0x0f}, {0xed, 0xed, 0x80, 0x9f, 2, 0x0f},
	{0xee, 0xef, 0x80, 0xbf, 2, 0x0f}, {0xf0, 0xf0, 0x90, 0xbf, 3, 0x07},
	{0xf1, 0xf3, 0x80, 0xbf, 3, 0x07}, {0xf4, 0xf4, 0x80, 0x8f, 3, 0x07},
};

static const struct lead *utf8_lead_of(uint8_t byte)
{
	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		if (byte >= leads[i].first && byte <= leads[i].last)
			return &leads[i];
	return NULL;
}

uint32_t text_next(const char **text)
{
	const uint8_t *s = (const uint8_t *)*text;
	const struct lead *lead;
	uint32_t c = *s;

	if (c < 0x80) {
		*text += c != 0;
		return c;
	}
	lead = utf8_lead_of(*s++);
	c = lead ? c & lead->bits : REPLACEMENT;
	for (unsigned int i = 0; lead && i < lead->follow; i++, s++) {
		uint8_t low = i ? 0x80 : lead->low, high = i ? 0xbf : lead->high;

		if (*s < low || *s > high) {
			c = REPLACEMENT;
			break;
		}
		c = c << 6 | (*s & 0x3f);
	}
	*text = (const char *)s;
	return c;
}

/* Encode c as UTF-8 in out; return the size, 1 to 4 bytes. */
static size_t encode_utf8(uint32_t c, char out[static 4])
{
	size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (size == 1) {
		out[0] = (char)c;
		return 1;
	}
	for (size_t i = size - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(0xf00u >> size | c);
	return size;
}

static uint32_t replace_unsafe(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c <= 0x9f))
		return '?';
	if ((c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
		return REPLACEMENT;
	return c;
}

/* The general case of text_clean(): parts of the text are not plain, or it must be cut. */
static void text_clean_slowly(const char *text, char *buf, size_t size)
{
	size_t used = 0, cut = 0; /* cut: last end of a character that leaves room for U+2026 */
	uint32_t c;

	while ((c = text_next(&text))) {
		char bytes[4];
		size_t n = encode_utf8(replace_unsafe(c), bytes);

		if (used + n >= size) {
			used = cut;
			if (size > ELLIPSIS_SIZE)
				used += (size_t)(stpcpy(buf + cut, ELLIPSIS) - (buf + cut));
			break;
		}
		memcpy(buf + used, bytes, n);
		used += n;
		if (used + ELLIPSIS_SIZE < size)
			cut = used;
	}
	buf[used] = '\0';
}

char *text_clean(const char *text, char *buf, size_t size)
{
	size_t length = strnlen(text, size);

	if (length < size && plain_length(text, length) == length) {
		memcpy(buf, text, length);
		buf[length] = '\0';
	} else if (size) {
		text_clean_slowly(text, buf, size);
	}
	return buf;
}

char *text_clean_but(const char *text, const char *reject, char replacement, char *buf, size_t size)
{
	text_clean(text, buf, size);
	for (char *p = buf; size && (p = strpbrk(p, reject)); p++)
		*p = replacement;
	return buf;
}

size_t text_utf8(const char *text, char *buf, size_t size)
{
	size_t length = strlen(text), used = plain_length(text, length);

	if (used && used <= size)
		memcpy(buf, text, used);
	text += used;
	for (uint32_t c; (c = text_next(&text));) {
		char bytes[4];
		size_t n = encode_utf8(c, bytes);

		if (used + n <= size)
			memcpy(buf + used, bytes, n);
		used += n;
	}
	return used;
}

struct range {
	uint32_t first, last;
};

static bool in_ranges(uint32_t c, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

#define IN(c, ranges) in_ranges(c, ranges, sizeof(ranges) / sizeof((ranges)[0]))

/*
 * Return the columns of a character by the blocks of Unicode, which is enough for names in tables.
 * wcwidth() depends on the locale, which a profiler run by sudo or a service does not have.
 */
static unsigned int character_columns(uint32_t c)
{
	static const struct range none[] = {
		{0x300, 0x36f},	  {0x483, 0x489},     {0x591, 0x5bd},	{0x610, 0x61a},
		{0x64b, 0x65f},	  {0x1ab0, 0x1aff},   {0x1dc0, 0x1dff}, {0x200b, 0x200f},
		{0x2060, 0x2064}, {0x20d0, 0x20ff},   {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
		{0xfeff, 0xfeff}, {0xe0000, 0xe01ef},
	};
	static const struct range wide[] = {
		{0x1100, 0x115f},   {0x2e80, 0x303e},	{0x3041, 0xa4cf},   {0xac00, 0xd7a3},
		{0xf900, 0xfaff},   {0xfe30, 0xfe6f},	{0xff00, 0xff60},   {0xffe0, 0xffe6},
		{0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
	};

	if (c < 0x300)
		return 1;
	return IN(c, none) ? 0 : IN(c, wide) ? 2 : 1;
}

unsigned int text_width(const char *text)
{
	unsigned int columns = 0;
	uint32_t c;

	while ((c = text_next(&text)))
		columns += character_columns(c);
	return columns;
}

/* Return the end of the longest prefix of text that fits into columns and bytes. */
static const char *text_fit_front(const char *text, unsigned int columns, size_t bytes)
{
	const char *start = text, *next = text;
	unsigned int used = 0;
	uint32_t c;

	while ((c = text_next(&next))) {
		used += character_columns(c);
		if (used > columns || (size_t)(next - start) > bytes)
			break;
		text = next;
	}
	return text;
}

/* Return the start of the longest suffix of text that fits into columns and bytes. */
static const char *text_fit_back(const char *text, unsigned int columns, size_t bytes)
{
	unsigned int left = text_width(text);
	const char *end = text + strlen(text);

	while (*text) {
		const char *next = text;
		unsigned int width = character_columns(text_next(&next));

		/* A combining accent whose letter was cut off is cut off, too. */
		if (left <= columns && (size_t)(end - text) <= bytes && width)
			break;
		left -= width;
		text = next;
	}
	return text;
}

char *text_fit(const char *text, unsigned int columns, bool keep_tail, char *buf, size_t size)
{
	size_t length = strlen(text);
	size_t room = size > ELLIPSIS_SIZE ? size - 1 - ELLIPSIS_SIZE : 0;

	if (length < size && text_width(text) <= columns)
		memcpy(buf, text, length + 1);
	else if (!columns || size <= ELLIPSIS_SIZE)
		memcpy(buf, "", size ? 1 : 0);
	else if (keep_tail)
		snprintf(buf, size, ELLIPSIS "%s", text_fit_back(text, columns - 1, room));
	else
		snprintf(buf, size, "%.*s" ELLIPSIS,
			 (int)(text_fit_front(text, columns - 1, room) - text), text);
	return buf;
}

size_t text_append(char *buf, size_t size, size_t used, const char *format, ...)
{
	va_list args;
	int added;

	if (used + 1 >= size)
		return used;
	va_start(args, format);
	added = vsnprintf(buf + used, size - used, format, args);
	va_end(args);
	if (added < 0)
		return used;
	return (size_t)added < size - used ? used + (size_t)added : size - 1;
}
