// SPDX-License-Identifier: Apache-2.0
/* Downsample the stretches of one lane to cells. */
#include "trace/lane_levels.h"

#include <errno.h>
#include <string.h>

static struct level *need_level(struct lane_levels *t, unsigned int level)
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

static int close_cell(struct lane_levels *t, unsigned int level);

/* Make the cell with that number the open cell of a level; close another open cell first. */
static int open_cell(struct lane_levels *t, unsigned int level, uint64_t number, struct level **out)
{
	struct level *l = need_level(t, level);

	if (!l)
		return -ENOMEM;
	if (l->sums.total && l->open != number && close_cell(t, level) < 0)
		return -ENOMEM;
	l = &t->levels[level]; /* closing may have moved t->levels */
	l->open = number;
	*out = l;
	return 0;
}

static int close_cell(struct lane_levels *t, unsigned int level)
{
	struct level *l = &t->levels[level], *above;
	struct cell cell;
	int ret;

	if (!l->sums.total)
		return 0;
	cell = cell_sums_round(&l->sums, lane_level_shift(t, level));
	ret = t->events->cells(t, level, l->open, 1, &cell);
	if (ret == 0 && level < t->top) {
		ret = open_cell(t, level + 1, l->open >> LEVEL_STEP, &above);
		if (ret == 0)
			ret = cell_sums_merge(&above->sums, &t->levels[level].sums);
	}
	cell_sums_clear(&t->levels[level].sums);
	return ret;
}

static int add_part_of_cell(struct lane_levels *t, unsigned int level, uint64_t time, uint64_t end,
			    const struct level_stretch *s)
{
	struct level *l;
	int ret = open_cell(t, level, time >> lane_level_shift(t, level), &l);

	return ret < 0 ? ret : cell_sums_add(&l->sums, s->key, s->thread, end - time);
}

/*
 * Add a stretch from time to end: the part of a cell at each end is added to this level's open
 * cell. The whole cells between are complete at once, and are added to the level above as one
 * stretch.
 */
static int add_from_level(struct lane_levels *t, unsigned int level, uint64_t time, uint64_t end,
			  const struct level_stretch *s)
{
	unsigned int shift = lane_level_shift(t, level);
	uint64_t first = time >> shift, last = end >> shift, middle;
	struct cell whole;
	int ret = 0;

	if (first == last)
		return add_part_of_cell(t, level, time, end, s);
	if (time & ((1ULL << shift) - 1)) {
		middle = ++first << shift;
		ret = add_part_of_cell(t, level, time, middle, s);
	}
	if (ret == 0 && level < t->count)
		ret = close_cell(t, level);
	if (ret == 0 && first < last) {
		whole = cell_of_state(s->key, s->thread);
		ret = t->events->cells(t, level, first, last - first, &whole);
		if (ret == 0 && level < t->top)
			ret = add_from_level(t, level + 1, first << shift, last << shift, s);
	}
	if (ret == 0 && last << shift < end)
		ret = add_part_of_cell(t, level, last << shift, end, s);
	return ret;
}

/* Return whether a stretch lies in the open cell of a level, and does not complete it. */
static bool is_in_open_cell(const struct lane_levels *t, unsigned int level, uint64_t time,
			    uint64_t end)
{
	unsigned int shift = lane_level_shift(t, level);

	return level < t->count && t->levels[level].sums.total &&
	       time >> shift == t->levels[level].open && end >> shift == t->levels[level].open;
}

int lane_levels_add(struct lane_levels *t, unsigned int base, const struct level_stretch *s)
{
	uint64_t time = s->time < t->at ? t->at : s->time;
	int ret;

	if (time >= s->end)
		return 0;
	t->at = s->end;
	if (!base && is_in_open_cell(t, 0, time, s->end))
		return cell_sums_add(&t->levels->sums, s->key, s->thread, s->end - time);
	ret = base ? lane_levels_close(t, base - 1) : 0;
	return ret < 0 ? ret : add_from_level(t, base, time, s->end, s);
}

int lane_levels_close(struct lane_levels *t, unsigned int level)
{
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i <= level && i < t->count; i++)
		ret = close_cell(t, i);
	return ret;
}

int lane_levels_close_stale(struct lane_levels *t, unsigned int level)
{
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i <= level && i < t->count; i++)
		if (t->levels[i].sums.total &&
		    t->levels[i].open != (t->at - 1) >> lane_level_shift(t, i))
			ret = close_cell(t, i);
	return ret;
}

int lane_levels_open_sums(const struct lane_levels *t, unsigned int level, uint64_t cell,
			  struct cell_sums *m)
{
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i <= level && i < t->count; i++) {
		const struct level *l = &t->levels[i];

		if (l->sums.total && l->open >> (LEVEL_STEP * (level - i)) == cell)
			ret = cell_sums_merge(m, &l->sums);
	}
	return ret;
}

void lane_levels_free(struct lane_levels *t)
{
	for (unsigned int i = 0; i < t->count; i++)
		cell_sums_free(&t->levels[i].sums);
	free(t->levels);
	t->levels = NULL;
	t->count = 0;
}
