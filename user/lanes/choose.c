// SPDX-License-Identifier: Apache-2.0
/* Choose the rows of a timeline and compute their strokes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lanes/lanes.h"

#define BATCH_CELLS (1u << 18) /* cells of one query; bounds the memory for any number of lanes */
#define RANK_CELLS 64 /* cells per lane, enough to order the lanes by their busy time */
/*
 * Cells per lane of LANE_STATES_SLICES. To render such lanes, each query reads the slices of the
 * range again; with few cells per lane, one query has room for many lanes.
 */
#define RANK_CELLS_SLICED 1
/* cells of a window per stroke, so that a cell at the edge of two strokes matters little */
#define CELLS_PER_STROKE 8

/* A function to call for each row of a list, with the cells of its lane. */
struct row_visit {
	struct lanes *lanes;
	lane_rows_t *rows;
	unsigned int width; /* least number of cells of each lane */
	int (*each)(const struct row_visit *v, struct lane_row *row, const struct lane_cells *c);
	void *context;
};

/* Query the window for count rows from index first on, and visit them. */
static int visit_row_batch(const struct row_visit *v, size_t first, size_t count, struct error *err)
{
	struct lanes *l = v->lanes;
	uint64_t *ids = calloc(count, sizeof(*ids));
	struct window_query q = {l->time, l->end, v->width, ids, count};
	struct window *w = NULL;
	int ret;

	if (!ids)
		return error_errno(err, -ENOMEM, "cannot draw the timeline");
	for (size_t i = 0; i < count; i++)
		ids[i] = v->rows->items[first + i].lane;
	ret = l->windows->window(l->windows->context, &q, &w, err);
	free(ids);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < count && i < w->lanes && !ret; i++) {
		const struct lane_cells c = {w, w->cells + i * w->width, l->time, l->end};

		ret = v->each(v, &v->rows->items[first + i], &c);
	}
	l->windows->free(w);
	return ret < 0 ? error_errno(err, ret, "cannot draw the timeline") : 0;
}

static int visit_rows(const struct row_visit *v, struct error *err)
{
	/* rows of one query: a lane has up to 4 * width + 2 cells, see trace_window() */
	size_t most = BATCH_CELLS / (4 * (size_t)v->width + 2) + 1, count = v->rows->count;
	int ret = 0;

	for (size_t first = 0; first < count && !ret; first += most)
		ret = visit_row_batch(v, first, count - first < most ? count - first : most, err);
	return ret;
}

static int measure_row(const struct row_visit *v, struct lane_row *row, const struct lane_cells *c)
{
	struct lane_load load = lanes_measure_load(c);
	double range = (double)(c->end - c->time);

	(void)v;
	row->busy = load.busy / range;
	/* having a CPU weighs more than waiting for one */
	row->wanted = row->busy + load.runnable / 2 / range;
	row->full = load.full;
	row->exists = false;
	for (unsigned int i = 0; i < c->window->width && !row->exists; i++)
		row->exists =
			c->cells[i].state && lanes_cell_overlap(c->window, i, c->time, c->end);
	return 0;
}

/* Order rows by wanted time first, because a starving thread deserves a row, too. */
static int by_wanted_time(const void *a, const void *b)
{
	const struct lane_row *x = a, *y = b;

	if (x->wanted != y->wanted)
		return x->wanted < y->wanted ? 1 : -1;
	if (x->busy != y->busy)
		return x->busy < y->busy ? 1 : -1;
	return (x->lane > y->lane) - (x->lane < y->lane);
}

static int by_cpu_number(const void *a, const void *b)
{
	const struct lane_row *x = a, *y = b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void sort_lane_rows(lane_rows_t *rows, int (*compare)(const void *, const void *))
{
	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), compare);
}

static void keep_top_rows(lane_rows_t *rows, size_t limit)
{
	sort_lane_rows(rows, by_wanted_time);
	if (limit && rows->count > limit)
		rows->count = limit;
}

static int choose_cpu_rows(struct lanes *l, const struct lanes_limits *limits, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < l->entities.cpus.count && !ret; i++) {
		struct lane_row row = {.lane = l->entities.cpus.items[i].id,
				       .cpu = l->entities.cpus.items[i].number,
				       .thread = LANES_NONE};

		ret = vector_push(&l->cpus, row);
	}
	if (ret < 0)
		return error_errno(err, ret, "cannot draw the timeline");
	l->cpu_total = l->cpus.count;
	ret = visit_rows(&(struct row_visit){l, &l->cpus, RANK_CELLS, measure_row, NULL}, err);
	keep_top_rows(&l->cpus, limits->cpus);
	sort_lane_rows(&l->cpus, by_cpu_number);
	return ret;
}

/*
 * Return whether one name of a lane's thread suits the range better than another. The last name
 * that starts before the end of the range is best; if all start later, the first is.
 */
static bool is_better_name(const struct lanes *l, uint32_t thread, uint32_t than)
{
	uint64_t start = l->entities.threads.items[thread].start;
	uint64_t other = l->entities.threads.items[than].start;

	return other >= l->end ? start <= other : start >= other && start < l->end;
}

/* List one row for each lane whose thread the filter selects under any of its names. */
static int list_thread_rows(struct lanes *l)
{
	struct index row_by_lane = {0};
	int ret = 0;

	for (uint32_t i = 0; i < l->entities.threads.count && !ret; i++) {
		const struct lane_thread *t = &l->entities.threads.items[i];
		uint32_t at = index_get(&row_by_lane, t->lane);
		struct lane_row row = {.lane = t->lane, .thread = i};

		if (!t->lane || !t->selected)
			continue;
		if (at == INDEX_NONE) {
			ret = vector_push(&l->threads, row);
			if (!ret)
				ret = index_put(&row_by_lane, t->lane, l->threads.count - 1);
		} else if (is_better_name(l, i, l->threads.items[at].thread)) {
			l->threads.items[at].thread = i;
		}
	}
	index_free(&row_by_lane);
	return ret;
}

/*
 * Drop the rows of lanes that wanted no CPU time in the range; if everything is set, only those of
 * which nothing is known in the range.
 */
static void drop_idle_rows(lane_rows_t *rows, bool everything)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (everything ? rows->items[i].exists : rows->items[i].wanted > 0)
			rows->items[kept++] = rows->items[i];
	rows->count = kept;
}

static uint32_t process_of_thread(const struct lanes *l, uint32_t thread)
{
	return l->entities.threads.items[thread].process;
}

/* Count the rows of each process, and of all, before a limit drops some. */
static void count_thread_rows(struct lanes *l)
{
	for (size_t i = 0; i < l->entities.processes.count; i++)
		l->entities.processes.items[i].rows = 0;
	for (size_t i = 0; i < l->threads.count; i++) {
		uint32_t process = process_of_thread(l, l->threads.items[i].thread);

		if (process != LANES_NONE)
			l->entities.processes.items[process].rows++;
	}
	l->thread_total = l->threads.count;
}

/*
 * A row with its sort keys: the CPU time that its process wanted, then the process, then the time
 * that the thread itself wanted.
 */
struct ranked_row {
	struct lane_row row;
	double process_wanted;
	uint32_t process;
};

static int by_process_wanted(const void *a, const void *b)
{
	const struct ranked_row *x = a, *y = b;

	if (x->process_wanted != y->process_wanted)
		return x->process_wanted < y->process_wanted ? 1 : -1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return by_wanted_time(&x->row, &y->row);
}

static int group_thread_rows(struct lanes *l)
{
	double *wanted = calloc(l->entities.processes.count + 1, sizeof(*wanted));
	struct ranked_row *list = calloc(l->threads.count + 1, sizeof(*list));
	size_t count = l->threads.count;

	for (size_t i = 0; i < count && wanted && list; i++) {
		uint32_t process = process_of_thread(l, l->threads.items[i].thread);

		list[i] = (struct ranked_row){.row = l->threads.items[i], .process = process};
		if (process != LANES_NONE)
			wanted[process] += list[i].row.wanted;
	}
	for (size_t i = 0; i < count && wanted && list; i++)
		if (list[i].process != LANES_NONE)
			list[i].process_wanted = wanted[list[i].process];
	if (wanted && list) {
		qsort(list, count, sizeof(*list), by_process_wanted);
		for (size_t i = 0; i < count; i++)
			l->threads.items[i] = list[i].row;
	}
	free(wanted);
	free(list);
	return wanted && list ? 0 : -ENOMEM;
}

static int choose_sliced_rows(struct lanes *l, const struct lanes_limits *limits, struct error *err)
{
	struct row_visit v = {l, &l->sliced, RANK_CELLS_SLICED, measure_row, NULL};
	int ret = 0;

	for (size_t i = 0; i < l->entities.sliced.count && !ret; i++) {
		const struct lane *lane = &l->entities.sliced.items[i];
		struct lane_row row = {.lane = lane->id, .sliced = lane, .thread = LANES_NONE};

		ret = vector_push(&l->sliced, row);
	}
	if (ret < 0)
		return error_errno(err, ret, "cannot draw the timeline");
	ret = visit_rows(&v, err);
	drop_idle_rows(&l->sliced, limits->everything);
	l->sliced_total = l->sliced.count;
	keep_top_rows(&l->sliced, limits->threads);
	return ret;
}

int lanes_choose(struct lanes *l, const struct lanes_limits *limits, struct error *err)
{
	int ret = choose_cpu_rows(l, limits, err);

	if (ret < 0)
		return ret;
	ret = list_thread_rows(l);
	if (ret < 0)
		return error_errno(err, ret, "cannot draw the timeline");
	ret = visit_rows(&(struct row_visit){l, &l->threads, RANK_CELLS, measure_row, NULL}, err);
	if (ret < 0)
		return ret;
	drop_idle_rows(&l->threads, limits->everything);
	count_thread_rows(l);
	keep_top_rows(&l->threads, limits->threads);
	ret = group_thread_rows(l);
	if (!ret)
		ret = lanes_choose_runtimes(l);
	if (ret < 0)
		return error_errno(err, ret, "cannot draw the timeline");
	return choose_sliced_rows(l, limits, err);
}

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
	memset(l->program_fills, FILL_OTHERS, count);
	for (l->program_count = 0; l->program_count < PROGRAM_FILLS; l->program_count++) {
		size_t best = 0;

		for (size_t i = 1; i < count; i++)
			if (weights[i] > weights[best])
				best = i;
		if (!count || weights[best] <= 0)
			break;
		weights[best] = 0;
		l->top_programs[l->program_count] = best;
		l->program_fills[best] = FILL_PROGRAM_A + l->program_count;
	}
}

static int choose_program_fills(struct lanes *l, unsigned int width, struct error *err)
{
	size_t count = l->entities.programs.texts.count;
	double *weights = calloc(count + 1, sizeof(*weights));
	int ret;

	free(l->program_fills);
	l->program_fills = calloc(count + 1, 1);
	if (!weights || !l->program_fills) {
		free(weights);
		return error_errno(err, -ENOMEM, "cannot draw the timeline");
	}
	ret = visit_rows(&(struct row_visit){l, &l->cpus, width, add_program_weights, weights},
			 err);
	assign_program_fills(l, weights, count);
	free(weights);
	return ret;
}

static enum fill program_fill(const void *context, uint64_t thread)
{
	const struct lanes *l = context;
	uint32_t process = selected_process(l, thread);

	return process == LANES_NONE
		       ? FILL_OTHERS
		       : l->program_fills[l->entities.processes.items[process].program];
}

/* Return the bits of struct lanes.used for the strokes of a row, two in each character. */
static uint64_t used_by_strokes(const struct stroke *strokes, unsigned int count)
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
	measure_row(v, row, c);
	lanes_make_strokes(c, row->thread == LANES_NONE && !row->sliced ? program_fill : NULL, l,
			   row->strokes, count);
	if (v->rows == &l->cpus)
		l->used_on_cpus |= used_by_strokes(row->strokes, count);
	else
		l->used |= used_by_strokes(row->strokes, count);
	return 0;
}

int lanes_render(struct lanes *l, unsigned int columns, struct error *err)
{
	unsigned int count = 2 * columns;
	struct row_visit v = {l, &l->cpus, CELLS_PER_STROKE * count, render_row, &count};
	int ret = choose_program_fills(l, v.width, err);

	l->used_on_cpus = l->used = 0;
	if (!ret)
		ret = visit_rows(&v, err);
	v.rows = &l->threads;
	if (!ret)
		ret = visit_rows(&v, err);
	v.rows = &l->sliced;
	if (!ret)
		ret = visit_rows(&v, err);
	if (!ret && lanes_render_runtimes(l, count) < 0)
		ret = error_errno(err, -ENOMEM, "cannot draw the timeline");
	return ret;
}
