// SPDX-License-Identifier: Apache-2.0
/*
 * Decide which blocks of the pyramid exist, when they are complete, and which lanes exist.
 * pyramid_block.c makes the rows of a block.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/pyramid_block.h"

/*
 * Maximum time (ns) after the end of a block for which the block waits for slices of all CPUs. A
 * CPU that has no slice for so long idles, runs one thread, or is gone. With the kernel's
 * softlockup detector, every CPU switches every 4 s.
 */
#define CPU_TIMEOUT_NS 10000000000ULL
#define RUNS_SLOTS 16u /* runs in memory are counted every so many blocks of level 0, about 1 s */
/* Maximum number of lanes of dead threads in memory; more are stored early. */
#define DEAD_MAX 512u
/*
 * A level in which the whole recording has fewer than NARROW_CELLS cells is rarely viewed. A block
 * of such a level is stored only if rendering would take long: if it has NARROW_TIMES times as many
 * records as other blocks need.
 */
#define NARROW_CELLS 64u
#define NARROW_TIMES 16u

int pyramid_new(struct pyramid **out, const struct pyramid_events *events,
		const struct pyramid_options *options, struct error *err)
{
	struct pyramid *p = calloc(1, sizeof(*p));

	if (!p)
		return error_set(err, -ENOMEM, "out of memory");
	p->events = *events;
	p->options = *options;
	p->sorted = true;
	p->finest = PYRAMID_FINEST;
	*out = p;
	return 0;
}

void pyramid_set(struct pyramid *p, const struct pyramid_options *options)
{
	p->options = *options;
}

static void free_pyramid_lane(struct pyramid_lane *l)
{
	lane_levels_free(&l->levels);
	for (unsigned int i = 0; i < l->level_runs_count; i++)
		cell_runs_free(&l->level_runs[i]);
	free(l->level_runs);
	free(l);
}

void pyramid_free(struct pyramid *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->lanes.count; i++)
		free_pyramid_lane(p->lanes.items[i]);
	for (unsigned int i = 0; i < PYRAMID_LEVELS; i++)
		vector_free(&p->counts[i]);
	vector_free(&p->lanes);
	vector_free(&p->open);
	index_free(&p->index);
	block_maker_free(&p->maker);
	free(p);
}

static int pyramid_no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

static int need_level_runs(struct pyramid_lane *l, unsigned int level)
{
	struct cell_runs *bigger = realloc(l->level_runs, sizeof(*bigger) * (level + 1));

	if (!bigger)
		return -ENOMEM;
	memset(bigger + l->level_runs_count, 0,
	       sizeof(*bigger) * (level + 1 - l->level_runs_count));
	l->level_runs = bigger;
	l->level_runs_count = (uint8_t)(level + 1);
	return 0;
}

/*
 * Keep the complete cells of a level. Cells below the finest level that is rendered are not kept:
 * they serve only to compute the cells of the level above.
 */
static int keep_level_cells(struct lane_levels *t, unsigned int level, uint64_t first,
			    uint64_t count, const struct cell *cell)
{
	struct pyramid_lane *l = (struct pyramid_lane *)t;

	if (level < *l->finest)
		return 0;
	if (level >= l->level_runs_count && need_level_runs(l, level) < 0)
		return -ENOMEM;
	return cell_runs_add(&l->level_runs[level], first, count, cell);
}

static struct pyramid_lane *add_pyramid_lane(struct pyramid *p, uint64_t id, enum lane_kind kind)
{
	static const struct lane_levels_events events = {keep_level_cells};
	struct pyramid_lane *l = calloc(1, sizeof(*l));
	size_t at = p->lanes.count;

	if (!l || at == UINT32_MAX || vector_push(&p->lanes, l) < 0)
		goto fail;
	if (index_put(&p->index, id, (uint32_t)at) < 0) {
		p->lanes.count--;
		goto fail;
	}
	l->id = id;
	l->levels.shift = PYRAMID_SHIFT;
	l->levels.top = PYRAMID_LEVELS - 1;
	l->levels.events = &events;
	l->kind = kind;
	l->finest = &p->finest;
	p->sorted = p->sorted && (!at || p->lanes.items[at - 1]->id < id);
	return l;
fail:
	free(l);
	return NULL;
}

static struct pyramid_lane *need_pyramid_lane(struct pyramid *p, uint64_t id, enum lane_kind kind)
{
	uint32_t at = index_get(&p->index, id);

	return at == INDEX_NONE ? add_pyramid_lane(p, id, kind) : p->lanes.items[at];
}

int pyramid_lane(struct pyramid *p, const struct lane *lane, struct error *err)
{
	if (lane_traits(lane->kind)->states != LANE_STATES_TILES)
		return 0;
	return need_pyramid_lane(p, lane->id, (enum lane_kind)lane->kind) ? 0
									  : pyramid_no_memory(err);
}

int pyramid_stretch(struct pyramid *p, const struct stretch *s, struct error *err)
{
	struct level_stretch part = {
		.time = s->time, .end = s->end, .key = cell_state_key(s->state, s->wait)};
	struct pyramid_lane *l;

	if (!lane_kind_has_cells(s->kind))
		return 0;
	l = need_pyramid_lane(p, s->lane, s->kind);
	if (!l)
		return pyramid_no_memory(err);
	if (s->end > p->last_end)
		p->last_end = s->end;
	l->dead = false;
	part.thread = is_tiled(l->kind) ? s->thread : 0;
	if (lane_levels_add(&l->levels, p->finest, &part) < 0)
		return pyramid_no_memory(err);
	return 0;
}

static int compare_pyramid_lanes(const void *a, const void *b)
{
	uint64_t x = (*(struct pyramid_lane *const *)a)->id;
	uint64_t y = (*(struct pyramid_lane *const *)b)->id;

	return x < y ? -1 : x > y;
}

static int index_lanes(struct pyramid *p, struct error *err)
{
	index_free(&p->index);
	for (size_t i = 0; i < p->lanes.count; i++)
		if (index_put(&p->index, p->lanes.items[i]->id, (uint32_t)i) < 0)
			return pyramid_no_memory(err);
	return 0;
}

static int sort_pyramid_lanes(struct pyramid *p, struct error *err)
{
	if (p->sorted)
		return 0;
	qsort(p->lanes.items, p->lanes.count, sizeof(*p->lanes.items), compare_pyramid_lanes);
	p->sorted = true;
	return index_lanes(p, err);
}

/*
 * Mark the lanes of threads without an open stretch as dead, and close their cells: nothing is left
 * to do but to store these. p->lanes and p->open must be sorted by lane.id.
 */
static int mark_dead(struct pyramid *p, struct error *err)
{
	size_t at = 0;

	for (size_t i = 0; i < p->lanes.count; i++) {
		struct pyramid_lane *l = p->lanes.items[i];

		while (at < p->open.count && p->open.items[at].lane < l->id)
			at++;
		if (is_tiled(l->kind) || l->dead ||
		    (at < p->open.count && p->open.items[at].lane == l->id))
			continue;
		l->dead = true;
		if (lane_levels_close(&l->levels, PYRAMID_LEVELS - 1) < 0)
			return pyramid_no_memory(err);
	}
	return 0;
}

static uint64_t block_start(unsigned int level, uint64_t number)
{
	return number << (pyramid_shift(level) + BLOCK_SHIFT);
}

static bool is_lane_empty(const struct pyramid_lane *l)
{
	for (unsigned int i = 0; i < l->level_runs_count; i++)
		if (l->level_runs[i].count)
			return false;
	return true;
}

static int free_dead_lanes(struct pyramid *p, struct error *err)
{
	size_t kept = 0, count = p->lanes.count;

	for (size_t i = 0; i < count; i++) {
		struct pyramid_lane *l = p->lanes.items[i];

		if (l->stored_early || (l->dead && is_lane_empty(l)))
			free_pyramid_lane(l);
		else
			p->lanes.items[kept++] = l;
	}
	p->lanes.count = kept;
	return kept == count ? 0 : index_lanes(p, err);
}

/*
 * If there are more than DEAD_MAX lanes of dead threads, store their cells before the blocks are
 * complete, so that short-lived threads do not accumulate in memory. Free these lanes, and dead
 * lanes without cells.
 */
static int store_dead_lanes(struct pyramid *p, struct error *err)
{
	uint64_t start = (p->slot - 1) << (PYRAMID_SHIFT + BLOCK_SHIFT);
	size_t dead = 0;
	int ret = 0;

	for (size_t i = 0; i < p->lanes.count; i++) {
		struct pyramid_lane *l = p->lanes.items[i];

		l->stored_early = l->dead && l->levels.at <= start;
		dead += l->stored_early;
	}
	for (size_t i = 0; dead <= DEAD_MAX && i < p->lanes.count; i++)
		p->lanes.items[i]->stored_early = false;
	for (unsigned int level = 0; dead > DEAD_MAX && level < PYRAMID_LEVELS; level++)
		for (size_t i = 0; ret == 0 && i < p->counts[level].count; i++) {
			struct block_count *c = &p->counts[level].items[i];
			struct block b = {.level = level,
					  .number = c->block,
					  .records = c->records,
					  .time = block_start(level, c->block),
					  .end = block_start(level, c->block + 1),
					  .settled = UINT64_MAX};
			bool any_stored;

			ret = block_store_dead_rows(p, &b, &any_stored, err);
			c->dead = c->dead || any_stored;
		}
	return ret < 0 ? ret : free_dead_lanes(p, err);
}

/* Update p->open and find dead lanes, once for all blocks that have become complete together. */
static int update_open(struct pyramid *p, struct error *err)
{
	int ret;

	if (p->open_is_current)
		return 0;
	p->open.count = 0;
	if (p->states && states_each(p->states, open_list_add, &p->open) < 0)
		return pyramid_no_memory(err);
	ret = sort_pyramid_lanes(p, err);
	if (ret == 0 && open_list_sort(&p->open) < 0)
		ret = pyramid_no_memory(err);
	if (ret == 0)
		ret = mark_dead(p, err);
	p->open_is_current = ret == 0;
	return ret;
}

/* Return the minimum number of records for which a block is stored. */
static uint64_t min_block_records(const struct pyramid *p, const struct block *b)
{
	uint64_t start = (p->first_slot - 1) << (PYRAMID_SHIFT + BLOCK_SHIFT);
	bool narrow = p->finished && b->time <= start &&
		      (p->last_end - start) >> pyramid_shift(b->level) < NARROW_CELLS;

	return p->options.records * (narrow ? NARROW_TIMES : 1);
}

static int store_rows_of_kind(struct pyramid *p, const struct block *b, enum lane_kind kind,
			      bool *stored, struct error *err)
{
	int ret;

	*stored = false;
	if (b->records < min_block_records(p, b))
		return 0;
	ret = update_open(p, err);
	return ret < 0 ? ret : block_store_rows(p, b, kind, stored, err);
}

static int store_block(struct pyramid *p, const struct block *b, bool dead, struct error *err)
{
	bool stored;
	int ret = 0;

	for (enum lane_kind kind = 0; ret == 0 && kind < LANE_KIND_COUNT; kind++) {
		if (!lane_kind_has_cells(kind))
			continue;
		ret = store_rows_of_kind(p, b, kind, &stored, err);
		if (ret == 0 && dead && !stored && !is_tiled(kind))
			ret = p->events.drop(p->events.context, b->level, kind, b->time, err);
	}
	return ret;
}

static size_t drop_cells(struct pyramid *p, unsigned int level, uint64_t below)
{
	size_t left = 0;

	for (size_t i = 0; i < p->lanes.count; i++) {
		struct pyramid_lane *l = p->lanes.items[i];

		if (level >= l->level_runs_count)
			continue;
		cell_runs_drop(&l->level_runs[level], below);
		left += l->level_runs[level].count;
	}
	return left;
}

/*
 * If the first block of a level is complete, store its rows if they are worth it, and free its
 * cells. Return 1 for a complete block, 0 if there is none, or a negative errno.
 */
static int store_next_block(struct pyramid *p, unsigned int level, uint64_t settled,
			    struct error *err)
{
	struct block_count *first = p->counts[level].items;
	struct block b = {.level = level};
	uint64_t timeout = p->order > CPU_TIMEOUT_NS ? p->order - CPU_TIMEOUT_NS : 0;
	int ret;

	if (!p->counts[level].count)
		return 0;
	b.number = first->block;
	b.records = first->records;
	b.time = block_start(level, b.number);
	b.end = block_start(level, b.number + 1);
	b.settled = settled;
	if (!p->finished && b.end > settled && b.end > timeout)
		return 0;
	ret = store_block(p, &b, first->dead, err);
	drop_cells(p, level, (b.number + 1) << BLOCK_SHIFT);
	memmove(first, first + 1, sizeof(*first) * --p->counts[level].count);
	return ret < 0 ? ret : 1;
}

static int store_complete_blocks(struct pyramid *p, const struct states *s, uint64_t settled,
				 struct error *err)
{
	int ret = 0;

	p->states = s;
	p->open_is_current = false;
	for (unsigned int level = p->finest; ret == 0 && level < PYRAMID_LEVELS; level++)
		while ((ret = store_next_block(p, level, settled, err)) > 0)
			;
	if (ret == 0 && p->open_is_current && !p->finished)
		ret = store_dead_lanes(p, err);
	return ret;
}

/*
 * If too many cells are in memory, stop rendering the finest levels, which readers can render from
 * the records. This happens with very many busy lanes, or while blocks wait for a CPU that has no
 * slices.
 */
static void limit_runs(struct pyramid *p)
{
	size_t runs = 0;

	if (!p->options.runs || p->slot < p->runs_slot)
		return;
	p->runs_slot = p->slot + RUNS_SLOTS;
	for (unsigned int level = p->finest; level < PYRAMID_LEVELS; level++)
		runs += drop_cells(p, level, 0);
	for (; runs > p->options.runs && p->finest + 1 < PYRAMID_LEVELS; p->finest++) {
		runs -= drop_cells(p, p->finest, 0);
		drop_cells(p, p->finest, UINT64_MAX);
		p->counts[p->finest].count = 0;
	}
}

static int count_slot(struct pyramid *p, struct error *err)
{
	for (unsigned int level = p->finest; level < PYRAMID_LEVELS; level++) {
		uint64_t block = (p->slot - 1) >> (LEVEL_STEP * level);
		size_t count = p->counts[level].count;

		if (count && p->counts[level].items[count - 1].block == block)
			p->counts[level].items[count - 1].records += p->slot_records;
		else if (vector_push(&p->counts[level],
				     ((struct block_count){block, p->slot_records, false})) < 0)
			return pyramid_no_memory(err);
	}
	return 0;
}

static int begin_slot(struct pyramid *p, const struct states *s, uint64_t time, uint64_t slot,
		      struct error *err)
{
	uint64_t settled = states_settled(s);
	int ret = count_slot(p, err);

	if (ret < 0)
		return ret;
	p->slot = slot;
	p->slot_records = 0;
	p->order = time;
	ret = store_complete_blocks(p, s, settled < time ? settled : time, err);
	if (ret == 0)
		limit_runs(p);
	return ret;
}

int pyramid_record(struct pyramid *p, const struct states *s, uint64_t time, struct error *err)
{
	uint64_t slot = (time >> (PYRAMID_SHIFT + BLOCK_SHIFT)) + 1;
	int ret = 0;

	if (!p->slot)
		p->slot = p->first_slot = slot;
	else if (slot > p->slot)
		ret = begin_slot(p, s, time, slot, err);
	p->slot_records++;
	return ret;
}

int pyramid_finish(struct pyramid *p, struct error *err)
{
	int ret;

	if (!p->slot)
		return 0;
	ret = count_slot(p, err);
	p->finished = true;
	return ret < 0 ? ret : store_complete_blocks(p, NULL, UINT64_MAX, err);
}
