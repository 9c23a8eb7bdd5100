// SPDX-License-Identifier: Apache-2.0
/* Write what the page draws of a counter in a range (window_counters.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lanes/wanted.h"
#include "view/window_counters.h"

#define COUNT_SIZE 4 /* bytes */
#define COLUMN_SIZE 32

/* Return whether two doubles are the same; one that is no number is the same as itself. */
static bool is_same_value(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Return whether a column is one in which the last value of the one before just held. */
static bool continues_column(const struct counter_column *before, const struct counter_column *c)
{
	double held = isfinite(before->last) ? before->last : COUNTER_ABSENT;

	return is_same_value(c->last, before->last) && is_same_value(c->least, held) &&
	       is_same_value(c->most, held) && c->lost == (bool)isinf(before->last);
}

static void put_u32(uint8_t *to, uint32_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> (8 * i));
}

static void put_f64(uint8_t *to, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_u32(to, (uint32_t)bits);
	put_u32(to + 4, (uint32_t)(bits >> 32));
}

static int put_counter_column(struct embed_bytes *to, unsigned int number,
			      const struct counter_column *c)
{
	uint8_t *at;

	if (vector_reserve(to, COLUMN_SIZE) < 0)
		return -ENOMEM;
	at = to->items + to->count;
	put_u32(at, number);
	put_u32(at + 4, c->lost);
	put_f64(at + 8, c->least);
	put_f64(at + 16, c->most);
	put_f64(at + 24, c->last);
	to->count += COLUMN_SIZE;
	return 0;
}

static int put_counter_columns(struct embed_bytes *to, const struct counter_column *columns,
			       unsigned int count)
{
	struct counter_column before = {COUNTER_ABSENT, COUNTER_ABSENT, COUNTER_ABSENT, false};
	size_t head = to->count;
	uint32_t written = 0;
	int ret = vector_reserve(to, COUNT_SIZE);

	to->count += ret ? 0 : COUNT_SIZE;
	for (unsigned int i = 0; i < count && !ret; before = columns[i++]) {
		if (continues_column(&before, &columns[i]))
			continue;
		ret = put_counter_column(to, i, &columns[i]);
		written++;
	}
	if (!ret)
		put_u32(to->items + head, written);
	return ret;
}

int view_put_counter(struct embed_bytes *to, const struct lanes_counters *c, uint64_t counter,
		     const struct counter_range *range)
{
	struct counter_column *columns;
	int ret;

	if (counter >= c->list.count)
		return put_counter_columns(to, NULL, 0);
	columns = calloc(range->count + 1, sizeof(*columns));
	if (!columns)
		return -ENOMEM;
	lanes_counter_columns(c, counter, range, columns);
	ret = put_counter_columns(to, columns, range->count);
	free(columns);
	return ret;
}

int view_put_wanted(struct embed_bytes *to, const struct lanes *l,
		    const struct counter_range *range)
{
	struct counter_column *columns = calloc(range->count + 1, sizeof(*columns));
	int ret = columns ? lanes_wanted_columns(l, range, columns, NULL) : -ENOMEM;

	if (!ret)
		ret = put_counter_columns(to, columns, range->count);
	free(columns);
	return ret;
}
