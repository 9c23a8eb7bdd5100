// SPDX-License-Identifier: Apache-2.0
/* Choose the rows of a timeline. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lanes/join.h"
#include "lanes/visit.h"

#define RANK_CELLS 64 /* cells per lane, enough to order the lanes by their busy time */
/*
 * Cells per lane of LANE_STATES_SLICES. To render such lanes, each query reads the slices of the
 * range again; with few cells per lane, one query has room for many lanes.
 */
#define RANK_CELLS_SLICED 1
int lanes_measure_row(const struct row_visit *v, struct lane_row *row, const struct lane_cells *c)
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
	if (limit)
		lanes_drop_rows(rows, limit);
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
	ret = lanes_visit_rows(
		&(struct row_visit){l, &l->cpus, RANK_CELLS, lanes_measure_row, NULL}, err);
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
	if (x->row.number != y->row.number)
		return x->row.number < y->row.number ? -1 : 1;
	return by_wanted_time(&x->row, &y->row);
}

/* Bring rows of threads into the order of l->threads. */
static int group_thread_rows(const struct lanes *l, lane_rows_t *rows)
{
	double *wanted = calloc(l->entities.processes.count + 1, sizeof(*wanted));
	struct ranked_row *list = calloc(rows->count + 1, sizeof(*list));
	size_t count = rows->count;

	for (size_t i = 0; i < count && wanted && list; i++) {
		uint32_t process = process_of_thread(l, rows->items[i].thread);

		list[i] = (struct ranked_row){.row = rows->items[i], .process = process};
		if (process != LANES_NONE)
			wanted[process] += list[i].row.wanted;
	}
	for (size_t i = 0; i < count && wanted && list; i++)
		if (list[i].process != LANES_NONE)
			list[i].process_wanted = wanted[list[i].process];
	if (wanted && list) {
		qsort(list, count, sizeof(*list), by_process_wanted);
		for (size_t i = 0; i < count; i++)
			rows->items[i] = list[i].row;
	}
	free(wanted);
	free(list);
	return wanted && list ? 0 : -ENOMEM;
}

static int choose_sliced_rows(struct lanes *l, const struct lanes_limits *limits, struct error *err)
{
	struct row_visit v = {l, &l->sliced, RANK_CELLS_SLICED, lanes_measure_row, NULL};
	int ret = 0;

	for (size_t i = 0; i < l->entities.sliced.count && !ret; i++) {
		const struct lane *lane = &l->entities.sliced.items[i];
		struct lane_row row = {.lane = lane->id, .sliced = lane, .thread = LANES_NONE};

		ret = vector_push(&l->sliced, row);
	}
	if (ret < 0)
		return error_errno(err, ret, "cannot draw the timeline");
	ret = lanes_visit_rows(&v, err);
	drop_idle_rows(&l->sliced, limits->everything);
	l->sliced_total = l->sliced.count;
	keep_top_rows(&l->sliced, limits->threads);
	return ret;
}

/* Let the rows of threads be those of a choice. */
static int join_thread_rows(struct lanes *l, enum lanes_by by)
{
	lane_rows_t joined = {0};
	int ret;

	l->by = by;
	if (by == LANES_BY_THREAD)
		return 0;
	ret = lanes_join_rows(l, by, &joined);
	lanes_drop_rows(&l->threads, 0);
	vector_free(&l->threads);
	l->threads = joined;
	return ret;
}

int lanes_join_all(struct lanes *l, struct error *err)
{
	int ret = 0;

	for (unsigned int by = LANES_BY_THREAD + 1; by < LANES_BY_COUNT && !ret; by++) {
		ret = lanes_join_rows(l, by, &l->joined[by]);
		if (!ret)
			ret = group_thread_rows(l, &l->joined[by]);
	}
	return ret < 0 ? error_errno(err, ret, "cannot draw the timeline") : 0;
}

const lane_rows_t *lanes_rows_by(const struct lanes *l, enum lanes_by by)
{
	return by == l->by ? &l->threads : &l->joined[by];
}

int lanes_choose(struct lanes *l, const struct lanes_limits *limits, struct error *err)
{
	int ret = choose_cpu_rows(l, limits, err);

	if (ret < 0)
		return ret;
	ret = list_thread_rows(l);
	if (ret < 0)
		return error_errno(err, ret, "cannot draw the timeline");
	ret = lanes_visit_rows(
		&(struct row_visit){l, &l->threads, RANK_CELLS, lanes_measure_row, NULL}, err);
	if (ret < 0)
		return ret;
	drop_idle_rows(&l->threads, limits->everything);
	ret = join_thread_rows(l, limits->by);
	if (ret < 0)
		return error_errno(err, ret, "cannot draw the timeline");
	count_thread_rows(l);
	keep_top_rows(&l->threads, limits->threads);
	ret = group_thread_rows(l, &l->threads);
	if (!ret)
		ret = lanes_choose_runtimes(l);
	if (!ret)
		ret = lanes_choose_counters(l, limits);
	if (ret < 0)
		return error_errno(err, ret, "cannot draw the timeline");
	return choose_sliced_rows(l, limits, err);
}
