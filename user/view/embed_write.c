// SPDX-License-Identifier: Apache-2.0
/* Write what a page without a server holds of lanes (embed.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "view/embed.h"
#include "view/embed_counters.h"

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

static void write_embedded_lanes(const struct embedded *e, struct json *j)
{
	char lane[24];

	json_key(j, "lanes");
	json_array(j);
	for (size_t i = 0; i < e->list.count; i++) {
		snprintf(lane, sizeof(lane), "%" PRIu64, e->list.items[i].lane);
		json_text(j, lane);
	}
	json_array_end(j);
}

static size_t write_embedded_column(const struct embed_bytes *b, FILE *columns)
{
	fwrite(b->items, 1, b->count, columns);
	return b->count;
}

/* Write the columns of all lanes, and what they are: numbers of runs, and sizes in bytes. */
static size_t write_embedded_set(const struct embedded_set *s, struct json *j, FILE *columns)
{
	size_t keys = 0, lengths = 0, threads = 0, shares = 0, count = s->columns.count;
	const struct embedded_columns *c = s->columns.items;

	json_object(j);
	json_key_uint(j, "shift", s->shift);
	json_key(j, "counts");
	json_array(j);
	for (size_t i = 0; i < count; i++) {
		json_uint(j, c[i].count);
		keys += write_embedded_column(&c[i].keys, columns);
	}
	json_array_end(j);
	for (size_t i = 0; i < count; i++)
		lengths += write_embedded_column(&c[i].lengths, columns);
	for (size_t i = 0; i < count; i++)
		threads += write_embedded_column(&c[i].threads, columns);
	for (size_t i = 0; i < count; i++)
		shares += write_embedded_column(&c[i].shares, columns);
	json_key_uint(j, "lengths", lengths);
	json_key_uint(j, "threads", threads);
	json_key_uint(j, "shares", shares);
	json_object_end(j);
	return keys + lengths + threads + shares;
}

int view_embed_write(const struct embedded *e, struct json *j, FILE *columns)
{
	size_t size;

	json_key_uint(j, "before", e->lanes->time - e->base);
	write_embedded_keys(e, j);
	if (write_embedded_threads(e, j) < 0)
		return -ENOMEM;
	write_embedded_lanes(e, j);
	write_embedded_lives(e, j);
	json_key(j, "sets");
	json_array(j);
	size = write_embedded_set(&e->exact, j, columns);
	for (size_t i = e->levels.count; i-- > 0;)
		size += write_embedded_set(&e->levels.items[i], j, columns);
	json_array_end(j);
	view_embed_write_counters(e, j);
	json_key_uint(j, "times_at", size);
	size += write_embedded_column(&e->times, columns);
	json_key_uint(j, "values_at", size);
	size += write_embedded_column(&e->values, columns);
	json_key_uint(j, "size", size);
	return 0;
}
