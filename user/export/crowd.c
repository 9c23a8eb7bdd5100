// SPDX-License-Identifier: Apache-2.0
/*
 * Count simultaneous time spans in steps. The cost of a span does not depend on its length,
 * because only its ends are stored.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/crowd.h"

#define FIRST_STEP (1ULL << 20)

static int begin(struct crowd *c)
{
	c->parts = calloc(CROWD_STEPS, sizeof(*c->parts));
	c->rises = calloc(CROWD_STEPS + 1, sizeof(*c->rises));
	if (!c->parts || !c->rises) {
		crowd_free(c);
		return -ENOMEM;
	}
	c->step = FIRST_STEP;
	return 0;
}

/*
 * Merge each pair of steps into one. Spans that covered one of the two steps completely become
 * parts of the merged step.
 */
static void widen(struct crowd *c)
{
	int64_t level = 0;

	for (size_t i = 0; i < CROWD_STEPS; i++) {
		level += c->rises[i];
		c->parts[i] += (uint64_t)level * c->step;
	}
	for (size_t i = 0; i < CROWD_STEPS / 2; i++)
		c->parts[i] = c->parts[2 * i] + c->parts[2 * i + 1];
	memset(c->parts + CROWD_STEPS / 2, 0, CROWD_STEPS / 2 * sizeof(*c->parts));
	memset(c->rises, 0, (CROWD_STEPS + 1) * sizeof(*c->rises));
	c->used = (c->used + 1) / 2;
	c->step *= 2;
}

int crowd_add(struct crowd *c, uint64_t time, uint64_t end)
{
	uint64_t from = time > c->start ? time - c->start : 0;
	uint64_t to = end > c->start ? end - c->start : 0;
	size_t first, last;

	if (from >= to)
		return 0;
	if (!c->parts && begin(c) < 0)
		return -ENOMEM;
	while ((to - 1) / c->step >= CROWD_STEPS)
		widen(c);
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

int crowd_each(const struct crowd *c, uint64_t end,
	       int (*each)(void *context, uint64_t time, double number), void *context)
{
	uint64_t time = c->start;
	double last = -1;
	int64_t level = 0;
	int rc = 0;

	for (size_t i = 0; i < c->used && time < end && !rc; i++) {
		/* the recording may end within the last step */
		uint64_t length = end - time < c->step ? end - time : c->step;
		double number;

		level += c->rises[i];
		number = (double)level + (double)c->parts[i] / (double)length;
		if (number != last)
			rc = each(context, time, number);
		last = number;
		time += length;
	}
	return !rc && c->used ? each(context, time, 0) : rc;
}

void crowd_free(struct crowd *c)
{
	free(c->parts);
	free(c->rises);
	*c = (struct crowd){.start = c->start};
}
