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

/* Return how to draw the time in which a lane was not busy. */
static enum fill ground_fill(const struct cell *c)
{
	switch (c->state) {
	case STATE_RUNNABLE:
	case STATE_PREEMPTED:
		return FILL_RUNNABLE;
	case STATE_SLEEPING:
	case STATE_DISK:
		return c->wait < WAIT_COUNT ? wait_fills[c->wait] : FILL_OTHER;
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

/* Time in ns by fill, busy, and covered by cells. full: all these cells are busy throughout. */
struct fill_votes {
	double bar[FILL_COUNT], ground[FILL_COUNT];
	double busy;
	uint64_t covered;
	bool full;
};

static void add_cell_votes(struct fill_votes *v, const struct cell *c, uint64_t overlap,
			   enum fill bar)
{
	double busy = (double)overlap * c->activity / CELL_FULL;
	enum fill ground = ground_fill(c);

	v->covered += overlap;
	v->busy += busy;
	v->full = v->full && c->activity == CELL_FULL;
	v->bar[bar] += busy;
	/* a cell holds only its longest state, so other states of a running lane are not known */
	if (c->state != STATE_RUNNING)
		v->ground[ground] += (double)overlap - busy;
}

/* Return the fill with the most votes, the first of equals; FILL_NONE without any vote. */
static enum fill most_voted_fill(const double *votes)
{
	enum fill best = FILL_NONE;

	for (enum fill p = 0; p < FILL_COUNT; p++)
		if (votes[p] > votes[best])
			best = p;
	return best;
}

static struct stroke decide_stroke(const struct fill_votes *v, uint64_t length)
{
	struct stroke s = {.bar = most_voted_fill(v->bar), .ground = most_voted_fill(v->ground)};
	double level = v->busy / (double)length * STROKE_FULL + 0.5;

	if (v->ground[FILL_UNKNOWN] * 2 > (double)length)
		return (struct stroke){.ground = FILL_UNKNOWN};
	if (v->busy <= 0)
		return s;
	if (v->full && v->covered == length)
		s.level = STROKE_FULL;
	else
		s.level = level < 1 ? 1 : level > STROKE_FULL - 1 ? STROKE_FULL - 1 : level;
	return s;
}

/* Return the time at which a part, out of count parts, of the shown range begins. */
static uint64_t stroke_time(const struct lane_cells *c, unsigned int part, unsigned int count)
{
	return c->time + (uint64_t)((unsigned __int128)(c->end - c->time) * part / count);
}

void lanes_make_strokes(const struct lane_cells *c,
			enum fill (*program)(const void *context, uint64_t thread),
			const void *context, struct stroke *strokes, unsigned int count)
{
	const struct window *w = c->window;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t from = stroke_time(c, i, count), to = stroke_time(c, i + 1, count);
		struct fill_votes v = {.full = true};
		uint64_t first = from > w->time ? (from - w->time) / w->cell : 0;

		/* if there are more strokes than ns, several strokes show the same time */
		to = to > from ? to : from + 1;
		for (uint64_t at = first; at < w->width; at++) {
			const struct cell *cell = &c->cells[at];
			uint64_t overlap = lanes_cell_overlap(w, at, from, to);

			if (!overlap)
				break;
			add_cell_votes(&v, cell, overlap,
				       program ? program(context, cell->thread) : FILL_RUNNING);
		}
		strokes[i] = decide_stroke(&v, to - from);
	}
}
