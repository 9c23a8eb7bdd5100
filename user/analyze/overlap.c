// SPDX-License-Identifier: Apache-2.0
/* Compute how many CPUs or threads ran at once (overlap.h). */
#include <errno.h>
#include <string.h>

#include "analyze/overlap.h"

#define FOLD_LEAST 16

static size_t find_border(const struct borders *b, uint32_t cpu)
{
	size_t at = b->list.count;

	/* Search from the end, where the CPUs that switch often are. */
	while (at-- > 0)
		if (b->list.items[at].cpu == cpu)
			return at;
	return b->list.count;
}

int borders_move(struct borders *b, uint32_t cpu, uint64_t time)
{
	struct border moved = {time, cpu}, *items;
	size_t at = find_border(b, cpu);

	if (at == b->list.count && vector_push(&b->list, moved) < 0)
		return -ENOMEM;
	items = b->list.items;
	for (; at > 0 && items[at - 1].time > time; at--)
		items[at] = items[at - 1];
	for (; at + 1 < b->list.count && items[at + 1].time < time; at++)
		items[at] = items[at + 1];
	items[at] = moved;
	return 0;
}

void borders_free(struct borders *b)
{
	vector_free(&b->list);
}

static int overlap_add_done(struct overlap *o, uint32_t running, uint64_t ns)
{
	while (o->done.count <= running)
		if (vector_push(&o->done, 0) < 0)
			return -ENOMEM;
	o->done.items[running] += ns;
	return 0;
}

/*
 * Add ns to the cell of a border and a number of running threads. The border must not be before the
 * last one in the list, whose cells stay sorted by number.
 */
static int overlap_add_cell(overlap_cells_t *cells, uint64_t from, uint32_t running, uint64_t ns)
{
	struct overlap_cell cell = {from, ns, running};
	size_t at = cells->count;

	while (at > 0 && cells->items[at - 1].from == from &&
	       cells->items[at - 1].running >= running)
		at--;
	if (at < cells->count && cells->items[at].running == running) {
		cells->items[at].ns += ns;
		return 0;
	}
	if (vector_push(cells, cell) < 0)
		return -ENOMEM;
	if (at + 1 < cells->count) {
		memmove(cells->items + at + 1, cells->items + at,
			(cells->count - 1 - at) * sizeof(*cells->items));
		cells->items[at] = cell;
	}
	return 0;
}

/*
 * Move the cells from index *at on that lie before the time next to spare, as cells of border.
 * Cells with the same number of running threads become one.
 */
static int overlap_join_cells(struct overlap *o, size_t *at, uint64_t border, uint64_t next)
{
	for (; *at < o->cells.count && o->cells.items[*at].from < next; ++*at) {
		const struct overlap_cell *c = &o->cells.items[*at];

		if (overlap_add_cell(&o->spare, border, c->running, c->ns) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Add the cells before the first border to done, because later slices no longer change them. */
static int overlap_finish_cells(struct overlap *o, uint64_t first, size_t *at)
{
	for (; *at < o->cells.count && o->cells.items[*at].from < first; ++*at)
		if (overlap_add_done(o, o->cells.items[*at].running, o->cells.items[*at].ns) < 0)
			return -ENOMEM;
	return 0;
}

/*
 * Join the cells that lie between the same two borders; there are several if borders between them
 * have moved away. This only limits the number of cells, so it is not done at every call.
 */
static int overlap_fold(struct overlap *o, const struct borders *b)
{
	const struct border *list = b->list.items;
	overlap_cells_t cells = o->cells;
	size_t at = 0;

	o->spare.count = 0;
	if (b->list.count && overlap_finish_cells(o, list[0].time, &at) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < b->list.count; i++)
		if (overlap_join_cells(o, &at, list[i].time,
				       i + 1 < b->list.count ? list[i + 1].time : UINT64_MAX) < 0)
			return -ENOMEM;
	o->cells = o->spare;
	o->spare = cells;
	o->fold_at = 2 * o->cells.count + FOLD_LEAST;
	return 0;
}

/*
 * Count one more running thread from the border at from until stop, which is not later than the
 * next border: copy the cells in spare from *at on that lie before next to o->cells, each with one
 * more thread. The part of that time that has no cell, because no other thread ran, becomes a cell
 * with one thread.
 */
static int overlap_raise(struct overlap *o, size_t *at, uint64_t from, uint64_t next, uint64_t stop)
{
	uint64_t rest = stop - from;

	for (; *at < o->spare.count && o->spare.items[*at].from < next; ++*at) {
		const struct overlap_cell *c = &o->spare.items[*at];

		if (overlap_add_cell(&o->cells, from, c->running + 1, c->ns) < 0)
			return -ENOMEM;
		rest -= c->ns < rest ? c->ns : rest;
	}
	return rest ? overlap_add_cell(&o->cells, from, 1, rest) : 0;
}

/* Move the cells that begin at time or later to spare. */
static int overlap_set_aside(struct overlap *o, uint64_t time)
{
	size_t first = o->cells.count;

	while (first > 0 && o->cells.items[first - 1].from >= time)
		first--;
	o->spare.count = 0;
	if (vector_reserve(&o->spare, o->cells.count - first) < 0)
		return -ENOMEM;
	if (o->cells.count > first)
		memcpy(o->spare.items, o->cells.items + first,
		       (o->cells.count - first) * sizeof(*o->cells.items));
	o->spare.count = o->cells.count - first;
	o->cells.count = first;
	return 0;
}

int overlap_add(struct overlap *o, const struct borders *b, uint64_t time, uint64_t end)
{
	const struct border *list = b->list.items;
	size_t i = b->list.count, at = 0;

	if (end < o->now)
		return -EINVAL;
	if (o->cells.count >= o->fold_at && overlap_fold(o, b) < 0)
		return -ENOMEM;
	if (overlap_set_aside(o, time) < 0)
		return -ENOMEM;
	while (i > 0 && list[i - 1].time >= time)
		i--;
	for (; i < b->list.count && list[i].time < end; i++) {
		uint64_t next = i + 1 < b->list.count ? list[i + 1].time : UINT64_MAX;

		if (next > list[i].time &&
		    overlap_raise(o, &at, list[i].time, next, next < end ? next : end) < 0)
			return -ENOMEM;
	}
	/* Put back cells left in spare; there are only some if no border lies in [time, end). */
	for (; at < o->spare.count; at++)
		if (vector_push(&o->cells, o->spare.items[at]) < 0)
			return -ENOMEM;
	o->now = end;
	return 0;
}

int overlap_finish(struct overlap *o)
{
	size_t at = 0;
	int ret = overlap_finish_cells(o, UINT64_MAX, &at);

	o->cells.count = 0;
	return ret;
}

void overlap_free(struct overlap *o)
{
	vector_free(&o->cells);
	vector_free(&o->spare);
	vector_free(&o->done);
	*o = (struct overlap){0};
}
