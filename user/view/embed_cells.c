// SPDX-License-Identifier: Apache-2.0
/*
 * Write cells of lanes as columns (embed.h), for recordings whose exact states a page has no room
 * for.
 */
#include <errno.h>

#include "view/embed.h"

#define SHORTEST_SHIFT 16 /* cells of 65.5 us */
/* Cells of 4.2 ms: from here on each is four times as long as the last, as in static_cells.js. */
#define STORED_SHIFT 22
#define STORED_STEP 2
#define SHARE 0x80 /* bit of a key's byte: the activity does not follow from the state */
#define PART_CELLS (1u << 20) /* of all lanes, rendered at once: 16 MiB */
/* A window does not know what follows it, which can change its last cells: these are dropped. */
#define AFTER 16
/* Cells of a length, of all lanes, equal or not: what a page is worth in time of its making. */
#define CELLS_MOST (128ULL << 20)

static int put_cell_byte(struct embed_bytes *to, uint8_t byte)
{
	return vector_push(to, byte);
}

/* Write the equal cells that were kept because the next one might be equal, too. */
static int flush_cells(struct embedded *e, struct embedded_set *s, size_t lane)
{
	struct embedded_lane *l = &e->list.items[lane];
	struct embedded_columns *c = &s->columns.items[lane];
	const struct cell *of = &l->run;
	bool share = of->activity != (of->state == STATE_RUNNING ? CELL_FULL : 0);
	int key, thread, ret;

	if (!l->cells)
		return 0;
	key = view_embed_key(
		e, (struct embedded_key){of->state, of->wait,
					 of->state ? lanes_ground_fill(of->state, of->wait) : 0, 0,
					 LANES_NONE});
	ret = key < 0 ? key : put_cell_byte(&c->keys, (uint8_t)(key | (share ? SHARE : 0)));
	if (!ret)
		ret = view_embed_number(&c->lengths, l->cells);
	if (!ret && share)
		ret = put_cell_byte(&c->shares, of->activity);
	if (!ret && l->cpu && of->activity) {
		thread = view_embed_thread(e, of->thread);
		ret = thread < 0 ? thread : view_embed_number(&c->threads, (uint64_t)thread);
	}
	l->cells = 0;
	c->count++;
	return ret;
}

static bool is_same_cell(const struct cell *a, const struct cell *b)
{
	return a->activity == b->activity && a->state == b->state && a->wait == b->wait &&
	       a->thread == b->thread;
}

static int embed_cell(struct embedded *e, struct embedded_set *s, size_t lane, const struct cell *c)
{
	struct embedded_lane *l = &e->list.items[lane];
	int ret = 0;

	if (l->cells && !is_same_cell(&l->run, c))
		ret = flush_cells(e, s, lane);
	l->run = *c;
	l->cells++;
	return ret;
}

static size_t size_of_cells(const struct embedded_set *s)
{
	size_t size = 0;

	for (size_t i = 0; i < s->columns.count; i++) {
		const struct embedded_columns *c = &s->columns.items[i];

		size += c->keys.count + c->lengths.count + c->threads.count + c->shares.count;
	}
	return size;
}

/* Add some cells of all lanes, by the number of the first one and that after the last one. */
static int embed_part(struct embedded *e, struct embedded_set *s, uint64_t first, uint64_t end,
		      struct error *err)
{
	const struct lanes_windows *windows = e->lanes->windows;
	const struct window_query q = {.time = first << s->shift,
				       .end = (end + AFTER) << s->shift,
				       .width = (unsigned int)(end + AFTER - first),
				       .lanes = e->ids.items,
				       .lane_count = e->ids.count};
	struct window *w = NULL;
	int ret = windows->window(windows->context, &q, &w, err);

	if (ret < 0)
		return ret;
	for (size_t lane = 0; lane < e->stated && !ret; lane++)
		for (uint64_t i = 0; i < end - first && !ret; i++)
			ret = embed_cell(e, s, lane, &w->cells[lane * w->width + i]);
	windows->free(w);
	return ret;
}

/* Let all lanes begin with what precedes the shown part of the time, of which nothing is known. */
static int begin_cells(struct embedded *e, struct embedded_set *s, uint64_t before)
{
	const struct embedded_columns none = {.count = 0};
	int ret = 0;

	for (size_t i = 0; i < e->stated && !ret; i++) {
		e->list.items[i].run = (struct cell){.activity = 0};
		e->list.items[i].cells = before;
		ret = vector_push(&s->columns, none);
	}
	return ret;
}

/* Make the cells of a length. Return 0 or a negative errno: -E2BIG if they are over the bytes. */
static int embed_level(struct embedded *e, struct embedded_set *s, size_t bytes, struct error *err)
{
	uint64_t at = e->lanes->time >> s->shift;
	uint64_t end = ((e->lanes->end - 1) >> s->shift) + 1, next;
	uint64_t part = PART_CELLS / (e->stated + 1) + 1;
	int ret = begin_cells(e, s, at - (e->base >> s->shift));

	if (!ret && (end - at) > CELLS_MOST / (e->stated + 1))
		ret = -E2BIG;
	for (; !ret && at < end; at = next) {
		next = end - at < part ? end : at + part;
		ret = embed_part(e, s, at, next, err);
		s->size = size_of_cells(s);
		if (!ret && s->size > bytes)
			ret = -E2BIG;
	}
	for (size_t i = 0; i < e->stated; i++)
		if (!ret)
			ret = flush_cells(e, s, i);
	s->size = size_of_cells(s);
	return ret ? ret : s->size > bytes ? -E2BIG : 0;
}

/* Return the shift of the next longer cells. */
static unsigned int longer_shift(unsigned int shift)
{
	return shift < STORED_SHIFT ? shift + 1 : shift + STORED_STEP;
}

static unsigned int shorter_shift(unsigned int shift)
{
	return shift > STORED_SHIFT ? shift - STORED_STEP : shift - 1;
}

/* Return the shift of the longest cells that a window of the recording has. */
static unsigned int longest_shift(uint64_t length)
{
	unsigned int shift = SHORTEST_SHIFT;

	while (longer_shift(shift) <= 52 && 1ULL << longer_shift(shift) <= length)
		shift = longer_shift(shift);
	return shift;
}

int view_embed_cells(struct embedded *e, size_t bytes, struct error *err)
{
	unsigned int shift = longest_shift(e->lanes->end - e->lanes->time);
	size_t least = 0; /* bytes that the next cells will probably take, of one and a half */
	int ret = 0;

	for (; shift >= SHORTEST_SHIFT && !ret && bytes > least; shift = shorter_shift(shift)) {
		struct embedded_set s = {.shift = shift};

		ret = embed_level(e, &s, bytes, err);
		if (!ret)
			ret = vector_push(&e->levels, s);
		if (ret)
			view_embed_free_set(&s);
		bytes -= s.size;
		least = s.size + s.size / 2;
	}
	if (ret == -E2BIG && e->levels.count)
		ret = 0;
	return ret == -E2BIG || ret == -ENOMEM ? error_errno(err, ret, "cannot embed the timeline")
					       : ret;
}

int view_embed_fewer(struct embedded *e)
{
	if (e->levels.count < 2)
		return -E2BIG;
	view_embed_free_set(&e->levels.items[--e->levels.count]);
	return 0;
}
