// SPDX-License-Identifier: Apache-2.0
/* Compute round times for the axis (lanes_axis.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/lanes_axis.h"

#define LABEL_BYTES 48
#define LABEL_GAP 3 /* columns between labels, including the tick */

static const struct axis_unit {
	uint64_t size; /* ns */
	const char *name;
	/* decimal digits of its fraction down to 1 ns; 0 for units shown without a fraction */
	unsigned int digits;
} units[] = {
	{1, "ns", 0},	      {1000, "us", 3},	       {1000000, "ms", 6},
	{1000000000, "s", 9}, {60000000000, "min", 0}, {3600000000000, "h", 0},
};

#define UNIT_COUNT (sizeof(units) / sizeof(units[0]))

/* Return the largest unit in which all multiples of step up to time can be written. */
static const struct axis_unit *choose_axis_unit(uint64_t time, uint64_t step)
{
	const struct axis_unit *best = units;

	for (size_t i = 1; i < UNIT_COUNT; i++)
		if (units[i].size <= time && (units[i].digits || step % units[i].size == 0))
			best = &units[i];
	return best;
}

/* Write a multiple of step in a unit, with as many decimal places as multiples of step need. */
static void format_label(uint64_t time, uint64_t step, const struct axis_unit *u, char *buf,
			 size_t size)
{
	unsigned int digits = u->digits;
	uint64_t fraction = time % u->size;

	for (; digits && step % 10 == 0; digits--) {
		step /= 10;
		fraction /= 10;
	}
	if (digits)
		snprintf(buf, size, "%" PRIu64 ".%0*" PRIu64 " %s", time / u->size, (int)digits,
			 fraction, u->name);
	else
		snprintf(buf, size, "%" PRIu64 " %s", time / u->size, u->name);
}

/*
 * Return the step after the given one, ns: 1, 2, 5, 10 and so on up to 20 s, then round times of
 * the clock from a minute to a day, then twice as much each time.
 */
static uint64_t next_axis_step(uint64_t step)
{
	static const uint64_t clock[] = {60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400};
	const uint64_t second = 1000000000;
	uint64_t power = 1;

	for (size_t i = 0; step >= 20 * second && i < sizeof(clock) / sizeof(clock[0]); i++)
		if (clock[i] * second > step)
			return clock[i] * second;
	if (step >= 86400 * second)
		return step > UINT64_MAX / 2 ? UINT64_MAX : step * 2;
	while (step / power >= 10)
		power *= 10;
	return step / power == 1 ? 2 * power : step / power == 2 ? 5 * power : 10 * power;
}

char *axis_format_time(uint64_t time, uint64_t last, uint64_t range, char *buf, size_t size)
{
	const struct axis_unit *unit;
	uint64_t step = 1;

	while (step <= range / 1000)
		step *= 10;
	time = time / step * step;
	unit = choose_axis_unit(last, step);
	/* drop trailing zeros: 6.2 s instead of 6.200 s */
	while (step < unit->size && time % (10 * step) == 0)
		step *= 10;
	format_label(time, step, unit, buf, size);
	return buf;
}

/* Return whether the labels of a step fit side by side. */
static bool labels_fit(const struct axis *a, uint64_t step)
{
	uint64_t last = a->end - a->start, range = a->end - a->time;
	char text[LABEL_BYTES];

	format_label(last / step * step, step, choose_axis_unit(last, step), text, sizeof(text));
	return (unsigned __int128)step * a->columns / range >= strlen(text) + LABEL_GAP;
}

void axis_print(const struct axis *a, const struct screen *s)
{
	uint64_t from = a->time - a->start, range = a->end - a->time, step = 1;
	const struct axis_unit *unit;
	unsigned int written = 0;

	while (step < range && !labels_fit(a, step))
		step = next_axis_step(step);
	unit = choose_axis_unit(from + range, step);
	for (uint64_t n = from / step + (from % step != 0); n <= (from + range) / step; n++) {
		unsigned int column = (unsigned __int128)(n * step - from) * a->columns / range;
		char text[LABEL_BYTES];

		format_label(n * step, step, unit, text, sizeof(text));
		if (column + 1 + strlen(text) > a->columns)
			break;
		fprintf(s->out, "%*s", (int)(column - written), "");
		screen_put(s, STYLE_DIM, a->utf8 ? "▏" : "|");
		fputs(text, s->out);
		written = column + 1 + strlen(text);
	}
	fputc('\n', s->out);
}
