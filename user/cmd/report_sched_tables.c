// SPDX-License-Identifier: Apache-2.0
/* Show the scheduler's detailed tables: times and waits per group, and which thread woke which. */
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "cmd/report_sched.h"

#define ROWS 20
#define SECTION_ROWS 10
#define NAME_COLUMNS 21 /* least width of a pid and a name, in columns */
#define ROUNDED_TIME 1000 /* ns for each thread */
#define REST_COLUMNS 10 /* columns of "the rest" and the gap after it */

static void put_sched_title(const struct screen *to, const char *text)
{
	fputc('\n', to->out);
	screen_put(to, STYLE_BOLD, text);
}

/* Hide unknown times up to ROUNDED_TIME, because time stamps of slices are rounded down. */
static void unknown_cell(struct table *t, const struct sched_row *r)
{
	report_sched_duration_cell(
		t, r->times.unknown > ROUNDED_TIME * r->threads ? r->times.unknown : 0);
}

/* Show how the lifetime of each group was spent. The columns of a row add up to its lifetime. */
static int put_sched_times(const struct report_sched *s, const struct screen *to, enum group_by by)
{
	/* a narrow table adds unused time to stopped time */
	bool wide = to->width >= SCHED_WIDE;
	struct column columns[TABLE_MAX_COLUMNS] = {
		{"on CPU", STYLE_BOLD, true, CUT_END, 0},
		{"woken", STYLE_WARM, true, CUT_END, 0},
		{"preempted", STYLE_WARM, true, CUT_END, 0},
		{"blocked", STYLE_PLAIN, true, CUT_END, 0},
		{wide ? "stopped" : "inactive", STYLE_PLAIN, true, CUT_END, 0},
		{"unused", STYLE_DIM, true, CUT_END, 0},
		{"unknown", STYLE_HOT, true, CUT_END, 0},
	};
	const struct sched_rows *rows = &s->rows[by];
	size_t count = report_row_limit(s->report, rows->order.count, ROWS);
	struct table t = {.columns = columns};

	t.column_count = 7 + report_sched_id_columns(columns + 7, by, to);
	put_sched_title(to, "Time on a CPU; waiting for one, after being woken or preempted; "
			    "not wanting one\n");
	for (size_t i = 0; i < count; i++) {
		const struct sched_row *r = report_sched_row(rows, i);

		report_sched_duration_cell(&t, r->times.running);
		report_sched_duration_cell(&t, r->times.queued[QUEUED_WOKEN]);
		report_sched_duration_cell(&t, r->times.queued[QUEUED_PREEMPTED]);
		report_sched_duration_cell(&t, sched_blocked(&r->times));
		report_sched_duration_cell(&t, r->times.stopped + (wide ? 0 : r->times.unused));
		report_sched_duration_cell(&t, wide ? r->times.unused : 0);
		unknown_cell(&t, r);
		report_sched_id_cells(&t, r, by, to);
	}
	return table_finish(&t, to, count, rows->order.count);
}

static uint64_t blocked_time(const struct sched_times *t, int wait)
{
	return t->blocked[wait] + (wait == WAIT_OTHER ? t->blocked[0] : 0);
}

/* Return the columns that a class takes, including the gap after it. */
static unsigned int wait_column_width(int wait)
{
	unsigned int title = (unsigned int)strlen(wait_class_word(wait));

	return (title > SCHED_NUMBER_COLUMNS ? title : SCHED_NUMBER_COLUMNS) + 2;
}

void report_sched_choose_classes(struct report_wait_classes *c, const struct sched_times *all,
				 unsigned int room)
{
	bool taken[WAIT_COUNT] = {false};
	unsigned int width = 0, rest = REST_COLUMNS;

	*c = (struct report_wait_classes){.count = 0};
	for (int n = 1; n < WAIT_COUNT; n++) {
		int most = 0;

		for (int wait = 1; wait < WAIT_COUNT; wait++)
			if (!taken[wait] &&
			    (!most || blocked_time(all, wait) > blocked_time(all, most)))
				most = wait;
		if (!blocked_time(all, most))
			break;
		taken[most] = true;
		width += wait_column_width(most);
		c->rest = c->rest || width + rest > room;
		if (!c->rest)
			c->wait[c->count++] = most;
	}
}

unsigned int report_sched_blocked_columns(struct column *columns,
					  const struct report_wait_classes *c)
{
	unsigned int count = 0;

	for (; count < c->count; count++)
		columns[count] = (struct column){wait_class_word(c->wait[count]), STYLE_PLAIN, true,
						 CUT_END, 0};
	if (c->rest)
		columns[count++] = (struct column){"the rest", STYLE_PLAIN, true, CUT_END, 0};
	return count;
}

void report_sched_blocked_cells(struct table *t, const struct sched_times *times,
				const struct report_wait_classes *c)
{
	uint64_t rest = sched_blocked(times);

	for (unsigned int i = 0; i < c->count; i++) {
		uint64_t ns = blocked_time(times, c->wait[i]);

		rest -= ns;
		report_sched_duration_cell(t, ns);
	}
	if (c->rest)
		report_sched_duration_cell(t, rest);
}

static int put_sched_blocked(const struct report_sched *s, const struct screen *to,
			     enum group_by by)
{
	struct column columns[TABLE_MAX_COLUMNS];
	const struct sched_rows *rows = &s->rows[by];
	size_t count = report_row_limit(s->report, rows->order.count, ROWS);
	struct table t = {.columns = columns};
	struct sched_times all = {0};
	struct report_wait_classes c;

	for (size_t i = 0; i < rows->order.count; i++)
		sched_times_add(&all, &report_sched_row(rows, i)->times);
	if (!sched_blocked(&all))
		return 0;
	report_sched_choose_classes(&c, &all, to->width - NAME_COLUMNS);
	t.column_count = report_sched_blocked_columns(columns, &c);
	t.column_count += report_sched_id_columns(columns + t.column_count, by, to);
	put_sched_title(to, "What they were blocked on\n");
	for (size_t i = 0; i < count; i++) {
		report_sched_blocked_cells(&t, &report_sched_row(rows, i)->times, &c);
		report_sched_id_cells(&t, report_sched_row(rows, i), by, to);
	}
	return table_finish(&t, to, count, rows->order.count);
}

/*
 * Write the waits in the run queue: quantiles and the longest wait. Single threads have no
 * quantiles, but the mean.
 */
static void wait_cells(struct table *t, const struct sched_row *r, enum group_by by,
		       enum queued how, bool wide)
{
	const struct sched_counts *c = &r->counts;

	if (by == GROUP_THREAD) {
		report_sched_duration_cell(t, c->waits[how] ? c->waited[how] / c->waits[how] : 0);
	} else {
		report_sched_quantile_cell(t, &r->waits[how], 50);
		if (wide)
			report_sched_quantile_cell(t, &r->waits[how], 90);
		report_sched_quantile_cell(t, &r->waits[how], 99);
	}
	report_sched_duration_cell(t, c->longest[how]);
}

static unsigned int wait_columns(struct column *columns, enum group_by by, bool wide)
{
	static const struct column quantiles[] = {
		{"p50", STYLE_PLAIN, true, CUT_END, 0},
		{"p90", STYLE_PLAIN, true, CUT_END, 0},
		{"p99", STYLE_PLAIN, true, CUT_END, 0},
		{"max", STYLE_WARM, true, CUT_END, 0},
	};
	static const struct column means[] = {
		{"mean", STYLE_PLAIN, true, CUT_END, 0},
		{"max", STYLE_WARM, true, CUT_END, 0},
	};
	unsigned int count = 0;

	if (by == GROUP_THREAD) {
		memcpy(columns, means, sizeof(means));
		return 2;
	}
	for (unsigned int i = 0; i < 4; i++)
		if (wide || i != 1)
			columns[count++] = quantiles[i];
	return count;
}

static int put_sched_waits(const struct report_sched *s, const struct screen *to, enum group_by by)
{
	struct column columns[TABLE_MAX_COLUMNS] = {
		{"slept", STYLE_PLAIN, true, CUT_END, 0},
		{"preempted", STYLE_PLAIN, true, CUT_END, 0},
		{"wake-ups", STYLE_PLAIN, true, CUT_END, 0},
	};
	const struct sched_rows *rows = &s->rows[by];
	size_t count = report_row_limit(s->report, rows->order.count, ROWS);
	struct table t = {.columns = columns, .column_count = 3};
	bool wide = to->width >= SCHED_WIDE;

	t.column_count += wait_columns(columns + t.column_count, by, wide);
	t.column_count += report_sched_id_columns(columns + t.column_count, by, to);
	put_sched_title(
		to,
		"How often they left their CPU and were woken, and how long they then waited\n");
	for (size_t i = 0; i < count; i++) {
		const struct sched_row *r = report_sched_row(rows, i);

		report_sched_count_cell(&t, r->counts.switches[SWITCH_VOLUNTARY]);
		report_sched_count_cell(&t, r->counts.switches[SWITCH_INVOLUNTARY]);
		report_sched_count_cell(&t, r->counts.wakeups);
		wait_cells(&t, r, by, QUEUED_WOKEN, wide);
		report_sched_id_cells(&t, r, by, to);
	}
	return table_finish(&t, to, count, rows->order.count);
}

/*
 * Write one end of a wake-up. Threads are shown with their tids, because threads often share a
 * name.
 */
static void waker_cell(struct table *t, const struct sched_rows *rows, uint32_t at)
{
	const struct sched_row *r = at < rows->list.count ? &rows->list.items[at] : NULL;

	if (r && r->thread)
		table_cellf(t, "%.128s (%" PRIu64 ")", r->name, r->thread->tid);
	else
		table_cell(t, report_sched_waker_name(rows, at));
}

static int put_sched_wakers(const struct report_sched *s, const struct screen *to, enum group_by by)
{
	static const struct column columns[] = {
		{"wake-ups", STYLE_BOLD, true, CUT_END, 0},
		{"per second", STYLE_PLAIN, true, CUT_END, 0},
		{"share", STYLE_PLAIN, true, CUT_END, 0},
		{"by", STYLE_PLAIN, false, CUT_END, 16},
		{"of", STYLE_PLAIN, false, CUT_END, 16},
	};
	const struct sched_rows *rows = &s->rows[by];
	size_t count = report_row_limit(s->report, rows->wakes.count, SECTION_ROWS);
	struct table t = {.columns = columns, .column_count = 5};
	double seconds = (double)s->elapsed / 1e9;

	if (!rows->wakes.count)
		return 0;
	put_sched_title(to, "Who woke whom\n");
	for (size_t i = 0; i < count; i++) {
		const struct sched_wakes *w = &rows->wakes.items[i];

		report_sched_count_cell(&t, w->count);
		table_cellf(&t, "%.1f", (double)w->count / (seconds > 0 ? seconds : 1));
		report_sched_share_cell(&t, w->count, s->all->counts.wakeups);
		waker_cell(&t, rows, w->from);
		waker_cell(&t, rows, w->to);
	}
	if (s->all->other_wakes) {
		report_sched_count_cell(&t, s->all->other_wakes);
		table_cell(&t, "");
		report_sched_share_cell(&t, s->all->other_wakes, s->all->counts.wakeups);
		table_cell(&t, "[others, together]");
		table_cell(&t, "");
	}
	return table_finish(&t, to, count, rows->wakes.count);
}

int report_sched_tables(const struct report_sched *s, const struct screen *to)
{
	int requested = s->report->options->by;
	enum group_by by = requested < SCHED_GROUPS ? (enum group_by)requested : GROUP_PROGRAM;
	int ret = 0;

	if (requested == BY_NOTHING)
		ret = report_sched_cpus(s, to);
	if (!ret && !s->rows[by].order.count) {
		fputc('\n', to->out);
		report_sched_put_none(s, to);
		return 0;
	}
	if (!ret)
		ret = put_sched_times(s, to, by);
	if (!ret)
		ret = put_sched_blocked(s, to, by);
	if (!ret)
		ret = put_sched_waits(s, to, by);
	if (!ret)
		ret = put_sched_wakers(s, to, by);
	if (!ret && (requested == BY_NOTHING || requested == GROUP_PROCESS))
		ret = report_sched_at_once(s, to, GROUP_PROCESS);
	return ret;
}
