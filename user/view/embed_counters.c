// SPDX-License-Identifier: Apache-2.0
/* Write the counters of a page without a server (embed_counters.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/embed_counters.h"

#define VALUE_SIZE 8 /* bytes */

/* Return the index of the first point of a counter that matters after the base of the page. */
static size_t first_embedded_point(const struct embedded *e, const struct counter_row *row)
{
	const struct lanes_counters *c = &e->lanes->entities.counters;
	size_t at = lanes_counter_point(c, row->counter, e->base);

	return at == SIZE_MAX ? c->list.items[row->counter].first : at;
}

static size_t end_of_points(const struct embedded *e, const struct counter_row *row)
{
	const struct lane_counter *c = &e->lanes->entities.counters.list.items[row->counter];

	return c->first + c->count;
}

static int embed_value(struct embed_bytes *to, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if (vector_reserve(to, VALUE_SIZE) < 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < VALUE_SIZE; i++)
		to->items[to->count++] = (uint8_t)(bits >> (8 * i));
	return 0;
}

static int embed_counter(struct embedded *e, const struct counter_row *row)
{
	const struct counter_point *points = e->lanes->entities.counters.points.items;
	size_t end = end_of_points(e, row);
	uint64_t before = e->base;
	int ret = 0;

	for (size_t i = first_embedded_point(e, row); i < end && !ret; i++) {
		uint64_t time = points[i].time > before ? points[i].time : before;

		ret = view_embed_number(&e->times, time - before);
		if (!ret)
			ret = embed_value(&e->values, points[i].value);
		before = time;
		if (!ret && ++e->count > e->most)
			ret = -E2BIG;
	}
	return ret;
}

int view_embed_counters(struct embedded *e)
{
	const struct lanes_counters *c = &e->lanes->entities.counters;
	int ret = 0;

	for (size_t i = 0; i < c->rows.count && !ret; i++)
		ret = embed_counter(e, &c->rows.items[i]);
	return ret;
}

void view_embed_write_counters(const struct embedded *e, struct json *j)
{
	const struct lanes_counters *c = &e->lanes->entities.counters;
	char lane[24];

	json_key(j, "counters");
	json_array(j);
	for (size_t i = 0; i < c->rows.count; i++) {
		const struct counter_row *row = &c->rows.items[i];

		snprintf(lane, sizeof(lane), "c%" PRIu32, row->counter);
		json_text(j, lane);
		json_uint(j, end_of_points(e, row) - first_embedded_point(e, row));
	}
	json_array_end(j);
}
