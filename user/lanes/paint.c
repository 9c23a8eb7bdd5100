// SPDX-License-Identifier: Apache-2.0
/* Compute the strokes of rows, and which programs have colours of their own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lanes/join.h"
#include "lanes/visit.h"

/* Cells for a stroke of half a character: one at the edge of two strokes matters little. */
#define CELLS_PER_STROKE 8
/* Cells for a stroke of a pixel, where that is not seen. */
#define CELLS_PER_COLUMN 1

/* Return the process of a selected thread; LANES_NONE for all other threads. */
static uint32_t selected_process(const struct lanes *l, uint64_t thread)
{
	uint32_t at = thread ? index_get(&l->entities.thread_by_id, thread) : INDEX_NONE;

	if (at == INDEX_NONE || !l->entities.threads.items[at].selected)
		return LANES_NONE;
	return l->entities.threads.items[at].process;
}

/* Add the CPU time of each program's selected threads to context, an array by program number. */
static int add_program_weights(const struct row_visit *v, struct lane_row *row,
			       const struct lane_cells *c)
{
	const struct lanes *l = v->lanes;
	double *weights = v->context;

	(void)row;
	for (unsigned int i = 0; i < c->window->width; i++) {
		uint32_t process = selected_process(l, c->cells[i].thread);

		if (process != LANES_NONE)
			weights[l->entities.processes.items[process].program] +=
				(double)lanes_cell_overlap(c->window, i, c->time, c->end) *
				c->cells[i].activity;
	}
	return 0;
}

/* Give the programs with the most CPU time colours of their own. */
static void assign_program_fills(struct lanes *l, double *weights, size_t count)
{
	for (l->program_count = 0; l->program_count < PROGRAM_FILLS; l->program_count++) {
		size_t best = 0;

		for (size_t i = 1; i < count; i++)
			if (weights[i] > weights[best])
				best = i;
		if (!count || weights[best] <= 0)
			break;
		weights[best] = 0;
		l->top_programs[l->program_count] = best;
	}
}

enum fill lanes_fill_of_program(const struct lanes *l, uint32_t program)
{
	for (unsigned int i = 0; i < l->program_count; i++)
		if (l->top_programs[i] == program)
			return (enum fill)(FILL_PROGRAM_A + i);
	return FILL_OTHERS;
}

/* Note the fill of each thread, because a window asks for that of each cell of a CPU. */
static void assign_thread_fills(struct lanes *l)
{
	const struct lanes_entities *c = &l->entities;

	for (size_t i = 0; i < c->threads.count; i++) {
		const struct lane_thread *t = &c->threads.items[i];

		l->thread_fills[i] =
			t->selected && t->process != LANES_NONE
				? lanes_fill_of_program(l, c->processes.items[t->process].program)
				: FILL_OTHERS;
	}
}

int lanes_choose_programs(struct lanes *l, unsigned int width, struct error *err)
{
	size_t count = l->entities.programs.texts.count;
	double *weights = calloc(count + 1, sizeof(*weights));
	int ret;

	free(l->thread_fills);
	l->thread_fills = calloc(l->entities.threads.count + 1, 1);
	if (weights && l->thread_fills) {
		ret = lanes_visit_rows(
			&(struct row_visit){l, &l->cpus, width, add_program_weights, weights}, err);
		assign_program_fills(l, weights, count);
		assign_thread_fills(l);
	} else {
		ret = error_errno(err, -ENOMEM, "cannot draw the timeline");
	}
	free(weights);
	return ret;
}

enum fill lanes_program_fill(const struct lanes *l, uint64_t thread)
{
	uint32_t at = thread ? index_get(&l->entities.thread_by_id, thread) : INDEX_NONE;

	return at == INDEX_NONE ? FILL_OTHERS : (enum fill)l->thread_fills[at];
}

static enum fill program_fill(const void *context, uint64_t thread)
{
	return lanes_program_fill(context, thread);
}

uint64_t lanes_used_fills(const struct stroke *strokes, unsigned int count)
{
	uint64_t used = 0;

	for (unsigned int i = 0; i < count; i++) {
		const struct stroke *s = &strokes[i];

		if (s->level)
			used |= 1ULL << s->bar;
		if (!s->level || (s->level < STROKE_FULL && fill_is_solid(s->ground)))
			used |= 1ULL << s->ground;
		if ((s->level && s->level < STROKE_FULL) || (i % 2 && s->level != s[-1].level))
			used |= 1ULL << LANES_PARTLY;
	}
	return used;
}

static int render_row(const struct row_visit *v, struct lane_row *row, const struct lane_cells *c)
{
	unsigned int count = *(const unsigned int *)v->context;
	struct lanes *l = v->lanes;

	free(row->strokes);
	row->strokes = calloc(count + 1, sizeof(*row->strokes));
	if (!row->strokes)
		return -ENOMEM;
	lanes_measure_row(v, row, c);
	lanes_make_strokes(c, row->thread == LANES_NONE && !row->sliced ? program_fill : NULL, l,
			   row->strokes, count);
	if (v->rows == &l->cpus)
		l->used_on_cpus |= lanes_used_fills(row->strokes, count);
	else
		l->used |= lanes_used_fills(row->strokes, count);
	return 0;
}

int lanes_render(struct lanes *l, unsigned int columns, struct error *err)
{
	unsigned int count = 2 * columns;
	struct row_visit v = {l, &l->cpus, CELLS_PER_STROKE * count, render_row, &count};
	int ret = lanes_choose_programs(l, v.width, err);

	l->used_on_cpus = l->used = 0;
	if (!ret)
		ret = lanes_visit_rows(&v, err);
	v.rows = &l->threads;
	if (!ret)
		ret = l->by == LANES_BY_THREAD ? lanes_visit_rows(&v, err)
					       : lanes_render_joined(l, count, err);
	v.rows = &l->sliced;
	if (!ret)
		ret = lanes_visit_rows(&v, err);
	if (!ret && (lanes_render_runtimes(l, count) < 0 || lanes_render_counters(l, columns) < 0))
		ret = error_errno(err, -ENOMEM, "cannot draw the timeline");
	return ret;
}

/* Paint one row of lanes_paint() into its strokes, of which context has the number. */
static int paint_row(const struct row_visit *v, struct lane_row *row, const struct lane_cells *c)
{
	unsigned int count = *(const unsigned int *)v->context;
	bool cpu = row->thread == LANES_NONE && !row->sliced;

	lanes_make_strokes(c, cpu ? program_fill : NULL, v->lanes, row->strokes, count);
	return 0;
}

static const struct lane *sliced_lane_of(const struct lanes *l, uint64_t lane)
{
	for (size_t i = 0; i < l->sliced.count; i++)
		if (l->sliced.items[i].lane == lane)
			return l->sliced.items[i].sliced;
	return NULL;
}

/* Return a row for a lane whose strokes are made from cells. */
static struct lane_row row_to_paint(const struct lanes *l, uint64_t lane, struct stroke *strokes)
{
	enum lane_kind kind = (enum lane_kind)lane_owners_find(&l->entities.owners, lane).kind;

	return (struct lane_row){.lane = lane,
				 .thread = kind == LANE_THREAD ? 0 : LANES_NONE,
				 .sliced = sliced_lane_of(l, lane),
				 .strokes = strokes};
}

static bool is_lane_of_acts(const struct lanes *l, uint64_t lane)
{
	uint64_t kind = lane_owners_find(&l->entities.owners, lane).kind;

	return kind == LANE_RUNTIME || kind == LANE_HANDLERS;
}

int lanes_paint(const struct lanes *l, const struct lanes_query *q, struct stroke *strokes,
		struct error *err)
{
	struct lanes shown = *l; /* the same lanes in another range; owns nothing */
	unsigned int count = q->columns;
	lane_rows_t rows = {0};
	struct row_visit v = {&shown, &rows, CELLS_PER_COLUMN * count, paint_row, &count};
	int ret = 0;

	shown.time = q->time;
	shown.end = q->end;
	for (size_t i = 0; i < q->count && !ret; i++) {
		struct lane_row row = row_to_paint(l, q->lanes[i], strokes + i * count);

		if (is_lane_of_acts(l, row.lane))
			ret = lanes_runtime_strokes(&shown, row.lane, row.strokes, count);
		else
			ret = vector_push(&rows, row);
	}
	if (ret < 0)
		ret = error_errno(err, ret, "cannot draw the timeline");
	else
		ret = lanes_visit_rows(&v, err);
	vector_free(&rows);
	return ret;
}
