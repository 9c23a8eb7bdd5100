// SPDX-License-Identifier: Apache-2.0
/* Escape text for XML 1.0. */
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "base/xml.h"

#define REPLACEMENT "\xef\xbf\xbd"

static const char *xml_escape_of(uint32_t c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	case 0xfffd: /* text_next() also returns U+FFFD for bytes that are not UTF-8 */
	case 0xfffe:
	case 0xffff:
		return REPLACEMENT;
	default:
		return c < 0x20 && c != '\t' && c != '\n' ? REPLACEMENT : NULL;
	}
}

/*
 * Return the bytes that stand for the next character in XML and store their number in *size; move
 * *text past the character.
 */
static const char *next_xml_bytes(const char **text, size_t *size)
{
	const char *from = *text;
	uint32_t c = text_next(text);
	const char *escape = c ? xml_escape_of(c) : "";

	*size = escape ? strlen(escape) : (size_t)(*text - from);
	return escape ? escape : from;
}

void xml_put(FILE *out, const char *text)
{
	while (*text) {
		size_t size;
		const char *bytes = next_xml_bytes(&text, &size);

		fwrite(bytes, 1, size, out);
	}
}

size_t xml_size(const char *text)
{
	size_t all = 0, size;

	while (*text) {
		next_xml_bytes(&text, &size);
		all += size;
	}
	return all;
}
