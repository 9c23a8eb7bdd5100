// SPDX-License-Identifier: Apache-2.0
/* Parse numbers with units, which are the arguments of options. */
#include <errno.h>
#include <string.h>

#include "base/options.h"

struct quantity_suffix {
	const char *text;
	uint64_t factor;
};

#define DIGITS "0123456789"

/*
 * Multiply the number text[0..length) by factor. The product is rounded down to a whole number
 * (0.3333K), but a fraction of a unit with factor 1 is an error (0.5 ns).
 */
static int scale_decimal(const char *text, size_t length, uint64_t factor, uint64_t *out)
{
	unsigned __int128 value = 0, divisor = 1;
	bool in_fraction = false;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '.') {
			in_fraction = true;
			continue;
		}
		/*
		 * 9 digits of a fraction are enough for nanoseconds of a second; ignore the others.
		 */
		if (in_fraction && divisor >= 1000000000)
			continue;
		value = value * 10 + (unsigned int)(text[i] - '0');
		if (in_fraction)
			divisor *= 10;
		if (value / divisor > UINT64_MAX)
			return -ERANGE;
	}
	if (in_fraction && factor == 1)
		return -EINVAL;
	/*
	 * Multiply the whole part and the fraction separately, because one product may exceed 128
	 * bits.
	 */
	value = value / divisor * factor + value % divisor * factor / divisor;
	if (value > UINT64_MAX)
		return -ERANGE;
	*out = (uint64_t)value;
	return 0;
}

static int parse_quantity(const char *text, const struct quantity_suffix *suffixes,
			  const char *expected, uint64_t *out, struct error *err)
{
	size_t length = strspn(text, DIGITS);
	int ret = -EINVAL;

	if (length && text[length] == '.' && strspn(text + length + 1, DIGITS))
		length += 1 + strspn(text + length + 1, DIGITS);
	for (const struct quantity_suffix *s = suffixes; length && s->text; s++)
		if (!strcmp(text + length, s->text))
			ret = scale_decimal(text, length, s->factor, out);
	if (ret == -ERANGE)
		return error_set(err, -EINVAL, "'%s' is too large", text);
	if (ret < 0)
		return error_set(err, -EINVAL, "'%s' is not %s", text, expected);
	return 0;
}

int parse_count(const char *text, uint64_t *out, struct error *err)
{
	static const struct quantity_suffix suffixes[] = {
		{"", 1}, {"k", 1000}, {"K", 1000}, {"M", 1000000}, {"G", 1000000000}, {NULL, 0}};

	return parse_quantity(text, suffixes, "a whole number, with k, M or G for more", out, err);
}

int parse_bytes(const char *text, uint64_t *out, struct error *err)
{
	static const struct quantity_suffix suffixes[] = {
		{"", 1},	  {"K", 1 << 10},   {"k", 1 << 10},
		{"KiB", 1 << 10}, {"M", 1 << 20},   {"MiB", 1 << 20},
		{"G", 1 << 30},	  {"GiB", 1 << 30}, {NULL, 0}};

	return parse_quantity(text, suffixes, "a number of bytes, with K, M or G for more", out,
			      err);
}

int parse_duration(const char *text, uint64_t *out, struct error *err)
{
	static const struct quantity_suffix suffixes[] = {{"", 1000000000},
							  {"s", 1000000000},
							  {"ns", 1},
							  {"us", 1000},
							  {"ms", 1000000},
							  {"m", 60000000000},
							  {"min", 60000000000},
							  {"h", 3600000000000},
							  {"d", 86400000000000},
							  {NULL, 0}};

	return parse_quantity(text, suffixes, "a duration such as 10, 1.5s, 200ms, 5m or 1h", out,
			      err);
}

int parse_percent(const char *text, uint64_t *out, struct error *err)
{
	static const struct quantity_suffix suffixes[] = {
		{"%", 10000000}, {" %", 10000000}, {"", 10000000}, {NULL, 0}};

	return parse_quantity(text, suffixes, "a percentage such as 1% or 0.5%", out, err);
}
