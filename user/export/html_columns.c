// SPDX-License-Identifier: Apache-2.0
/* Encode columns of integers as text (html_columns.h). */
#include <errno.h>

#include "export/html_columns.h"

#define VARINT_BYTES 10 /* bytes of a 64-bit value, at most */

void html_column_put(struct html_column *c, uint64_t value)
{
	if (c->error || vector_reserve(&c->bytes, VARINT_BYTES) < 0) {
		c->error = -ENOMEM;
		return;
	}
	for (; value >= 0x80; value >>= 7)
		c->bytes.items[c->bytes.count++] = (uint8_t)(value | 0x80);
	c->bytes.items[c->bytes.count++] = (uint8_t)value;
}

void html_column_delta(struct html_column *c, uint64_t value)
{
	uint64_t difference = value - c->last;

	html_column_put(c, difference << 1 ^ -(difference >> 63));
	c->last = value;
}

/* Encode count bytes, 1 to 3, as four characters of base64, padded with '='. */
static void put_base64_group(const uint8_t *bytes, size_t count, char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = (uint32_t)bytes[0] << 16;

	if (count > 1)
		bits |= (uint32_t)bytes[1] << 8;
	if (count > 2)
		bits |= bytes[2];
	for (size_t i = 0; i < 4; i++)
		text[i] = i <= count ? digits[bits >> (18 - 6 * i) & 63] : '=';
}

char *html_base64(const uint8_t *bytes, size_t size)
{
	char *text = malloc(size / 3 * 4 + 5), *end = text;

	if (!text)
		return NULL;
	for (size_t i = 0; i < size; i += 3, end += 4)
		put_base64_group(bytes + i, size - i < 3 ? size - i : 3, end);
	*end = '\0';
	return text;
}

int html_column_end(struct html_column *c, struct json *j, const char *key)
{
	char *text = c->error ? NULL : html_base64(c->bytes.items, c->bytes.count);
	int ret = text ? 0 : -ENOMEM;

	if (text)
		json_key_text(j, key, text);
	free(text);
	vector_free(&c->bytes);
	return ret;
}
