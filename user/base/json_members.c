// SPDX-License-Identifier: Apache-2.0
/* Read the members of one flat JSON object (json_members.h). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_members.h"

#define REPLACEMENT 0xfffd /* U+FFFD, for what is no character */
#define NUMBER_BYTES 64 /* longer numbers are refused */

static void skip_json_space(const char **at)
{
	*at += strspn(*at, " \t\r\n");
}

/* Append a character as UTF-8 if it fits together with a NUL; *used is the length so far. */
static void append_json_character(uint32_t c, char *buf, size_t size, size_t *used)
{
	char bytes[4];
	size_t count = 0;

	if (c < 0x80) {
		bytes[count++] = (char)c;
	} else if (c < 0x800) {
		bytes[count++] = (char)(0xc0 | c >> 6);
		bytes[count++] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		bytes[count++] = (char)(0xe0 | c >> 12);
		bytes[count++] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[count++] = (char)(0x80 | (c & 0x3f));
	} else {
		bytes[count++] = (char)(0xf0 | c >> 18);
		bytes[count++] = (char)(0x80 | (c >> 12 & 0x3f));
		bytes[count++] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[count++] = (char)(0x80 | (c & 0x3f));
	}
	if (*used + count >= size)
		return;
	memcpy(buf + *used, bytes, count);
	*used += count;
}

/* Read four hexadecimal digits. */
static bool read_json_unit(const char **at, uint32_t *out)
{
	*out = 0;
	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdefABCDEF";
		const char *digit = **at ? strchr(digits, **at) : NULL;
		uint32_t value = digit ? (uint32_t)(digit - digits) : 0;

		if (!digit)
			return false;
		*out = *out << 4 | (value < 16 ? value : value - 6);
		(*at)++;
	}
	return true;
}

/* Read what follows "\u"; two halves of a surrogate pair are one character. */
static bool read_json_escaped(const char **at, uint32_t *out)
{
	uint32_t low;

	if (!read_json_unit(at, out))
		return false;
	if (*out >= 0xd800 && *out < 0xdc00 && !strncmp(*at, "\\u", 2)) {
		*at += 2;
		if (!read_json_unit(at, &low))
			return false;
		*out = low >= 0xdc00 && low < 0xe000
			       ? 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00)
			       : REPLACEMENT;
	}
	if (!*out || (*out >= 0xd800 && *out < 0xe000))
		*out = REPLACEMENT;
	return true;
}

/* Read a string, whose quote is next, into buf. */
static bool read_json_string(const char **at, char *buf, size_t size)
{
	static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	size_t used = 0;
	uint32_t c;

	for ((*at)++; **at && **at != '"';) {
		char next = *(*at)++;
		const char *escape;

		if (next != '\\') {
			if (used + 1 < size)
				buf[used++] = next;
			continue;
		}
		if (!**at)
			return false;
		next = *(*at)++;
		escape = strchr(escapes, next);
		if (escape)
			c = (unsigned char)meanings[escape - escapes];
		else if (next != 'u' || !read_json_escaped(at, &c))
			return false;
		append_json_character(c, buf, size, &used);
	}
	buf[used] = '\0';
	if (!**at)
		return false;
	(*at)++;
	return true;
}

/* Read a number, of which at least one digit or a minus is next. */
static bool read_json_number(const char **at, struct json_member *out)
{
	size_t size = strspn(*at, "+-0123456789.eE");
	char *end, text[NUMBER_BYTES];

	if (size >= sizeof(text))
		return false;
	memcpy(text, *at, size);
	text[size] = '\0';
	*at += size;
	memcpy(out->text, text, size + 1);
	out->negative = *text == '-';
	out->real = strtod(text, &end);
	out->type = JSON_REAL;
	if (*end || !isfinite(out->real))
		return false;
	if (strpbrk(text, ".eE"))
		return true;
	errno = 0;
	out->value = out->negative ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
	if (!errno)
		out->type = JSON_INT;
	return true;
}

static bool read_json_word(const char **at, struct json_member *out)
{
	static const char *const words[] = {"true", "false", "null"};

	out->type = JSON_WORD;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t size = strlen(words[i]);

		if (strncmp(*at, words[i], size))
			continue;
		*at += size;
		memcpy(out->text, words[i], size + 1);
		return true;
	}
	return false;
}

/* Read an array or object up to its last bracket as it is; brackets in strings do not count. */
static bool read_json_nested(const char **at, struct json_member *out)
{
	const char *begin = *at;
	size_t depth = 0, size;
	bool quoted = false;

	out->type = JSON_NESTED;
	for (; **at; (*at)++) {
		if (quoted && **at == '\\' && (*at)[1])
			(*at)++;
		else if (**at == '"')
			quoted = !quoted;
		else if (!quoted && strchr("[{", **at))
			depth++;
		else if (!quoted && strchr("]}", **at) && !--depth)
			break;
	}
	if (!**at)
		return false;
	size = (size_t)(++(*at) - begin);
	size = size < sizeof(out->text) ? size : sizeof(out->text) - 1;
	memcpy(out->text, begin, size);
	out->text[size] = '\0';
	return true;
}

static bool read_json_value(const char **at, struct json_member *out)
{
	if (**at == '"') {
		out->type = JSON_TEXT;
		return read_json_string(at, out->text, sizeof(out->text));
	}
	if (**at == '-' || (**at >= '0' && **at <= '9'))
		return read_json_number(at, out);
	if (**at == '[' || **at == '{')
		return read_json_nested(at, out);
	return read_json_word(at, out);
}

bool json_member_next(const char **at, struct json_member *out)
{
	skip_json_space(at);
	if (**at != '{' && **at != ',')
		return false;
	(*at)++;
	skip_json_space(at);
	if (**at != '"' || !read_json_string(at, out->name, sizeof(out->name)))
		return false;
	skip_json_space(at);
	if (*(*at) != ':')
		return false;
	(*at)++;
	skip_json_space(at);
	return read_json_value(at, out);
}

bool json_member_find(const char *object, const char *name, struct json_member *out)
{
	while (json_member_next(&object, out))
		if (!strcmp(out->name, name))
			return true;
	return false;
}

void json_key_member(struct json *j, const struct json_member *m)
{
	json_key(j, m->name);
	if (m->type == JSON_INT && m->negative)
		json_int(j, (int64_t)m->value);
	else if (m->type == JSON_INT)
		json_uint(j, m->value);
	else if (m->type == JSON_REAL)
		json_real(j, m->real);
	else if (m->type == JSON_WORD && *m->text != 'n')
		json_bool(j, *m->text == 't');
	else if (m->type == JSON_WORD)
		json_null(j);
	else
		json_text(j, m->text);
}
