// SPDX-License-Identifier: Apache-2.0
/*
 * Make the rows of a block: the cells of all lanes of one kind. Open stretches are rendered into
 * the cells of this block only, not into the lane's own levels, to which the complete stretch will
 * be added later.
 */
#include <errno.h>
#include <string.h>

#include "trace/pyramid_block.h"

void block_maker_free(struct block_maker *m)
{
	packer_free(&m->packer);
	bytes_free(&m->blob);
	vector_free(&m->runs);
	vector_free(&m->rows);
}

static int block_no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

/*
 * Copy to tail the sums so far of the lane's open cell at the block's level, if that cell lies in
 * the block. Return 0 or -ENOMEM.
 */
static int copy_open_cell(struct lane_levels *tail, const struct lane_levels *t,
			  const struct block *b)
{
	uint64_t cell;
	struct cell_sums m = {0};
	int ret;

	if (!t || !t->at)
		return 0;
	tail->at = t->at;
	cell = (t->at - 1) >> tail->shift;
	if (cell >> BLOCK_SHIFT != b->number)
		return 0;
	ret = lane_levels_open_sums(t, b->level, cell, &m);
	if (ret == 0 && m.total) {
		tail->levels = calloc(1, sizeof(*tail->levels));
		ret = tail->levels ? 0 : -ENOMEM;
	}
	if (ret < 0 || !m.total) {
		cell_sums_free(&m);
		return ret;
	}
	tail->count = 1;
	tail->levels->open = cell;
	tail->levels->sums = m;
	return 0;
}

static int add_open_stretches(struct lane_levels *t, const struct block *b,
			      const struct open_list *open)
{
	int ret = 0;

	if (t->at < b->time)
		t->at = b->time;
	for (const struct stretch *s = open->items, *end = s + open->count; ret == 0 && s < end;
	     s++) {
		struct level_stretch part = {
			.time = s->time, .end = b->end, .key = cell_state_key(s->state, s->wait)};

		if (s->state == STATE_NONE)
			continue;
		if (s + 1 < end && s[1].state != STATE_NONE && s[1].time < b->end)
			part.end = s[1].time;
		if (part.time < part.end)
			ret = lane_levels_add(t, 0, &part);
	}
	return ret;
}

/* The cells of one lane in a block that come after the lane's last complete cell. */
struct tail {
	struct lane_levels levels; /* must be first: callbacks cast it to the tail */
	struct cell_runs runs;
};

static int add_tail_cells(struct lane_levels *t, unsigned int level, uint64_t first, uint64_t count,
			  const struct cell *cell)
{
	(void)level;
	return cell_runs_add(&((struct tail *)t)->runs, first, count, cell);
}

static int add_lane_tail(struct block_maker *m, const struct block *b, const struct lane_levels *t,
			 const struct open_list *open)
{
	static const struct lane_levels_events events = {add_tail_cells};
	struct tail tail = {
		.levels = {.events = &events, .shift = (uint8_t)pyramid_shift(b->level)}};
	uint64_t first = b->number << BLOCK_SHIFT;
	int ret = copy_open_cell(&tail.levels, t, b);

	if (ret == 0)
		ret = add_open_stretches(&tail.levels, b, open);
	if (ret == 0)
		ret = lane_levels_close(&tail.levels, 0);
	if (ret == 0)
		ret = cell_runs_copy(&tail.runs, first, first + BLOCK_CELLS, &m->runs);
	lane_levels_free(&tail.levels);
	cell_runs_free(&tail.runs);
	return ret;
}

static bool may_have_run(uint64_t state)
{
	return state == STATE_RUNNABLE || state == STATE_PREEMPTED || state == STATE_RUNNING ||
	       state == STATE_UNKNOWN || state == STATE_NONE;
}

/*
 * Return whether the lane's state in the block is uncertain, because a CPU has no slices up to the
 * end of the block: it is the lane's own CPU, or the lane's thread may have run on it.
 */
static bool is_uncertain(const struct block *b, const struct pyramid_lane *l,
			 const struct open_list *open)
{
	bool uncertain = false;

	if (b->settled >= b->end || (l && l->levels.at >= b->end))
		return false;
	for (size_t i = 0; i < open->count; i++)
		uncertain = uncertain ||
			    (may_have_run(open->items[i].state) && open->items[i].time < b->end);
	return uncertain || (l && is_tiled(l->kind));
}

static int encode_lanes(struct block_maker *m, struct error *err)
{
	struct encoded_row done = {.at = m->blob.size};
	int ret;

	for (unsigned int i = 0; i < m->count; i++)
		m->lanes[i].runs = m->runs.items + m->first_run[i];
	ret = pyramid_row_encode(&m->packer, m->lanes, m->count, &m->blob, err);
	if (ret < 0)
		return ret;
	done.size = m->blob.size - done.at;
	done.first = m->count ? m->lanes[0].id : 0;
	done.last = m->count ? m->lanes[m->count - 1].id : 0;
	m->count = 0;
	m->runs.count = 0;
	return vector_push(&m->rows, done) < 0 ? block_no_memory(err) : 0;
}

/*
 * Add a lane's cells in the block to the current row. open has the open stretches of this lane
 * only; l is NULL if the lane has nothing else.
 */
static int add_lane_cells(struct pyramid *p, const struct block *b, struct pyramid_lane *l,
			  const struct open_list *open, struct error *err)
{
	struct block_maker *m = &p->maker;
	struct lane_levels *t = l ? &l->levels : NULL;
	size_t first = m->runs.count;
	bool lane_uncertain = is_uncertain(b, l, open);
	int result = 0;

	if (!lane_uncertain && t)
		result = lane_levels_close_stale(t, b->level);
	if (result == 0 && !lane_uncertain && l && b->level < l->level_runs_count)
		result = cell_runs_copy(&l->level_runs[b->level], b->number << BLOCK_SHIFT,
					(b->number + 1) << BLOCK_SHIFT, &m->runs);
	if (result == 0 && !lane_uncertain)
		result = add_lane_tail(m, b, t, open);
	if (result < 0)
		return block_no_memory(err);
	if (first == m->runs.count && !lane_uncertain)
		return 0;
	m->lanes[m->count] = (struct pyramid_row_lane){.id = l ? l->id : open->items->lane,
						       .uncertain = lane_uncertain,
						       .count = m->runs.count - first};
	m->first_run[m->count++] = first;
	return m->count == m->limit ? encode_lanes(m, err) : 0;
}

/*
 * Add the cells of all lanes of a kind to rows, in order of lane.id. p->lanes has the lanes with
 * cells, p->open those with open stretches; lanes that are only in p->open are threads.
 */
static int add_lanes_of_kind(struct pyramid *p, const struct block *b, enum lane_kind kind,
			     struct error *err)
{
	size_t at = 0, i = 0;
	int ret = 0;

	while (ret == 0 && (i < p->lanes.count || at < p->open.count)) {
		struct pyramid_lane *l = i < p->lanes.count ? p->lanes.items[i] : NULL;
		struct open_list open = {.items = p->open.items + at};

		if (at < p->open.count && (!l || open.items->lane <= l->id))
			open.count = lane_stretch_count(&p->open, at);
		if (open.count && (!l || open.items->lane < l->id))
			l = NULL;
		at += open.count;
		i += l != NULL;
		open.count = is_tiled(kind) ? 0 : open.count;
		if ((l ? l->kind : LANE_THREAD) == kind)
			ret = add_lane_cells(p, b, l, &open, err);
	}
	return ret;
}

static int store_encoded_rows(struct pyramid *p, const struct block *b, enum lane_kind kind,
			      bool dead, struct error *err)
{
	struct block_maker *m = &p->maker;
	struct pyramid_row row = {.level = b->level,
				  .time = b->time,
				  .end = b->end,
				  .kind = kind,
				  .dead = dead,
				  .records = b->records};
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < m->rows.count; i++) {
		const struct encoded_row *f = &m->rows.items[i];

		row.lane = dead ? f->first : row.lane;
		row.last = dead || i + 1 < m->rows.count ? f->last : INT64_MAX;
		row.data = m->blob.data + f->at;
		row.size = f->size;
		ret = p->events.row(p->events.context, &row, err);
		row.lane = row.last + 1;
	}
	return ret;
}

static void begin_rows(struct block_maker *m, unsigned int limit)
{
	m->blob.size = m->count = 0;
	m->runs.count = m->rows.count = 0;
	m->limit = limit;
}

int block_store_dead_rows(struct pyramid *p, const struct block *b, bool *any_stored,
			  struct error *err)
{
	const struct open_list none = {0};
	struct block_maker *m = &p->maker;
	int ret = 0;

	begin_rows(m, PYRAMID_ROW_LANES_MAX);
	for (size_t i = 0; ret == 0 && i < p->lanes.count; i++)
		if (p->lanes.items[i]->stored_early)
			ret = add_lane_cells(p, b, p->lanes.items[i], &none, err);
	if (ret == 0 && m->count)
		ret = encode_lanes(m, err);
	*any_stored = ret == 0 && m->rows.count;
	return *any_stored ? store_encoded_rows(p, b, LANE_THREAD, true, err) : ret;
}

int block_store_rows(struct pyramid *p, const struct block *b, enum lane_kind kind, bool *stored,
		     struct error *err)
{
	struct block_maker *m = &p->maker;
	int ret;

	*stored = false;
	begin_rows(m, PYRAMID_ROW_LANES);
	ret = add_lanes_of_kind(p, b, kind, err);
	if (ret == 0 && (m->count || !m->rows.count))
		ret = encode_lanes(m, err);
	if (ret < 0)
		return ret;
	*stored = !p->options.records_per_byte ||
		  m->blob.size <= b->records / p->options.records_per_byte;
	return *stored ? store_encoded_rows(p, b, kind, false, err) : 0;
}
