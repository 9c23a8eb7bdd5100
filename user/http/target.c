// SPDX-License-Identifier: Apache-2.0
/* Take the target of a request apart (target.h). */
#include "http/target.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const struct http_refusal too_long = {.status = 414, .text = "the target is too long"},
				 bad_byte = {.status = 400, .text = "a wrong byte in the target"},
				 bad_query = {.status = 400, .text = "the query cannot be decoded"},
				 repeated_name = {.status = 400, .text = "a parameter came twice"},
				 too_many = {.status = 400, .text = "too many parameters"};

static int percent_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode in place. Return whether the result is UTF-8 without control characters. */
static bool decode_text(char *text)
{
	const char *in = text, *checked = text;
	char *out = text;
	uint32_t c;

	while ((c = (unsigned char)*in++)) {
		if (c == '+') {
			c = ' ';
		} else if (c == '%') {
			int high = percent_digit(*in), low = high < 0 ? -1 : percent_digit(in[1]);

			if (low < 0)
				return false;
			c = (uint32_t)(high << 4 | low);
			in += 2;
		}
		if (c < 0x20 || c == 0x7f)
			return false;
		*out++ = (char)c;
	}
	*out = '\0';
	while ((c = text_next(&checked)))
		if (c == 0xfffd || (c >= 0x80 && c < 0xa0)) /* invalid, or a control of C1 */
			return false;
	return true;
}

static const struct http_refusal *add_parameter(struct http_target *t, char *name)
{
	char *value = strchr(name, '=');

	if (value)
		*value++ = '\0';
	else
		value = name + strlen(name);
	if (!decode_text(name) || !decode_text(value) || !*name)
		return &bad_query;
	if (http_target_find(t, name))
		return &repeated_name;
	if (t->count == HTTP_PARAMETERS_MAX)
		return &too_many;
	t->parameters[t->count++] = (struct http_parameter){name, value};
	return NULL;
}

const struct http_refusal *http_target_parse(struct http_target *t, const char *target)
{
	const struct http_refusal *refused = NULL;
	size_t length = strnlen(target, HTTP_TARGET_MAX + 1);
	char *query;

	t->count = 0;
	if (length > HTTP_TARGET_MAX)
		return &too_long;
	memcpy(t->text, target, length + 1);
	for (const char *c = t->text; *c; c++)
		if (*c <= ' ' || *c > '~') /* bytes over 0x7f are negative */
			return &bad_byte;
	if (t->text[0] != '/')
		return &bad_byte;
	query = t->text;
	strsep(&query, "?");
	while (query && *query && !refused)
		refused = add_parameter(t, strsep(&query, "&"));
	return refused;
}

const char *http_target_find(const struct http_target *t, const char *name)
{
	for (unsigned int i = 0; i < t->count; i++)
		if (strcmp(t->parameters[i].name, name) == 0)
			return t->parameters[i].value;
	return NULL;
}

/* strtoull() accepts blanks and signs, and options' numbers (base/options.h) have units. */
int http_number_parse(const char *text, uint64_t *value)
{
	unsigned long long number;

	if (!*text || text[strspn(text, "0123456789")])
		return -EINVAL;
	errno = 0;
	number = strtoull(text, NULL, 10);
	if (errno)
		return -ERANGE;
	*value = number;
	return 0;
}
