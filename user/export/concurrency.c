// SPDX-License-Identifier: Apache-2.0
/*
 * Count simultaneous time spans in steps. The cost of adding a span does not depend on the length
 * of the span, because only the steps at its ends are changed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/concurrency.h"

#define FIRST_STEP (1ULL << 20)

static int allocate_steps(struct concurrency *c)
{
	c->parts = calloc(CONCURRENCY_STEPS, sizeof(*c->parts));
	c->rises = calloc(CONCURRENCY_STEPS + 1, sizeof(*c->rises));
	if (!c->parts || !c->rises) {
		concurrency_free(c);
		return -ENOMEM;
	}
	c->step = FIRST_STEP;
	return 0;
}

/*
 * Merge each pair of steps into one. The time of spans that cover whole steps moves from rises to
 * parts, also where such a span covers both steps of a pair.
 */
static void double_step(struct concurrency *c)
{
	int64_t level = 0;

	for (size_t i = 0; i < CONCURRENCY_STEPS; i++) {
		level += c->rises[i];
		c->parts[i] += (uint64_t)level * c->step;
	}
	for (size_t i = 0; i < CONCURRENCY_STEPS / 2; i++)
		c->parts[i] = c->parts[2 * i] + c->parts[2 * i + 1];
	memset(c->parts + CONCURRENCY_STEPS / 2, 0, CONCURRENCY_STEPS / 2 * sizeof(*c->parts));
	memset(c->rises, 0, (CONCURRENCY_STEPS + 1) * sizeof(*c->rises));
	c->used = (c->used + 1) / 2;
	c->step *= 2;
}

int concurrency_add(struct concurrency *c, uint64_t time, uint64_t end)
{
	uint64_t from = time > c->start ? time - c->start : 0;
	uint64_t to = end > c->start ? end - c->start : 0;
	size_t first, last;

	if (from >= to)
		return 0;
	if (!c->parts && allocate_steps(c) < 0)
		return -ENOMEM;
	while ((to - 1) / c->step >= CONCURRENCY_STEPS)
		double_step(c);
	first = from / c->step;
	last = (to - 1) / c->step;
	if (last >= c->used)
		c->used = last + 1;
	if (first == last) {
		c->parts[first] += to - from;
		return 0;
	}
	c->parts[first] += (first + 1) * c->step - from;
	c->parts[last] += to - last * c->step;
	c->rises[first + 1]++;
	c->rises[last]--;
	return 0;
}

int concurrency_each(const struct concurrency *c, uint64_t end,
		     int (*each)(void *context, uint64_t time, double number), void *context)
{
	uint64_t time = c->start;
	double last = -1;
	int64_t level = 0;
	int ret = 0;

	for (size_t i = 0; i < c->used && time < end && !ret; i++) {
		/* the recording may end within the last step */
		uint64_t length = end - time < c->step ? end - time : c->step;
		double number;

		level += c->rises[i];
		number = (double)level + (double)c->parts[i] / (double)length;
		if (number != last)
			ret = each(context, time, number);
		last = number;
		time += length;
	}
	return !ret && c->used ? each(context, time, 0) : ret;
}

void concurrency_free(struct concurrency *c)
{
	free(c->parts);
	free(c->rises);
	*c = (struct concurrency){.start = c->start};
}
