// SPDX-License-Identifier: Apache-2.0
/* Add up time in buckets (series.h). */
#include <string.h>

#include "analyze/series.h"

#define FIRST_WIDTH (1ULL << 10) /* ns, if the end is not known */

void series_init(struct series *s, uint64_t from, uint64_t to)
{
	memset(s, 0, sizeof(*s));
	s->from = from;
	s->length = to > from ? to - from : 0;
	s->width = to > from ? (to - from - 1) / SERIES_BUCKETS + 1 : FIRST_WIDTH;
}

static void series_widen(struct series *s)
{
	for (unsigned int i = 0; i < SERIES_BUCKETS / 2; i++)
		s->sums[i] = s->sums[2 * i] + s->sums[2 * i + 1];
	memset(s->sums + SERIES_BUCKETS / 2, 0, sizeof(s->sums) / 2);
	s->width *= 2;
}

void series_add(struct series *s, uint64_t time, uint64_t end)
{
	time = time < s->from ? 0 : time - s->from;
	end = end < s->from ? 0 : end - s->from;
	if (time >= end)
		return;
	if (!s->width) /* zeroed memory: the trace has no host, and so no range */
		s->width = FIRST_WIDTH;
	s->length = end > s->length ? end : s->length;
	while ((end - 1) / SERIES_BUCKETS >= s->width)
		series_widen(s);
	while (time < end) {
		uint64_t room = s->width - time % s->width;
		uint64_t part = room < end - time ? room : end - time;

		s->sums[time / s->width] += part;
		time += part;
	}
}

/* Return the length of the part of [a, b) that lies in [c, d). */
static double common_length(double a, double b, double c, double d)
{
	double from = a > c ? a : c, to = b < d ? b : d;

	return to > from ? to - from : 0;
}

double series_sum(const struct series *s, uint64_t time, uint64_t end)
{
	double width = (double)s->width, sum = 0;
	double from = time < s->from ? 0 : (double)(time - s->from);
	double to = end < s->from ? 0 : (double)(end - s->from);

	for (unsigned int i = 0; i < SERIES_BUCKETS && width * i < to; i++) {
		double first = width * i, last = first + width;

		last = last < (double)s->length ? last : (double)s->length;
		if (s->sums[i])
			sum += (double)s->sums[i] / (last - first) *
			       common_length(first, last, from, to);
	}
	return sum;
}
