// SPDX-License-Identifier: Apache-2.0
/* Show the counters of a process, and which of its threads waited for what its runtime keeps. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/quantities.h"
#include "base/units.h"
#include "cmd/report_runtime.h"
#include "cmd/report_sched.h"

#define COUNTER_ROWS 12
#define THREAD_ROWS 10
#define FIXED_COLUMNS 64 /* columns of a counter's row without its blocks, with a long name */
#define BLOCKS_LEAST 12

/* The classes of wait that runtimes define; those of the kernel come before them. */
#define FIRST_CLASS WAIT_MONITOR

static void value_cell(struct table *cells, const struct quantity *q, int64_t value)
{
	char text[QUANTITY_SIZE];

	table_cell(cells, quantity_show(q->unit, (double)value, text));
}

/* Write a row of blocks: the largest value in each part of the range, as a share of the largest. */
static void counter_blocks_cell(struct table *cells, const struct runtime_counter *c,
				unsigned int count)
{
	int64_t least = c->least < 0 ? c->least : 0, value = c->first;
	char text[RUNTIME_POINTS * 4 + 1] = "";
	double range = (double)c->most - (double)least;

	for (unsigned int i = 0; i < count; i++) {
		unsigned int at = i * RUNTIME_POINTS / count;
		unsigned int end = (i + 1) * RUNTIME_POINTS / count;
		bool seen = false;

		for (; at < end; at++) {
			if (!c->seen[at])
				continue;
			value = !seen || c->points[at] > value ? c->points[at] : value;
			seen = true;
		}
		strcat(text,
		       report_share_block(range > 0 ? ((double)value - (double)least) / range : 0));
	}
	table_cell(cells, text);
}

static void counter_cells(struct table *cells, const struct report_runtime *t,
			  const struct runtime_counter *c, unsigned int blocks)
{
	const char *name = runtime_sums_text(t->all, c->name);
	const struct quantity *q = quantity_of_name(name);

	value_cell(cells, q, c->first);
	value_cell(cells, q, c->least);
	value_cell(cells, q, c->most);
	value_cell(cells, q, c->last);
	counter_blocks_cell(cells, c, blocks);
	table_cell(cells, name);
}

static unsigned int counter_rank(const struct report_runtime *t, const struct runtime_counter *c)
{
	return quantity_rank(runtime_sums_text(t->all, c->name), c->least < c->most);
}

static int by_counter_rank(const void *a, const void *b, void *context)
{
	const struct runtime_counter *x = *(const struct runtime_counter *const *)a;
	const struct runtime_counter *y = *(const struct runtime_counter *const *)b;
	unsigned int of_x = counter_rank(context, x), of_y = counter_rank(context, y);

	if (of_x != of_y)
		return of_x < of_y ? -1 : 1;
	return (x > y) - (x < y);
}

typedef VECTOR(const struct runtime_counter *) counters_t;

/* List the counters of a process in the order of the table. */
static int list_counters(counters_t *out, const struct report_runtime *t, const struct process *p)
{
	for (size_t i = 0; i < t->all->counters.count; i++)
		if (t->all->counters.items[i].process == p->id &&
		    vector_push(out, &t->all->counters.items[i]) < 0)
			return -ENOMEM;
	if (out->count)
		qsort_r(out->items, out->count, sizeof(*out->items), by_counter_rank, (void *)t);
	return 0;
}

int report_runtime_counters(const struct report_runtime *t, const struct process *p,
			    const struct screen *to)
{
	static const struct column columns[] = {
		{"first", STYLE_PLAIN, true, CUT_END, 0},
		{"least", STYLE_PLAIN, true, CUT_END, 0},
		{"most", STYLE_BOLD, true, CUT_END, 0},
		{"last", STYLE_PLAIN, true, CUT_END, 0},
		{"over time", STYLE_WARM, false, CUT_END, 0},
		{"counter", STYLE_PLAIN, false, CUT_END, 10},
	};
	unsigned int room = to->width > FIXED_COLUMNS ? to->width - FIXED_COLUMNS : 0;
	unsigned int blocks = room < BLOCKS_LEAST     ? BLOCKS_LEAST
			      : room < RUNTIME_POINTS ? room
						      : RUNTIME_POINTS;
	struct table cells = {.columns = columns, .column_count = 6};
	char text[128], length[64];
	counters_t list = {0};
	int ret = list_counters(&list, t, p);
	size_t all = list.count, shown = report_row_limit(t->report, all, COUNTER_ROWS);

	if (ret < 0 || !all) {
		vector_free(&list);
		return ret;
	}
	snprintf(text, sizeof(text), "\nCounters over time; a block is %s\n",
		 show_duration(t->elapsed / blocks, length, sizeof(length)));
	screen_put(to, STYLE_BOLD, text);
	for (size_t i = 0; i < shown; i++)
		counter_cells(&cells, t, list.items[i], blocks);
	vector_free(&list);
	return table_finish(&cells, to, shown, all);
}

/* Return how long a thread waited for what its runtime keeps, ns. */
static uint64_t runtime_waited(const struct sched_times *times)
{
	uint64_t sum = 0;

	for (int wait = FIRST_CLASS; wait < WAIT_COUNT; wait++)
		sum += times->blocked[wait];
	return sum;
}

static int by_runtime_wait(const void *a, const void *b)
{
	const struct sched_row *x = *(const struct sched_row *const *)a;
	const struct sched_row *y = *(const struct sched_row *const *)b;
	uint64_t of_x = runtime_waited(&x->times), of_y = runtime_waited(&y->times);

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return x < y ? -1 : x > y;
}

static int put_waiting_threads(const struct report_runtime *t, const struct sched_row **list,
			       size_t all, const struct sched_times *sums, const struct screen *to)
{
	struct column columns[TABLE_MAX_COLUMNS];
	struct table cells = {.columns = columns};
	size_t count = report_row_limit(t->report, all, THREAD_ROWS);

	for (int wait = FIRST_CLASS; wait < WAIT_COUNT; wait++)
		if (sums->blocked[wait])
			columns[cells.column_count++] = (struct column){
				wait_class_word(wait), STYLE_WARM, true, CUT_END, 0};
	cells.column_count += report_sched_id_columns(columns + cells.column_count, GROUP_THREAD,
						      &(struct screen){.width = 0});
	screen_put(to, STYLE_BOLD,
		   "\nThreads that waited for what their runtime keeps (known by the scheduler)\n");
	for (size_t i = 0; i < count; i++) {
		for (int wait = FIRST_CLASS; wait < WAIT_COUNT; wait++)
			if (sums->blocked[wait])
				report_sched_duration_cell(&cells, list[i]->times.blocked[wait]);
		report_sched_id_cells(&cells, list[i], GROUP_THREAD, &(struct screen){.width = 0});
	}
	return table_finish(&cells, to, count, all);
}

int report_runtime_waits(const struct report_runtime *t, const struct process *p,
			 const struct screen *to)
{
	const struct report_sched *sched = t->report->sched;
	const struct sched_rows *rows = sched ? &sched->rows[GROUP_THREAD] : NULL;
	VECTOR(const struct sched_row *) list = {0};
	struct sched_times sums = {0};
	int ret = 0;

	for (size_t i = 0; rows && i < rows->order.count && !ret; i++) {
		const struct sched_row *row = report_sched_row(rows, i);

		if (row->process->id != p->id || !runtime_waited(&row->times))
			continue;
		sched_times_add(&sums, &row->times);
		ret = vector_push(&list, row);
	}
	if (list.count && !ret) {
		qsort(list.items, list.count, sizeof(*list.items), by_runtime_wait);
		ret = put_waiting_threads(t, list.items, list.count, &sums, to);
	}
	vector_free(&list);
	return ret;
}
