// SPDX-License-Identifier: Apache-2.0
/*
 * Write JSON to a stream. Errors of the stream stick to the stream and are returned by json_end().
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/outfile.h"
#include "base/record.h"
#include "base/text.h"

void json_begin(struct json *j, FILE *out, bool indent)
{
	*j = (struct json){.out = out, .indent = indent, .first = true};
}

int json_end(struct json *j)
{
	fputc('\n', j->out);
	return outfile_flush(j->out, "JSON", NULL);
}

static void json_new_line(struct json *j)
{
	if (j->indent)
		fprintf(j->out, "\n%*s", (int)(2 * j->depth), "");
}

/* Write the separator between the next value or key and the previous one. */
static void json_separate(struct json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (!j->first)
		fputc(',', j->out);
	if (j->depth)
		json_new_line(j);
	j->first = false;
}

static void json_open_container(struct json *j, char bracket)
{
	json_separate(j);
	fputc(bracket, j->out);
	j->depth++;
	j->first = true;
}

static void json_close_container(struct json *j, char bracket)
{
	bool empty = j->first;

	j->depth--;
	if (!empty)
		json_new_line(j);
	fputc(bracket, j->out);
	j->first = false;
}

void json_object(struct json *j)
{
	json_open_container(j, '{');
}

void json_object_end(struct json *j)
{
	json_close_container(j, '}');
}

void json_array(struct json *j)
{
	json_open_container(j, '[');
}

void json_array_end(struct json *j)
{
	json_close_container(j, ']');
}

/* Return whether a byte is written as it is, as nearly all bytes of names are. */
static bool json_is_plain(char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

/* Write one character that is not plain; bytes is the UTF-8 of the character in the text. */
static void json_put_character(FILE *out, uint32_t c, const char *bytes, size_t size)
{
	if (c == '"' || c == '\\')
		fprintf(out, "\\%c", (char)c);
	else if (c == '\n')
		fputs("\\n", out);
	else if (c == '\t')
		fputs("\\t", out);
	else if (c <= 0x9f || c == 0x2028 || c == 0x2029 || c == 0xfffd)
		fprintf(out, "\\u%04" PRIx32, c);
	else
		fwrite(bytes, 1, size, out);
}

static void json_put_string(FILE *out, const char *text)
{
	fputc('"', out);
	while (*text) {
		const char *start = text;

		while (json_is_plain(*text))
			text++;
		fwrite(start, 1, (size_t)(text - start), out);
		if (*text) {
			uint32_t c;

			start = text;
			c = text_next(&text);
			json_put_character(out, c, start, (size_t)(text - start));
		}
	}
	fputc('"', out);
}

void json_key(struct json *j, const char *key)
{
	json_separate(j);
	json_put_string(j->out, key);
	fputs(j->indent ? ": " : ":", j->out);
	j->after_key = true;
}

void json_text(struct json *j, const char *text)
{
	json_separate(j);
	json_put_string(j->out, text ? text : "");
}

void json_uint(struct json *j, uint64_t value)
{
	json_separate(j);
	fprintf(j->out, "%" PRIu64, value);
}

void json_int(struct json *j, int64_t value)
{
	json_separate(j);
	fprintf(j->out, "%" PRId64, value);
}

void json_real(struct json *j, double value)
{
	char digits[32];

	if (!isfinite(value)) {
		json_null(j);
		return;
	}
	json_separate(j);
	/* 15 digits are short (0.1); 17 are always exact. */
	snprintf(digits, sizeof(digits), "%.15g", value);
	if (strtod(digits, NULL) != value)
		snprintf(digits, sizeof(digits), "%.17g", value);
	fputs(digits, j->out);
}

void json_decimal(struct json *j, int64_t value, unsigned int digits)
{
	uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value, unit = 1;

	for (unsigned int i = 0; i < digits; i++)
		unit *= 10;
	json_separate(j);
	fprintf(j->out, "%s%" PRIu64, value < 0 ? "-" : "", size / unit);
	if (digits)
		fprintf(j->out, ".%0*" PRIu64, (int)digits, size % unit);
}

void json_raw(struct json *j, const char *json)
{
	json_separate(j);
	fputs(json, j->out);
}

void json_bool(struct json *j, bool value)
{
	json_separate(j);
	fputs(value ? "true" : "false", j->out);
}

void json_null(struct json *j)
{
	json_separate(j);
	fputs("null", j->out);
}

void json_key_text(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_text(j, text);
}

void json_key_uint(struct json *j, const char *key, uint64_t value)
{
	json_key(j, key);
	json_uint(j, value);
}

void json_key_int(struct json *j, const char *key, int64_t value)
{
	json_key(j, key);
	json_int(j, value);
}

void json_key_real(struct json *j, const char *key, double value)
{
	json_key(j, key);
	json_real(j, value);
}

void json_key_field(struct json *j, const struct field *f, const void *record)
{
	if (f->type == FIELD_TEXT)
		json_key_text(j, f->name, field_text(f, record));
	else if (f->type == FIELD_SIGNED)
		json_key_int(j, f->name, (int64_t)field_int(f, record));
	else
		json_key_uint(j, f->name, field_int(f, record));
}
