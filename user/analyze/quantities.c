// SPDX-License-Identifier: Apache-2.0
/* The table of quantities, and how their values are shown (quantities.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/quantities.h"
#include "base/units.h"

#define LARGEST_SHOWN 1e18 /* of larger values, and of what is no number, nothing is said */

static const struct quantity quantities[] = {
#define QUANTITY(prefix, unit, total, drawn) {prefix, unit, total, drawn},
	QUANTITIES(QUANTITY)
#undef QUANTITY
};

const struct quantity *quantity_of_name(const char *name)
{
	size_t i = 0;

	/* the last prefix is empty */
	while (strncmp(name, quantities[i].prefix, strlen(quantities[i].prefix)))
		i++;
	return &quantities[i];
}

/* The heap comes first, then what has changed, then what has not. */
unsigned int quantity_rank(const char *name, bool changes)
{
	if (!strncmp(name, "heap ", strlen("heap ")))
		return strcmp(name, "heap used") ? 1 : 0;
	return changes ? 2 : 3;
}

double quantity_rate(const struct quantity *q, uint64_t growth, uint64_t time)
{
	double rate = (double)growth / (double)time;

	return strcmp(q->drawn, "share") ? rate * 1e9 : rate;
}

/* Write a number with three digits, or as a whole one from 1000 on. */
static void show_three_digits(double x, char buf[static QUANTITY_SIZE])
{
	char *end;

	if (x >= 999.5) {
		show_count((uint64_t)(x + 0.5), buf, QUANTITY_SIZE);
		return;
	}
	if (x > 0 && x < 0.005) {
		strcpy(buf, "<0.01");
		return;
	}
	snprintf(buf, QUANTITY_SIZE, "%.*f", x < 9.995 ? 2 : x < 99.95 ? 1 : 0, x);
	if (!strchr(buf, '.'))
		return;
	for (end = buf + strlen(buf); end[-1] == '0';)
		*--end = '\0';
	if (end[-1] == '.')
		end[-1] = '\0';
}

char *quantity_show(const char *unit, double value, char buf[static QUANTITY_SIZE])
{
	double size = fabs(value);
	char text[QUANTITY_SIZE];

	if (!(size <= LARGEST_SHOWN)) {
		strcpy(buf, isnan(value) ? "not known" : value < 0 ? "very small" : "very large");
		return buf;
	}
	if (!strcmp(unit, "bytes"))
		show_bytes((uint64_t)size, text, sizeof(text));
	else if (!strcmp(unit, "ns"))
		show_duration((uint64_t)size, text, sizeof(text));
	else if (!strcmp(unit, "share"))
		show_three_digits(size * 100, text);
	else if (!strcmp(unit, "/s"))
		show_three_digits(size, text);
	else
		show_count((uint64_t)size, text, sizeof(text));
	snprintf(buf, QUANTITY_SIZE, "%s%.40s%s", value < 0 ? "-" : "", text,
		 !strcmp(unit, "share") ? " %"
		 : !strcmp(unit, "/s")	? "/s"
					: "");
	return buf;
}
