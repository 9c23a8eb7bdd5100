// SPDX-License-Identifier: Apache-2.0
/* Write the exact states of lanes as columns (embed.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/embed_counters.h"

#define VARINT_MOST 10 /* bytes of a number of 64 bits */
#define LONGEST_CELL (1ULL << 52) /* ns; as in static_cells.js: no recording is as long */
#define GAP 0x80 /* bit of a key's byte: time of which nothing is known comes before */

static int embed_lane(struct embedded *e, uint64_t lane, bool cpu)
{
	const struct embedded_lane fresh = {.lane = lane, .at = e->base, .cpu = cpu};
	const struct embedded_columns none = {.count = 0};
	int ret = vector_push(&e->list, fresh);

	return ret ? ret : vector_push(&e->exact.columns, none);
}

static int embed_rows(struct embedded *e, const lane_rows_t *rows, bool cpu)
{
	int ret = 0;

	for (size_t i = 0; i < rows->count && !ret; i++) {
		ret = embed_lane(e, rows->items[i].lane, cpu);
		if (!ret)
			ret = vector_push(&e->ids, rows->items[i].lane);
	}
	return ret;
}

/* Return the largest power of two that a cell of a window of the range can be long, ns. */
static uint64_t longest_cell(uint64_t length)
{
	uint64_t cell = 1024;

	while (cell < length && cell < LONGEST_CELL)
		cell *= 2;
	return cell;
}

int view_embed_begin(struct embedded *e, const struct lanes *l)
{
	int ret;

	e->lanes = l;
	/* cells begin at multiples of their length, so those of the page and of a window agree */
	e->base = l->time & ~(longest_cell(l->end - l->time) - 1);
	ret = vector_push(&e->threads, 0);
	if (!ret)
		ret = embed_rows(e, &l->cpus, true);
	if (!ret)
		ret = embed_rows(e, &l->threads, false);
	if (!ret)
		ret = embed_rows(e, &l->sliced, false);
	e->stated = e->list.count;
	for (size_t i = 0; i < l->runtimes.count && !ret; i++)
		ret = embed_lane(e, l->runtimes.items[i].lane, false);
	return ret;
}

static int put_embed_byte(struct embed_bytes *to, uint8_t byte)
{
	return vector_push(to, byte);
}

/* A number takes seven bits of a byte, the low ones first. */
int view_embed_number(struct embed_bytes *to, uint64_t value)
{
	if (vector_reserve(to, VARINT_MOST) < 0)
		return -ENOMEM;
	for (; value >= 0x80; value >>= 7)
		to->items[to->count++] = (uint8_t)(value | 0x80);
	to->items[to->count++] = (uint8_t)value;
	return 0;
}

int view_embed_key(struct embedded *e, struct embedded_key key)
{
	int ret;

	for (size_t i = 0; i < e->keys.count; i++)
		if (!memcmp(&e->keys.items[i], &key, sizeof(key)))
			return (int)i;
	if (e->keys.count == EMBED_KEYS_MAX)
		return -E2BIG; /* a hostile file: skein knows fewer states */
	ret = vector_push(&e->keys, key);
	return ret < 0 ? ret : (int)e->keys.count - 1;
}

int view_embed_thread(struct embedded *e, uint64_t id)
{
	uint32_t at = id ? index_get(&e->thread_numbers, id) : 0;
	int ret;

	if (at != INDEX_NONE)
		return (int)at;
	at = (uint32_t)e->threads.count;
	ret = vector_push(&e->threads, id);
	if (!ret)
		ret = index_put(&e->thread_numbers, id, at);
	return ret < 0 ? ret : (int)at;
}

/* Write a stretch of a lane, with the number of its key. */
static int write_embedded(struct embedded *e, size_t lane, const struct lane_stretch *s, int key)
{
	struct embedded_lane *l = &e->list.items[lane];
	struct embedded_columns *c = &e->exact.columns.items[lane];
	bool gap = s->time > l->at;
	int thread,
		ret = key < 0 ? key : put_embed_byte(&c->keys, (uint8_t)(key | (gap ? GAP : 0)));

	if (!ret && gap)
		ret = view_embed_number(&c->lengths, s->time - l->at);
	if (!ret)
		ret = view_embed_number(&c->lengths, s->end - s->time);
	if (!ret && l->cpu && s->state == STATE_RUNNING) {
		thread = view_embed_thread(e, s->thread);
		ret = thread < 0 ? thread : view_embed_number(&c->threads, (uint64_t)thread);
	}
	l->at = s->end;
	c->count++;
	if (!ret && ++e->count > e->most)
		ret = -E2BIG;
	return ret;
}

/* Write the stretch that was kept because the next one might continue it. */
static int flush_embedded(struct embedded *e, size_t lane)
{
	const struct lane_stretch s = e->list.items[lane].last;
	const struct embedded_key key = {s.state, s.wait, lanes_ground_fill(s.state, s.wait), 0,
					 LANES_NONE};

	e->list.items[lane].last.end = 0;
	return s.end ? write_embedded(e, lane, &s, view_embed_key(e, key)) : 0;
}

int view_embed_stretch(void *context, size_t lane, const struct lane_stretch *s, struct error *err)
{
	struct embedded *e = context;
	struct lane_stretch *last = &e->list.items[lane].last;
	int ret;

	if (last->end == s->time && last->state == s->state && last->wait == s->wait &&
	    last->thread == s->thread) {
		last->end = s->end;
		return 0;
	}
	ret = flush_embedded(e, lane);
	*last = *s;
	return ret < 0 ? error_errno(err, ret, "cannot embed the timeline") : 0;
}

/* Return the number of an act's key: without its name, if there are too many names. */
static int number_of_act(struct embedded *e, const struct lane_act *a)
{
	struct embedded_key key = {0, 0, (uint8_t)a->fill, 0, a->name};

	if (e->keys.count >= EMBED_NAMED_MAX)
		key.name = LANES_NONE;
	return view_embed_key(e, key);
}

static int embed_act(struct embedded *e, const struct lane_act *a)
{
	struct lane_stretch s = {.time = a->time, .end = a->end};

	for (size_t i = e->stated; i < e->list.count; i++) {
		struct embedded_lane *l = &e->list.items[i];

		if (l->lane != a->lane)
			continue;
		s.time = s.time < l->at ? l->at : s.time;
		if (s.time < s.end)
			return write_embedded(e, i, &s, number_of_act(e, a));
	}
	return 0;
}

int view_embed_acts(struct embedded *e, struct error *err)
{
	const struct lanes_entities *c = &e->lanes->entities;
	int ret = 0;

	for (size_t i = 0; i < e->stated && !ret; i++)
		ret = flush_embedded(e, i);
	for (size_t i = 0; i < c->acts.count && !ret; i++)
		if (c->acts.items[i].end > e->lanes->time && c->acts.items[i].time < e->lanes->end)
			ret = embed_act(e, &c->acts.items[i]);
	if (!ret)
		ret = view_embed_counters(e);
	return ret < 0 ? error_errno(err, ret, "cannot embed the timeline") : 0;
}

void view_embed_free_set(struct embedded_set *s)
{
	for (size_t i = 0; i < s->columns.count; i++) {
		vector_free(&s->columns.items[i].keys);
		vector_free(&s->columns.items[i].lengths);
		vector_free(&s->columns.items[i].threads);
		vector_free(&s->columns.items[i].shares);
	}
	vector_free(&s->columns);
}

void view_embed_free(struct embedded *e)
{
	view_embed_free_set(&e->exact);
	for (size_t i = 0; i < e->levels.count; i++)
		view_embed_free_set(&e->levels.items[i]);
	vector_free(&e->levels);
	vector_free(&e->list);
	vector_free(&e->ids);
	vector_free(&e->keys);
	vector_free(&e->threads);
	vector_free(&e->times);
	vector_free(&e->values);
	index_free(&e->thread_numbers);
}
