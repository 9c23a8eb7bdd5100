// SPDX-License-Identifier: Apache-2.0
/* Downsample the stretches of one lane to cells. */
#include "trace/tower.h"

#include <errno.h>
#include <string.h>

static struct level *need_level(struct tower *t, unsigned int level)
{
	struct level *bigger;

	if (level < t->count)
		return &t->levels[level];
	bigger = realloc(t->levels, sizeof(*bigger) * (level + 1));
	if (!bigger)
		return NULL;
	memset(bigger + t->count, 0, sizeof(*bigger) * (level + 1 - t->count));
	t->levels = bigger;
	t->count = (uint8_t)(level + 1);
	return &t->levels[level];
}

static int close_cell(struct tower *t, unsigned int level);

/* Make number the open cell of a level; close another open cell first. */
static int open_cell(struct tower *t, unsigned int level, uint64_t number, struct level **ret)
{
	struct level *l = need_level(t, level);

	if (!l)
		return -ENOMEM;
	if (l->mix.told && l->open != number && close_cell(t, level) < 0)
		return -ENOMEM;
	l = &t->levels[level]; /* closing may have moved t->levels */
	l->open = number;
	*ret = l;
	return 0;
}

static int close_cell(struct tower *t, unsigned int level)
{
	struct level *l = &t->levels[level], *above;
	struct cell cell;
	int result;

	if (!l->mix.told)
		return 0;
	cell = mix_cell(&l->mix, tower_shift(t, level));
	result = t->events->cells(t, level, l->open, 1, &cell);
	if (result == 0 && level < t->top) {
		result = open_cell(t, level + 1, l->open >> TOWER_STEP, &above);
		if (result == 0)
			result = mix_merge(&above->mix, &t->levels[level].mix);
	}
	mix_clear(&t->levels[level].mix);
	return result;
}

static int paint_part(struct tower *t, unsigned int level, uint64_t time, uint64_t end,
		      uint16_t key, uint64_t thread)
{
	struct level *l;
	int result = open_cell(t, level, time >> tower_shift(t, level), &l);

	return result < 0 ? result : mix_add(&l->mix, key, thread, end - time);
}

/*
 * Add a stretch. The parts of a cell at both ends of the stretch are added to this level's open
 * cell; the whole cells in between are passed to cells(), and to the level above, as one stretch.
 */
static int paint(struct tower *t, unsigned int level, uint64_t time, uint64_t end, uint16_t key,
		 uint64_t thread)
{
	unsigned int shift = tower_shift(t, level);
	uint64_t first = time >> shift, last = end >> shift, middle;
	struct cell whole;
	int result = 0;

	if (first == last)
		return paint_part(t, level, time, end, key, thread);
	if (time & ((1ULL << shift) - 1)) {
		middle = ++first << shift;
		result = paint_part(t, level, time, middle, key, thread);
	}
	if (result == 0 && level < t->count)
		result = close_cell(t, level);
	if (result == 0 && first < last) {
		whole = mix_whole(key, thread);
		result = t->events->cells(t, level, first, last - first, &whole);
		if (result == 0 && level < t->top)
			result = paint(t, level + 1, first << shift, last << shift, key, thread);
	}
	if (result == 0 && last << shift < end)
		result = paint_part(t, level, last << shift, end, key, thread);
	return result;
}

int tower_paint(struct tower *t, unsigned int base, uint64_t time, uint64_t end, uint16_t key,
		uint64_t thread)
{
	int result;

	if (time < t->at)
		time = t->at;
	if (time >= end)
		return 0;
	t->at = end;
	result = base ? tower_close(t, base - 1) : 0;
	return result < 0 ? result : paint(t, base, time, end, key, thread);
}

int tower_close(struct tower *t, unsigned int level)
{
	int result = 0;

	for (unsigned int i = 0; result == 0 && i <= level && i < t->count; i++)
		result = close_cell(t, i);
	return result;
}

int tower_close_stale(struct tower *t, unsigned int level)
{
	int result = 0;

	for (unsigned int i = 0; result == 0 && i <= level && i < t->count; i++)
		if (t->levels[i].mix.told && t->levels[i].open != (t->at - 1) >> tower_shift(t, i))
			result = close_cell(t, i);
	return result;
}

int tower_open_mix(const struct tower *t, unsigned int level, uint64_t cell, struct mix *m)
{
	int result = 0;

	for (unsigned int i = 0; result == 0 && i <= level && i < t->count; i++) {
		const struct level *l = &t->levels[i];

		if (l->mix.told && l->open >> (TOWER_STEP * (level - i)) == cell)
			result = mix_merge(m, &l->mix);
	}
	return result;
}

void tower_free(struct tower *t)
{
	for (unsigned int i = 0; i < t->count; i++)
		mix_free(&t->levels[i].mix);
	free(t->levels);
	t->levels = NULL;
	t->count = 0;
}
