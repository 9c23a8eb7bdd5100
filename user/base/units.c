// SPDX-License-Identifier: Apache-2.0
/*
 * Format numbers with units. Sizes and durations below a minute are rounded to three significant
 * digits, or to whole units from 1000 on.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

struct unit {
	uint64_t size;
	const char *name;
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Format value in unit with three digits, such as 1.25, 12.5, 125 or 1020; omit a fraction of zero.
 */
static char *show_in_unit(uint64_t value, const struct unit *unit, char *buf, size_t size)
{
	double x = (double)value / (double)unit->size;
	char digits[32];

	snprintf(digits, sizeof(digits), "%.*f", x < 9.995 ? 2 : x < 99.95 ? 1 : 0, x);
	if (strchr(digits, '.')) {
		char *end = digits + strlen(digits);

		while (end[-1] == '0')
			*--end = '\0';
		if (end[-1] == '.')
			end[-1] = '\0';
	}
	snprintf(buf, size, "%s %s", digits, unit->name);
	return buf;
}

/*
 * Return the largest unit of which value is at least 1, after rounding to the next smaller unit; if
 * there is none, the smallest unit.
 */
static const struct unit *choose_unit(uint64_t value, const struct unit *units, size_t count)
{
	const struct unit *u = &units[count - 1];

	/*
	 * Show a value that rounds up to 1 of the next larger unit in that unit: 999.6 ms is 1 s.
	 */
	while (u > units && value < u->size - u[-1].size / 2)
		u--;
	return u;
}

/* Format a duration as "2 min 5 s": a large unit and the next smaller one. */
static char *show_two_units(uint64_t ns, const struct unit *small, char *buf, size_t size)
{
	uint64_t rounded = ns / small[0].size + (ns % small[0].size >= small[0].size / 2);
	uint64_t ratio = small[1].size / small[0].size;

	snprintf(buf, size, "%" PRIu64 " %s %" PRIu64 " %s", rounded / ratio, small[1].name,
		 rounded % ratio, small[0].name);
	return buf;
}

char *show_duration(uint64_t ns, char *buf, size_t size)
{
	static const struct unit units[] = {
		{1, "ns"},
		{1000, "us"},
		{1000000, "ms"},
		{1000000000, "s"},
	};
	static const struct unit long_units[] = {
		{1000000000, "s"},
		{60000000000, "min"},
		{3600000000000, "h"},
		{86400000000000, "d"},
	};
	size_t i = COUNT(long_units) - 1;

	if (ns < 59950000000) /* 59.95 s and more round to a minute */
		return show_in_unit(ns, choose_unit(ns, units, COUNT(units)), buf, size);
	/* Use the larger unit if the next smaller pair would round up to 1 of that unit. */
	while (i > 1 && ns < long_units[i].size - long_units[i - 2].size / 2)
		i--;
	return show_two_units(ns, &long_units[i - 1], buf, size);
}

char *show_bytes(uint64_t bytes, char *buf, size_t size)
{
	static const struct unit units[] = {
		{1, "B"},
		{1ULL << 10, "KiB"},
		{1ULL << 20, "MiB"},
		{1ULL << 30, "GiB"},
		{1ULL << 40, "TiB"},
		{1ULL << 50, "PiB"},
		{1ULL << 60, "EiB"},
	};

	return show_in_unit(bytes, choose_unit(bytes, units, COUNT(units)), buf, size);
}

char *show_count(uint64_t count, char *buf, size_t size)
{
	char digits[32], grouped[48], *out = grouped;
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	snprintf(buf, size, "%s", grouped);
	return buf;
}

char *show_percent(uint64_t part, uint64_t whole, char *buf, size_t size)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	/*
	 * "0.0 %" means none and "100.0 %" means all: do not show them for values that only round
	 * to them.
	 */
	if (part && percent < 0.05)
		snprintf(buf, size, "<0.1 %%");
	else if (part < whole && percent >= 99.95)
		snprintf(buf, size, "99.9 %%");
	else
		snprintf(buf, size, "%.1f %%", percent);
	return buf;
}
