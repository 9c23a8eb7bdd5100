// SPDX-License-Identifier: Apache-2.0
/* Choose the counters of a timeline, and compute what is drawn of them (counters.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lanes/lanes.h"

/* Return the index of a counter's first point at a time or later; c->first + c->count: none. */
static size_t first_point_at(const struct lanes_counters *all, const struct lane_counter *c,
			     uint64_t time)
{
	size_t low = c->first, high = c->first + c->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all->points.items[middle].time < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t lanes_counter_point(const struct lanes_counters *c, size_t counter, uint64_t time)
{
	const struct lane_counter *of = &c->list.items[counter];
	size_t next = time == UINT64_MAX ? of->first + of->count : first_point_at(c, of, time + 1);

	return next > of->first ? next - 1 : SIZE_MAX;
}

/* Add what a counter was at some time in a column. */
static void add_to_column(struct counter_column *to, double value)
{
	to->last = value;
	to->lost = to->lost || isinf(value);
	if (!isfinite(value))
		return;
	to->least = !(to->least <= value) ? value : to->least;
	to->most = !(to->most >= value) ? value : to->most;
}

/*
 * Make the column from begin to end, of which *at is the first point at its begin or later; move it
 * behind the points in the column.
 */
static struct counter_column make_column(const struct counter_point *points, size_t count,
					 uint64_t begin, uint64_t end, size_t *at)
{
	struct counter_column made = {COUNTER_ABSENT, COUNTER_ABSENT, COUNTER_ABSENT, false};

	if (*at && (*at == count || points[*at].time > begin))
		add_to_column(&made, points[*at - 1].value);
	for (; *at < count && points[*at].time < end; ++*at)
		add_to_column(&made, points[*at].value);
	return made;
}

uint64_t lanes_column_edge(const struct counter_range *r, uint64_t column)
{
	return r->time + (uint64_t)((unsigned __int128)(r->end - r->time) * column / r->count);
}

void lanes_counter_columns(const struct lanes_counters *c, size_t counter,
			   const struct counter_range *r, struct counter_column *columns)
{
	const struct lane_counter *of = &c->list.items[counter];
	const struct counter_point *points = &c->points.items[of->first];
	size_t at = first_point_at(c, of, r->time) - of->first;

	for (unsigned int i = 0; i < r->count; i++) {
		uint64_t begin = lanes_column_edge(r, i), end = lanes_column_edge(r, i + 1);
		size_t first = at;

		columns[i] =
			make_column(points, of->count, begin, end > begin ? end : begin + 1, &at);
		/* the next column shows the same time */
		at = end > begin ? at : first;
	}
}

bool lanes_counter_is_of_cpu(const struct lanes *l, const struct lane_counter *c)
{
	for (size_t i = 0; i < l->cpus.count; i++)
		if (l->cpus.items[i].lane == c->lane)
			return true;
	return false;
}

double lanes_counter_bottom(const struct lane_counter *c)
{
	return c->least < 0 ? c->least : 0;
}

double lanes_counter_top(const struct lane_counter *c)
{
	return c->most > 0 ? c->most : 0;
}

char *lanes_counter_scale(const struct lane_counter *c, char buf[static COUNTER_SCALE_SIZE])
{
	double bottom = lanes_counter_bottom(c);
	char low[QUANTITY_SIZE], top[QUANTITY_SIZE];

	quantity_show(c->quantity->drawn, lanes_counter_top(c), top);
	if (bottom < 0)
		snprintf(buf, COUNTER_SCALE_SIZE, "%s to %s",
			 quantity_show(c->quantity->drawn, bottom, low), top);
	else
		snprintf(buf, COUNTER_SCALE_SIZE, "%s", top);
	return buf;
}

/* Let the last value of each counter hold until its process or the recording ends. */
static void end_counters(struct lanes *l)
{
	const struct lanes_entities *e = &l->entities;
	struct lanes_counters *c = &l->entities.counters;

	for (size_t i = 0; i < c->list.count; i++) {
		const struct lane_counter *of = &c->list.items[i];
		struct counter_point *end = &c->points.items[of->first + of->count - 1];
		uint64_t ended =
			of->process == LANES_NONE ? 0 : e->processes.items[of->process].p.end;

		end->time = ended && ended < e->host.end ? ended : e->host.end;
		/* what was read a moment after the end is seen, too */
		if (of->count > 1 && end->time <= end[-1].time)
			end->time = end[-1].time + 1;
	}
}

/* Find out whether a counter has a value in the range, or may have one, and whether it changes. */
static bool is_counter_known(const struct lanes *l, size_t counter, bool *changes)
{
	struct counter_column all;

	lanes_counter_columns(&l->entities.counters, counter,
			      &(struct counter_range){l->time, l->end, 1}, &all);
	*changes = all.least < all.most;
	return all.lost || !isnan(all.least);
}

/* Return whether one more counter of a process gets a row. */
static bool gets_counter_row(const struct lanes_limits *limits, const char *name, bool changes,
			     size_t of_process)
{
	if (!limits->counters)
		return true;
	return of_process < limits->counters &&
	       (limits->everything || changes || !quantity_rank(name, changes));
}

int lanes_choose_counters(struct lanes *l, const struct lanes_limits *limits)
{
	struct lanes_counters *c = &l->entities.counters;
	size_t of_process = 0;
	bool changes;
	int ret = 0;

	end_counters(l);
	for (size_t i = 0; i < c->list.count && !ret; i++) {
		const struct counter_row row = {.counter = (uint32_t)i};

		if (!i || c->list.items[i].process != c->list.items[i - 1].process)
			of_process = 0;
		if (!is_counter_known(l, i, &changes))
			continue;
		c->total++;
		if (!gets_counter_row(limits, c->list.items[i].name, changes, of_process))
			continue;
		of_process++;
		ret = vector_push(&c->rows, row);
	}
	return ret;
}

int lanes_render_counters(struct lanes *l, unsigned int columns)
{
	struct lanes_counters *c = &l->entities.counters;
	const struct counter_range range = {l->time, l->end, columns};

	for (size_t i = 0; i < c->rows.count; i++) {
		struct counter_row *row = &c->rows.items[i];

		free(row->columns);
		row->columns = calloc(columns + 1, sizeof(*row->columns));
		if (!row->columns)
			return -ENOMEM;
		lanes_counter_columns(c, row->counter, &range, row->columns);
	}
	return 0;
}
