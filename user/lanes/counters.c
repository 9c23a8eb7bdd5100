// SPDX-License-Identifier: Apache-2.0
/* Read the counters of a trace (counters.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lanes/lanes.h"

#define LOST_MOST 64 /* separate times of lost values that are kept */

/* A time in which values were lost. */
struct lost_time {
	uint64_t time, end;
};

/* Note a text that may be the name of a counter: one that begins with '{' has arguments of spans.
 */
int lanes_add_name(struct lanes_entities *e, const struct name *n)
{
	struct lanes_counters *c = &e->counters;
	uint32_t number;

	if (!n->text || *n->text == '{')
		return 0;
	if (names_intern_text(&c->texts, n->text, &number) < 0)
		return -ENOMEM;
	return index_put(&c->text_of_name, n->id, number);
}

/* Return "WHOSE NUMBER: NAME", owned by *e; NULL if memory ran out. */
static const char *name_of_owner(struct lanes_entities *e, const char *whose, uint64_t number,
				 const char *name)
{
	uint32_t at;
	char *text;
	int ret;

	if (asprintf(&text, "%s %" PRIu64 ": %s", whose, number, name) < 0)
		return NULL;
	ret = names_intern_text(&e->names, text, &at);
	free(text);
	return ret < 0 ? NULL : names_text(&e->names, at);
}

/* Return the name of a counter with that of its thread or CPU, which have no rows below them. */
static const char *name_with_owner(struct lanes_entities *e, const char *name, uint64_t lane)
{
	struct lane_owner owner = lane_owners_find(&e->owners, lane);
	uint32_t at = owner.thread ? index_get(&e->thread_by_id, owner.thread) : INDEX_NONE;

	if (at != INDEX_NONE)
		return name_of_owner(e, e->threads.items[at].name, e->threads.items[at].tid, name);
	for (size_t i = 0; i < e->cpus.count; i++)
		if (e->cpus.items[i].id == lane)
			return name_of_owner(e, "CPU", e->cpus.items[i].number, name);
	return name;
}

/* Return the name of the counter of a text's number, owned by *e; NULL if memory ran out. */
static const char *name_of_counter(struct lanes_entities *e, uint32_t text)
{
	uint32_t number;
	const char *name = text == INDEX_NONE ? "" : names_text(&e->counters.texts, text);

	return names_intern_text(&e->names, name, &number) < 0 ? NULL
							       : names_text(&e->names, number);
}

static int add_counter(struct lanes_entities *e, uint64_t lane, uint32_t text)
{
	struct lane_owner owner = lane_owners_find(&e->owners, lane);
	struct lane_counter fresh = {.lane = lane, .name = name_of_counter(e, text)};

	if (!fresh.name)
		return -ENOMEM;
	fresh.quantity = quantity_of_name(fresh.name);
	fresh.process = owner.process ? index_get(&e->process_by_id, owner.process) : LANES_NONE;
	fresh.name = name_with_owner(e, fresh.name, lane);
	return fresh.name ? vector_push(&e->counters.list, fresh) : -ENOMEM;
}

int lanes_add_value(struct lanes_entities *e, const struct counter *value)
{
	struct lanes_counters *c = &e->counters;
	const uint64_t key[] = {value->lane, index_get(&c->text_of_name, value->name)};
	struct counter_reading reading = {.time = value->time, .value = value->value};

	if (names_intern(&c->keys, key, sizeof(key), &reading.counter) < 0)
		return -ENOMEM;
	if (reading.counter == c->list.count && add_counter(e, key[0], (uint32_t)key[1]) < 0)
		return -ENOMEM;
	if (c->readings.count >= UINT32_MAX)
		return -ENOMEM;
	reading.number = (uint32_t)c->readings.count;
	return vector_push(&c->readings, reading);
}

static int by_counter_and_time(const void *a, const void *b)
{
	const struct counter_reading *x = a, *y = b;

	if (x->counter != y->counter)
		return x->counter < y->counter ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Return the growth of a total from one value to another, which must not be less. */
static uint64_t growth_of_total(const struct counter_reading *from,
				const struct counter_reading *to)
{
	return (uint64_t)to->value - (uint64_t)from->value;
}

/*
 * Return what a counter is from a reading on: of a total, the mean rate until the next one, which
 * is not known if it fell. After the last one it has not grown any more, or that would have been
 * recorded.
 */
static double value_from(const struct quantity *q, const struct counter_reading *r, bool last)
{
	if (!q->total)
		return (double)r->value;
	if (last)
		return 0;
	return r[1].value < r->value
		       ? COUNTER_LOST
		       : quantity_rate(q, growth_of_total(r, r + 1), r[1].time - r->time);
}

static int by_lost_time(const void *a, const void *b)
{
	const struct lost_time *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

typedef VECTOR(struct lost_time) lost_times_t;

/* Join the times that overlap, and the last ones if there are many. */
static void join_lost_times(lost_times_t *all)
{
	size_t kept = 0;

	if (all->count)
		qsort(all->items, all->count, sizeof(*all->items), by_lost_time);
	for (size_t i = 0; i < all->count; i++) {
		struct lost_time *last = kept ? &all->items[kept - 1] : NULL;
		const struct lost_time one = all->items[i];

		if (last && (one.time <= last->end || kept == LOST_MOST))
			last->end = one.end > last->end ? one.end : last->end;
		else
			all->items[kept++] = one;
	}
	all->count = kept;
}

static int list_lost_times(const struct lanes_entities *e, lost_times_t *out)
{
	int ret = 0;

	for (size_t i = 0; i < e->losses.count && !ret; i++) {
		const struct loss *loss = &e->losses.items[i];
		struct lost_time one = {loss->time, loss->end};

		one.end = one.end > one.time ? one.end : one.time;
		if (loss->reason == LOSS_SPANS_NOT_STORED)
			ret = vector_push(out, one);
	}
	join_lost_times(out);
	return ret;
}

static int put_point(struct lanes_counters *c, struct lane_counter *of, uint64_t time, double value)
{
	const struct counter_point point = {time, value};

	if (isfinite(value)) {
		of->least = !(of->least <= value) ? value : of->least;
		of->most = !(of->most >= value) ? value : of->most;
	}
	of->count++;
	return vector_push(&c->points, point);
}

/*
 * Put that values are lost where a loss begins or ends after a value and before the next one. The
 * rate between two values that are known is true, whatever was lost between them.
 */
static int put_lost_points(struct lanes_counters *c, struct lane_counter *of,
			   const lost_times_t *lost, const struct counter_reading *r, bool last)
{
	uint64_t until = last ? UINT64_MAX : r[1].time;
	int ret = 0;

	if (of->quantity->total && !last)
		return 0;
	for (size_t i = 0; i < lost->count && !ret; i++) {
		const struct lost_time *l = &lost->items[i];

		if (l->time > r->time && l->time < until)
			ret = put_point(c, of, l->time, COUNTER_LOST);
		else if (l->time <= r->time && l->end > r->time && l->end < until)
			ret = put_point(c, of, l->end, COUNTER_LOST);
	}
	return ret;
}

/* Make the points of one counter of its sorted readings. */
static int make_points(struct lanes_counters *c, struct lane_counter *of, const lost_times_t *lost,
		       const struct counter_reading *r, size_t count)
{
	int ret = 0;

	of->first = c->points.count;
	of->least = of->most = COUNTER_ABSENT;
	for (size_t i = 0; i < count && !ret; i++) {
		bool last = i + 1 == count;

		/* of two values of a total at the same time, the second one is what it was then */
		if (of->quantity->total && !last && r[i + 1].time == r[i].time)
			continue;
		ret = put_point(c, of, r[i].time, value_from(of->quantity, &r[i], last));
		if (!ret)
			ret = put_lost_points(c, of, lost, &r[i], last);
	}
	return ret ? ret : put_point(c, of, UINT64_MAX, COUNTER_ABSENT);
}

static int by_process_and_rank(const void *a, const void *b)
{
	const struct lane_counter *x = a, *y = b;
	unsigned int of_x = quantity_rank(x->name, x->least < x->most);
	unsigned int of_y = quantity_rank(y->name, y->least < y->most);

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (of_x != of_y)
		return of_x < of_y ? -1 : 1;
	return x->first < y->first ? -1 : 1;
}

/* Free what only reading needs. */
static void forget_readings(struct lanes_counters *c)
{
	names_free(&c->texts);
	names_free(&c->keys);
	index_free(&c->text_of_name);
	vector_free(&c->readings);
}

int lanes_end_counters(struct lanes_entities *e)
{
	struct lanes_counters *c = &e->counters;
	struct counter_reading *list = c->readings.items;
	size_t count = c->readings.count;
	lost_times_t lost = {0};
	int ret = list_lost_times(e, &lost);

	if (count)
		qsort(list, count, sizeof(*list), by_counter_and_time);
	for (size_t first = 0, end; first < count && !ret; first = end) {
		struct lane_counter *of = &c->list.items[list[first].counter];

		for (end = first; end < count && list[end].counter == list[first].counter;)
			end++;
		ret = make_points(c, of, &lost, &list[first], end - first);
	}
	vector_free(&lost);
	forget_readings(c);
	if (c->list.count && !ret)
		qsort(c->list.items, c->list.count, sizeof(*c->list.items), by_process_and_rank);
	return ret;
}

void lanes_free_counters(struct lanes_counters *c)
{
	forget_readings(c);
	for (size_t i = 0; i < c->rows.count; i++)
		free(c->rows.items[i].columns);
	vector_free(&c->rows);
	vector_free(&c->list);
	vector_free(&c->points);
}
