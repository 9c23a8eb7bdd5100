/* SPDX-License-Identifier: Apache-2.0 */
/* Render windows from a list of states, cell by cell in the simplest way, as a reference. */
#ifndef SKEIN_TESTS_PAINTER_H
#define SKEIN_TESTS_PAINTER_H

#include <stdlib.h>
#include <string.h>

#include "base/record.h"
#include "trace/window.h"

/* A lane was in a state; thread: thread.id of the thread that ran on a CPU lane. */
struct reference_stretch {
	uint64_t lane, time, end, state, wait, thread;
};

struct reference {
	const struct reference_stretch *list;
	size_t count;
};

/* ns of one cell of one lane by state, wait and thread. */
struct reference_sums {
	uint64_t busy, states[STATE_COUNT], waits[STATE_COUNT][WAIT_COUNT], threads[64];
};

static inline void reference_cell(const struct reference *p, uint64_t lane, uint64_t from,
				  uint64_t size, struct cell *cell)
{
	struct reference_sums sums = {0};

	for (size_t i = 0; i < p->count; i++) {
		const struct reference_stretch *s = &p->list[i];
		uint64_t begin = s->time > from ? s->time : from;
		uint64_t end = s->end < from + size ? s->end : from + size;

		if (s->lane != lane || end <= begin)
			continue;
		sums.states[s->state] += end - begin;
		sums.waits[s->state][s->wait] += end - begin;
		sums.threads[s->thread] += s->thread ? end - begin : 0;
		sums.busy += s->state == STATE_RUNNING ? end - begin : 0;
	}
	for (uint8_t i = 1; i < STATE_COUNT; i++)
		if (sums.states[i] > sums.states[cell->state])
			cell->state = i;
	for (uint8_t i = 1; i < WAIT_COUNT; i++)
		if (sums.waits[cell->state][i] > sums.waits[cell->state][cell->wait])
			cell->wait = i;
	for (uint8_t i = 1; i < 64; i++)
		if (sums.threads[i] > sums.threads[cell->thread])
			cell->thread = i;
	cell->activity = (sums.busy * CELL_FULL + size / 2) / size;
	if (sums.busy && !cell->activity)
		cell->activity = 1;
	if (sums.busy < size && cell->activity == CELL_FULL)
		cell->activity = CELL_FULL - 1;
}

static inline int reference_window(void *context, const struct window_query *q, struct window **ret,
				   struct error *err)
{
	struct window *w = calloc(1, sizeof(*w));

	(void)err;
	w->cell = 1024;
	while (w->cell * 2 <= (q->end - q->time) / q->width)
		w->cell *= 2;
	w->time = q->time / w->cell * w->cell;
	w->width = (q->end - w->time + w->cell - 1) / w->cell;
	w->lanes = q->lane_count;
	w->cells = calloc(w->lanes * w->width, sizeof(*w->cells));
	for (size_t i = 0; i < w->lanes * w->width; i++)
		reference_cell(context, q->lanes[i / w->width], w->time + i % w->width * w->cell,
			       w->cell, &w->cells[i]);
	*ret = w;
	return 0;
}

static inline void reference_free(struct window *w)
{
	if (w)
		free(w->cells);
	free(w);
}

#endif
