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

	return vector_push(&e->list, fresh);
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

/* Write a number: seven bits in a byte, the low ones first. */
int view_embed_number(struct embed_bytes *to, uint64_t value)
{
	if (vector_reserve(to, VARINT_MOST) < 0)
		return -ENOMEM;
	for (; value >= 0x80; value >>= 7)
		to->items[to->count++] = (uint8_t)(value | 0x80);
	to->items[to->count++] = (uint8_t)value;
	return 0;
}

/* Return the number of a key, which is added if it is new, or a negative errno. */
static int number_of_key(struct embedded *e, struct embedded_key key)
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

static int number_of_thread(struct embedded *e, uint64_t id)
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
static int write_embedded(struct embedded *e, struct embedded_lane *l, const struct lane_stretch *s,
			  int key)
{
	bool gap = s->time > l->at;
	int thread,
		ret = key < 0 ? key : put_embed_byte(&l->keys, (uint8_t)(key | (gap ? GAP : 0)));

	if (!ret && gap)
		ret = view_embed_number(&l->lengths, s->time - l->at);
	if (!ret)
		ret = view_embed_number(&l->lengths, s->end - s->time);
	if (!ret && l->cpu && s->state == STATE_RUNNING) {
		thread = number_of_thread(e, s->thread);
		ret = thread < 0 ? thread : view_embed_number(&l->threads, (uint64_t)thread);
	}
	l->at = s->end;
	l->count++;
	if (!ret && ++e->count > e->most)
		ret = -E2BIG;
	return ret;
}

/* Write the stretch that was kept because the next one might continue it. */
static int flush_embedded(struct embedded *e, struct embedded_lane *l)
{
	const struct lane_stretch s = l->last;
	const struct embedded_key key = {s.state, s.wait, lanes_ground_fill(s.state, s.wait), 0,
					 LANES_NONE};

	l->last.end = 0;
	return s.end ? write_embedded(e, l, &s, number_of_key(e, key)) : 0;
}

int view_embed_stretch(void *context, size_t lane, const struct lane_stretch *s, struct error *err)
{
	struct embedded *e = context;
	struct embedded_lane *l = &e->list.items[lane];
	struct lane_stretch *last = &l->last;
	int ret;

	if (last->end == s->time && last->state == s->state && last->wait == s->wait &&
	    last->thread == s->thread) {
		last->end = s->end;
		return 0;
	}
	ret = flush_embedded(e, l);
	*last = *s;
	return ret < 0 ? error_errno(err, ret, "cannot embed the timeline") : 0;
}

/* Return the number of an act's key: without its name, if there are too many names. */
static int number_of_act(struct embedded *e, const struct lane_act *a)
{
	struct embedded_key key = {0, 0, (uint8_t)a->fill, 0, a->name};

	if (e->keys.count >= EMBED_NAMED_MAX)
		key.name = LANES_NONE;
	return number_of_key(e, key);
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
			return write_embedded(e, l, &s, number_of_act(e, a));
	}
	return 0;
}

int view_embed_acts(struct embedded *e, struct error *err)
{
	const struct lanes_entities *c = &e->lanes->entities;
	int ret = 0;

	for (size_t i = 0; i < e->stated && !ret; i++)
		ret = flush_embedded(e, &e->list.items[i]);
	for (size_t i = 0; i < c->acts.count && !ret; i++)
		if (c->acts.items[i].end > e->lanes->time && c->acts.items[i].time < e->lanes->end)
			ret = embed_act(e, &c->acts.items[i]);
	if (!ret)
		ret = view_embed_counters(e);
	return ret < 0 ? error_errno(err, ret, "cannot embed the timeline") : 0;
}

/* Write each key: state, wait, fill, and the words of the state. */
static void write_embedded_keys(const struct embedded *e, struct json *j)
{
	char words[64];

	json_key(j, "keys");
	json_array(j);
	for (size_t i = 0; i < e->keys.count; i++) {
		const struct embedded_key *k = &e->keys.items[i];

		snprintf(words, sizeof(words), "%s%s%s",
			 k->state		 ? slice_state_word(k->state)
			 : k->name == LANES_NONE ? fill_look(k->fill)->word
						 : names_text(&e->lanes->entities.names, k->name),
			 k->wait ? ": " : "", k->wait ? wait_class_word(k->wait) : "");
		json_uint(j, k->state);
		json_uint(j, k->wait);
		json_uint(j, k->fill);
		json_text(j, words);
	}
	json_array_end(j);
}

static int by_thread_id(const void *a, const void *b)
{
	uint64_t x = **(const uint64_t *const *)a, y = **(const uint64_t *const *)b;

	return (x > y) - (x < y);
}

/*
 * Write each thread that ran on a CPU: the fill of its program, its rank by thread.id (of two that
 * ran equally long, a cell has the lower one), and its lane.
 */
static int write_embedded_threads(const struct embedded *e, struct json *j)
{
	size_t count = e->threads.count;
	const uint64_t **order = calloc(count, sizeof(*order));
	uint32_t *ranks = calloc(count, sizeof(*ranks));
	char lane[24];

	for (size_t i = 0; i < count && order; i++)
		order[i] = &e->threads.items[i];
	if (order)
		qsort(order, count, sizeof(*order), by_thread_id);
	for (size_t i = 0; i < count && order && ranks; i++)
		ranks[order[i] - e->threads.items] = (uint32_t)i;
	json_key(j, "threads");
	json_array(j);
	for (size_t i = 0; i < count && ranks; i++) {
		uint32_t at = index_get(&e->lanes->entities.thread_by_id, e->threads.items[i]);

		json_uint(j, lanes_program_fill(e->lanes, e->threads.items[i]));
		json_uint(j, ranks[i]);
		snprintf(lane, sizeof(lane), "%" PRIu64,
			 at == INDEX_NONE ? 0 : e->lanes->entities.threads.items[at].lane);
		json_text(j, lane);
	}
	json_array_end(j);
	free(ranks);
	free(order);
	return order && ranks ? 0 : -ENOMEM;
}

/* Write when each thread lived under each of its names: its lane, start and end; end 0: no end. */
static void write_embedded_lives(const struct embedded *e, struct json *j)
{
	const struct lanes_entities *c = &e->lanes->entities;
	char lane[24];

	json_key(j, "lives");
	json_array(j);
	for (size_t i = 0; i < c->threads.count; i++) {
		const struct lane_thread *t = &c->threads.items[i];

		if (!t->lane)
			continue;
		snprintf(lane, sizeof(lane), "%" PRIu64, t->lane);
		json_text(j, lane);
		json_uint(j, t->start > e->base ? t->start - e->base : 0);
		json_uint(j, !t->end ? 0 : t->end > e->base ? t->end - e->base : 1);
	}
	json_array_end(j);
}

/* Write each lane and the number of its stretches. */
static void write_embedded_lanes(const struct embedded *e, struct json *j)
{
	char lane[24];

	json_key(j, "lanes");
	json_array(j);
	for (size_t i = 0; i < e->list.count; i++) {
		snprintf(lane, sizeof(lane), "%" PRIu64, e->list.items[i].lane);
		json_text(j, lane);
		json_uint(j, e->list.items[i].count);
	}
	json_array_end(j);
}

/* Write where columns begin, and those of counters. */
static void write_embedded_counters(const struct embedded *e, size_t at, struct json *j,
				    FILE *columns)
{
	view_embed_write_counters(e, j);
	json_key_uint(j, "times_at", at);
	json_key_uint(j, "values_at", at + e->times.count);
	fwrite(e->times.items, 1, e->times.count, columns);
	fwrite(e->values.items, 1, e->values.count, columns);
}

int view_embed_write(struct embedded *e, struct json *j, FILE *columns)
{
	size_t threads = 0, keys = 0, lengths = 0;

	json_key_uint(j, "before", e->lanes->time - e->base);
	write_embedded_keys(e, j);
	if (write_embedded_threads(e, j) < 0)
		return -ENOMEM;
	write_embedded_lanes(e, j);
	write_embedded_lives(e, j);
	for (size_t i = 0; i < e->list.count; i++) {
		keys += e->list.items[i].keys.count;
		lengths += e->list.items[i].lengths.count;
		fwrite(e->list.items[i].keys.items, 1, e->list.items[i].keys.count, columns);
	}
	for (size_t i = 0; i < e->list.count; i++)
		fwrite(e->list.items[i].lengths.items, 1, e->list.items[i].lengths.count, columns);
	for (size_t i = 0; i < e->list.count; i++) {
		threads += e->list.items[i].threads.count;
		fwrite(e->list.items[i].threads.items, 1, e->list.items[i].threads.count, columns);
	}
	json_key_uint(j, "lengths_at", keys);
	json_key_uint(j, "threads_at", keys + lengths);
	write_embedded_counters(e, keys + lengths + threads, j, columns);
	return 0;
}

void view_embed_free(struct embedded *e)
{
	for (size_t i = 0; i < e->list.count; i++) {
		vector_free(&e->list.items[i].keys);
		vector_free(&e->list.items[i].lengths);
		vector_free(&e->list.items[i].threads);
	}
	vector_free(&e->list);
	vector_free(&e->ids);
	vector_free(&e->keys);
	vector_free(&e->threads);
	vector_free(&e->times);
	vector_free(&e->values);
	index_free(&e->thread_numbers);
}
