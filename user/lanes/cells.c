// SPDX-License-Identifier: Apache-2.0
/*
 * Convert the cells of a window, whose length in ns is a power of two, to strokes that divide any
 * range evenly. The level of a stroke is STROKE_FULL only if the lane was busy throughout, and 0
 * only if the lane was never busy or its state is unknown for more than half of the stroke.
 */
#include "lanes/lanes.h"

/* How each class of wait is drawn. */
static const uint8_t wait_fills[WAIT_COUNT] = {
	[WAIT_NONE] = FILL_OTHER,
	[WAIT_LOCK] = FILL_LOCK,
	[WAIT_IO] = FILL_IO,
	[WAIT_SLEEP] = FILL_SLEEP,
	[WAIT_POLL] = FILL_POLL,
	[WAIT_FAULT] = FILL_FAULT,
	[WAIT_PIPE] = FILL_PIPE,
	[WAIT_CHILD] = FILL_CHILD,
	[WAIT_THROTTLED] = FILL_THROTTLED,
	[WAIT_OTHER] = FILL_OTHER,
	[WAIT_MONITOR] = FILL_MONITOR,
	[WAIT_OBJECT_WAIT] = FILL_OBJECT_WAIT,
	[WAIT_PARK] = FILL_PARK,
	[WAIT_SAFEPOINT] = FILL_SAFEPOINT,
	[WAIT_GIL] = FILL_GIL,
};

enum fill lanes_ground_fill(uint8_t state, uint8_t wait)
{
	switch (state) {
	case STATE_RUNNABLE:
	case STATE_PREEMPTED:
		return FILL_RUNNABLE;
	case STATE_SLEEPING:
	case STATE_DISK:
		return wait < WAIT_COUNT ? wait_fills[wait] : FILL_OTHER;
	case STATE_STOPPED:
		return FILL_STOPPED;
	case STATE_IDLE:
		return FILL_IDLE;
	case STATE_UNKNOWN:
		return FILL_UNKNOWN;
	case STATE_THROTTLED:
		return FILL_THROTTLED;
	case STATE_PARKED:
	case STATE_UNUSED:
		return FILL_SLEEP;
	default: /* a dead thread, an offline CPU, or no other state than running */
		return FILL_NONE;
	}
}

static enum fill ground_fill(const struct cell *c)
{
	return lanes_ground_fill(c->state, c->wait);
}

uint64_t lanes_cell_overlap(const struct window *w, unsigned int cell, uint64_t time, uint64_t end)
{
	uint64_t begin = w->time + cell * w->cell, stop = begin + w->cell;

	begin = begin > time ? begin : time;
	stop = stop < end ? stop : end;
	return stop > begin ? stop - begin : 0;
}

struct lane_load lanes_measure_load(const struct lane_cells *c)
{
	struct lane_load load = {.full = c->window->width > 0};

	for (unsigned int i = 0; i < c->window->width; i++) {
		const struct cell *cell = &c->cells[i];
		uint64_t overlap = lanes_cell_overlap(c->window, i, c->time, c->end);
		double busy = (double)overlap * cell->activity / CELL_FULL;

		load.busy += busy;
		load.runnable += ground_fill(cell) == FILL_RUNNABLE ? (double)overlap - busy : 0;
		load.full = load.full && (!overlap || cell->activity == CELL_FULL);
	}
	return load;
}

/*
 * Time of a stroke by fill, busy, and in all, in 127ths of ns, of which whole numbers of cells make
 * whole numbers. full: all cells are busy throughout. bars, grounds: a bit for each fill with
 * votes, as a stroke has few of them; the votes of other fills are not set.
 */
struct fill_votes {
	double bar[FILL_COUNT], ground[FILL_COUNT];
	uint64_t bars, grounds;
	double busy;
	uint64_t covered; /* ns */
	bool full;
};

_Static_assert(FILL_COUNT <= 64, "a bit for each fill");

static void begin_votes(struct fill_votes *v)
{
	v->bars = v->grounds = v->covered = 0;
	v->busy = 0;
	v->full = true;
}

static void add_vote(double *votes, uint64_t *voted, enum fill fill, double time)
{
	uint64_t bit = 1ULL << fill;

	votes[fill] = *voted & bit ? votes[fill] + time : time;
	*voted |= bit;
}

static void add_cell_votes(struct fill_votes *v, const struct cell *c, uint64_t overlap,
			   enum fill bar)
{
	double busy = (double)overlap * c->activity;

	v->covered += overlap;
	v->full = v->full && c->activity == CELL_FULL;
	if (c->activity) {
		v->busy += busy;
		add_vote(v->bar, &v->bars, bar, busy);
	}
	/* a cell holds only its longest state, so other states of a running lane are not known */
	if (c->state != STATE_RUNNING)
		add_vote(v->ground, &v->grounds, ground_fill(c),
			 (double)overlap * CELL_FULL - busy);
}

/* Return the fill with the most votes, the first of equals; FILL_NONE without any vote. */
static enum fill most_voted_fill(const double *votes, uint64_t voted)
{
	enum fill best = FILL_NONE;
	double most = voted & 1ULL << FILL_NONE ? votes[FILL_NONE] : 0;

	for (; voted; voted &= voted - 1) {
		enum fill fill = (enum fill)__builtin_ctzll(voted);

		if (votes[fill] <= most)
			continue;
		best = fill;
		most = votes[fill];
	}
	return best;
}

static struct stroke decide_stroke(const struct fill_votes *v, uint64_t length)
{
	struct stroke s = {.bar = most_voted_fill(v->bar, v->bars),
			   .ground = most_voted_fill(v->ground, v->grounds)};
	double whole = (double)length * CELL_FULL, level = v->busy * STROKE_FULL / whole + 0.5;

	if (v->grounds & 1ULL << FILL_UNKNOWN && v->ground[FILL_UNKNOWN] * 2 > whole)
		return (struct stroke){.ground = FILL_UNKNOWN};
	if (v->busy <= 0)
		return s;
	if (v->full && v->covered == length)
		s.level = STROKE_FULL;
	else
		s.level = level < 1 ? 1 : level > STROKE_FULL - 1 ? STROKE_FULL - 1 : level;
	return s;
}

/* The time at which each of count equal parts of the shown range begins, one after the other. */
struct part_times {
	uint64_t next; /* ns: where the next part begins */
	uint64_t whole, rest, count; /* a part has whole + rest / count ns */
	uint64_t owed; /* of count: what the parts so far lack of a ns */
};

static struct part_times begin_part_times(const struct lane_cells *c, unsigned int count)
{
	uint64_t length = c->end - c->time;

	return (struct part_times){c->time, length / count, length % count, count, 0};
}

/* Return where the next part ends: the beginning and length * part / count, rounded down. */
static uint64_t next_part_time(struct part_times *t)
{
	t->owed += t->rest;
	t->next += t->whole + (t->owed >= t->count);
	t->owed -= t->owed >= t->count ? t->count : 0;
	return t->next;
}

static bool are_cells_alike(const struct cell *a, const struct cell *b)
{
	return a->activity == b->activity && a->state == b->state && a->wait == b->wait &&
	       a->thread == b->thread;
}

/* Return the end of the run of equal cells that begins with a cell. */
static unsigned int end_of_run(const struct lane_cells *c, unsigned int first)
{
	unsigned int end = first + 1;

	while (end < c->window->width && are_cells_alike(&c->cells[first], &c->cells[end]))
		end++;
	return end;
}

/* Makes the strokes of a lane one after the other. */
struct stroke_maker {
	const struct lane_cells *cells;
	enum fill (*program)(const void *context, uint64_t thread);
	const void *context;
	uint64_t
		alike; /* ns: up to here all cells equal those of the last stroke; 0: they differ */
	unsigned int shift; /* a cell is 1 << shift ns */
	/* the last thread that program() was asked for, and its fill; 0, 0: none */
	uint64_t thread;
	enum fill fill;
};

/* Return the fill for the time in which a cell was busy; none matters for a cell that was not. */
static enum fill bar_of_cell(struct stroke_maker *m, const struct cell *c)
{
	if (!m->program || !c->activity)
		return FILL_RUNNING;
	if (c->thread != m->thread || !m->thread) {
		m->thread = c->thread;
		m->fill = m->program(m->context, c->thread);
	}
	return m->fill;
}

static struct stroke make_stroke(struct stroke_maker *m, uint64_t from, uint64_t to)
{
	const struct lane_cells *c = m->cells;
	const struct window *w = c->window;
	uint64_t first = from > w->time ? (from - w->time) >> m->shift : 0, begin, end;
	struct fill_votes v;

	begin_votes(&v);
	m->alike = 0;
	while (first < w->width) {
		const struct cell *cell = &c->cells[first];

		begin = w->time + first * w->cell;
		first = end_of_run(c, (unsigned int)first);
		end = w->time + first * w->cell;
		if (begin >= to)
			break;
		if (begin <= from && to <= end)
			m->alike = end;
		begin = begin > from ? begin : from;
		add_cell_votes(&v, cell, (end < to ? end : to) - begin, bar_of_cell(m, cell));
	}
	return decide_stroke(&v, to - from);
}

void lanes_make_strokes(const struct lane_cells *c,
			enum fill (*program)(const void *context, uint64_t thread),
			const void *context, struct stroke *strokes, unsigned int count)
{
	struct stroke_maker m = {.cells = c,
				 .program = program,
				 .context = context,
				 .shift = (unsigned int)__builtin_ctzll(c->window->cell)};
	struct part_times parts = begin_part_times(c, count);

	for (unsigned int i = 0; i < count; i++) {
		uint64_t from = parts.next, to = next_part_time(&parts);

		/* if there are more strokes than ns, several strokes show the same time */
		to = to > from ? to : from + 1;
		strokes[i] = i && to <= m.alike ? strokes[i - 1] : make_stroke(&m, from, to);
	}
}
