// SPDX-License-Identifier: Apache-2.0
/*
 * Make the rows of a block: the cells of all lanes of one kind. Open stretches are rendered into
 * the cells of this block only, not into the lane's own levels, because the complete stretch comes
 * later.
 */
#include <errno.h>
#include <string.h>

#include "trace/pyramid_block.h"

void block_maker_free(struct block_maker *m)
{
	packer_free(&m->packer);
	bytes_free(&m->scratch);
	bytes_free(&m->blob);
	vector_free(&m->runs);
	vector_free(&m->pieces);
}

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

/* Copy the sums so far of the cell that is still open at this level. */
static int take_open(struct tower *tail, const struct tower *t, const struct block *b)
{
	uint64_t cell;
	struct mix m = {0};
	int result;

	if (!t || !t->at)
		return 0;
	tail->at = t->at;
	cell = (t->at - 1) >> tail->shift;
	if (cell >> BLOCK_SHIFT != b->number)
		return 0;
	result = tower_open_mix(t, b->level, cell, &m);
	if (result == 0 && m.told) {
		tail->levels = calloc(1, sizeof(*tail->levels));
		result = tail->levels ? 0 : -ENOMEM;
	}
	if (result < 0 || !m.told) {
		mix_free(&m);
		return result;
	}
	tail->count = 1;
	tail->levels->open = cell;
	tail->levels->mix = m;
	return 0;
}

static int paint_open(struct tower *t, const struct block *b, const struct stretch *open,
		      size_t count)
{
	uint64_t end, from;
	int result = 0;

	if (t->at < b->time)
		t->at = b->time;
	for (size_t i = 0; result == 0 && i < count; i++) {
		if (open[i].state == STATE_NONE)
			continue;
		end = i + 1 < count && open[i + 1].state != STATE_NONE ? open[i + 1].time : b->end;
		from = open[i].time;
		if (end > b->end)
			end = b->end;
		if (from < end)
			result = tower_paint(t, 0, from, end, mix_key(open[i].state, open[i].wait),
					     0);
	}
	return result;
}

/* The cells of a block after the last complete cell of a lane. */
struct tail {
	struct tower tower; /* must be first: callbacks cast the tower to the tail */
	struct strip strip;
};

static int add_cells(struct tower *t, unsigned int level, uint64_t first, uint64_t count,
		     const struct cell *cell)
{
	(void)level;
	return strip_add(&((struct tail *)t)->strip, first, count, cell);
}

static int add_tail(struct block_maker *m, const struct block *b, const struct tower *t,
		    const struct stretch *open, size_t count)
{
	static const struct tower_events events = {add_cells};
	struct tail tail = {
		.tower = {.events = &events, .shift = (uint8_t)pyramid_shift(b->level)}};
	uint64_t first = b->number << BLOCK_SHIFT;
	int result = take_open(&tail.tower, t, b);

	if (result == 0)
		result = paint_open(&tail.tower, b, open, count);
	if (result == 0)
		result = tower_close(&tail.tower, 0);
	if (result == 0)
		result = strip_copy(&tail.strip, first, first + BLOCK_CELLS, &m->runs);
	tower_free(&tail.tower);
	strip_free(&tail.strip);
	return result;
}

static bool may_run(uint64_t state)
{
	return state == STATE_RUNNABLE || state == STATE_PREEMPTED || state == STATE_RUNNING ||
	       state == STATE_UNKNOWN || state == STATE_NONE;
}

/*
 * Return whether the lane's state is uncertain, because the thread may have run on a CPU that was
 * not waited for.
 */
static bool is_untold(const struct block *b, const struct pyramid_lane *l,
		      const struct stretch *open, size_t count)
{
	bool uncertain = false;

	if (b->settled >= b->end || (l && l->tower.at >= b->end))
		return false;
	for (size_t i = 0; i < count; i++)
		uncertain = uncertain || (may_run(open[i].state) && open[i].time < b->end);
	return uncertain || (l && l->cpu);
}

static int close_piece(struct block_maker *m, struct error *err)
{
	struct finished_piece done = {.at = m->blob.size};
	int result;

	for (unsigned int i = 0; i < m->count; i++)
		m->lanes[i].runs = m->runs.items + m->first_run[i];
	result = piece_encode(&m->packer, &m->scratch, m->lanes, m->count, &m->blob, err);
	if (result < 0)
		return result;
	done.size = m->blob.size - done.at;
	done.first = m->count ? m->lanes[0].id : 0;
	done.last = m->count ? m->lanes[m->count - 1].id : 0;
	m->count = 0;
	m->runs.count = 0;
	return vector_push(&m->pieces, done) < 0 ? no_memory(err) : 0;
}

static int make_lane(struct pyramid *p, const struct block *b, struct pyramid_lane *l,
		     const struct stretch *open, size_t count, struct error *err)
{
	struct block_maker *m = &p->maker;
	struct tower *t = l ? &l->tower : NULL;
	size_t first = m->runs.count;
	bool untold = is_untold(b, l, open, count);
	int result = 0;

	if (!untold && t)
		result = tower_close_stale(t, b->level);
	if (result == 0 && !untold && l && b->level < l->strip_count)
		result = strip_copy(&l->strips[b->level], b->number << BLOCK_SHIFT,
				    (b->number + 1) << BLOCK_SHIFT, &m->runs);
	if (result == 0 && !untold)
		result = add_tail(m, b, t, open, count);
	if (result < 0)
		return no_memory(err);
	if (first == m->runs.count && !untold)
		return 0;
	m->lanes[m->count] = (struct piece_lane){
		.id = l ? l->id : open->lane, .untold = untold, .count = m->runs.count - first};
	m->first_run[m->count++] = first;
	return m->count == m->limit ? close_piece(m, err) : 0;
}

/*
 * Make the cells of all lanes in order of their ids: of lanes with cells, with open stretches, or
 * with both.
 */
static int make_lanes(struct pyramid *p, const struct block *b, bool cpus, struct error *err)
{
	size_t at = 0, i = 0;
	int result = 0;

	while (result == 0 && (i < p->lanes.count || at < p->open.count)) {
		struct pyramid_lane *l = i < p->lanes.count ? p->lanes.items[i] : NULL;
		const struct stretch *open = p->open.items + at;
		size_t count = 0;

		if (at < p->open.count && (!l || open->lane <= l->id))
			while (at + count < p->open.count && open[count].lane == open->lane)
				count++;
		if (count && (!l || open->lane < l->id))
			l = NULL;
		at += count;
		i += l != NULL;
		if ((l && l->cpu) == cpus)
			result = make_lane(p, b, l, open, cpus ? 0 : count, err);
	}
	return result;
}

static int tell_pieces(struct pyramid *p, const struct block *b, enum lane_kind kind, bool dead,
		       struct error *err)
{
	struct block_maker *m = &p->maker;
	struct pyramid_piece piece = {.level = b->level,
				      .time = b->time,
				      .end = b->end,
				      .kind = kind,
				      .dead = dead,
				      .records = b->records};
	int result = 0;

	for (size_t i = 0; result == 0 && i < m->pieces.count; i++) {
		const struct finished_piece *f = &m->pieces.items[i];

		piece.lane = dead ? f->first : piece.lane;
		piece.last = dead || i + 1 < m->pieces.count ? f->last : INT64_MAX;
		piece.data = m->blob.data + f->at;
		piece.size = f->size;
		result = p->events.piece(p->events.context, &piece, err);
		piece.lane = piece.last + 1;
	}
	return result;
}

static void start(struct block_maker *m, unsigned int limit)
{
	m->blob.size = m->count = 0;
	m->runs.count = m->pieces.count = 0;
	m->limit = limit;
}

int block_bury(struct pyramid *p, const struct block *b, bool *told, struct error *err)
{
	struct block_maker *m = &p->maker;
	int result = 0;

	start(m, PIECE_LANES_MAX);
	for (size_t i = 0; result == 0 && i < p->lanes.count; i++)
		if (p->lanes.items[i]->buried)
			result = make_lane(p, b, p->lanes.items[i], NULL, 0, err);
	if (result == 0 && m->count)
		result = close_piece(m, err);
	*told = result == 0 && m->pieces.count;
	return *told ? tell_pieces(p, b, LANE_THREAD, true, err) : result;
}

int block_make(struct pyramid *p, const struct block *b, enum lane_kind kind, bool *stored,
	       struct error *err)
{
	struct block_maker *m = &p->maker;
	bool dear = kind == LANE_CPU || b->level >= PYRAMID_COARSE;
	int result;

	*stored = false;
	start(m, PIECE_LANES);
	result = make_lanes(p, b, kind == LANE_CPU, err);
	if (result == 0 && (m->count || !m->pieces.count))
		result = close_piece(m, err);
	if (result < 0)
		return result;
	*stored = !p->options.records_per_byte ||
		  m->blob.size <= b->records * (dear ? PYRAMID_DEAR : 1) /
					      p->options.records_per_byte;
	return *stored ? tell_pieces(p, b, kind, false, err) : 0;
}
