// SPDX-License-Identifier: Apache-2.0
/* Compute the scheduler's part of a report, and show the lines of it that every report has. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "cmd/report_sched.h"

#define PROGRAM_ROWS 10
#define BLOCKED_SHOWN 2 /* largest number of wait classes in one cell */
#define LEAST_SHARE 100 /* omit wait classes of at most 1 / LEAST_SHARE of a lifetime */
#define SECOND 1000000000ULL
#define MINUTE 59950000000ULL /* ns; show_duration() shows shorter times without minutes */
#define MANY_SECONDS (9999 * SECOND)

struct thread_selection {
	const struct source *filter;
	const struct sched_names *names;
};

static bool is_selected(const void *context, const struct thread *t)
{
	const struct thread_selection *a = context;
	const struct thread unknown = {.id = t->id, .comm = ""}, *known;

	known = sched_names_thread(a->names, t->id);
	known = known ? known : &unknown;
	return filter_selects(a->filter, sched_names_process(a->names, known->process), known);
}

static int add_cpu_sums(struct report_sched *s)
{
	int ret = 0;

	s->elapsed = s->all->to - s->all->from;
	for (size_t i = 0; i < s->all->cpus.count && !ret; i++) {
		const struct sched_cpu *c = s->all->cpus.items[i];

		s->busy += c->busy;
		s->idle += c->idle;
		s->unknown += c->unknown;
		s->switches += c->switches;
		for (int how = 0; how < QUEUED_COUNT && !ret; how++)
			ret = histogram_merge(&s->waits[how], &c->waits[how]);
	}
	return ret;
}

/*
 * Return whether the report needs rows of these groups; other rows are not made, because rows of
 * many threads take time and memory.
 */
static bool is_sched_group_shown(const struct report_options *o, enum group_by by)
{
	int most = o->by < SCHED_GROUPS ? o->by : GROUP_PROGRAM;

	return o->json || (int)by == most || (o->sched && by == GROUP_PROCESS) ||
	       (o->runtime && by == GROUP_THREAD);
}

static int make_report_sched(struct report_sched *s, const struct report *r, struct source *slices,
			     const struct source *filter, struct error *err)
{
	struct thread_selection thread_selection = {.filter = filter, .names = &s->names};
	struct sched_query query = {
		.from = r->options->filter.from,
		.to = r->options->filter.to,
		.selected = filter ? is_selected : NULL,
		.context = &thread_selection,
	};
	int ret = sched_names_of(&s->names, r->profile);

	s->report = r;
	if (ret < 0)
		return error_errno(err, ret, "cannot make the report");
	ret = sched_read(&s->all, slices, &query, err);
	if (ret < 0 || !s->all->slices)
		return ret;
	ret = add_cpu_sums(s);
	for (int by = 0; by < SCHED_GROUPS && !ret; by++)
		if (is_sched_group_shown(r->options, by))
			ret = sched_rows_of(&s->rows[by], s->all, &s->names, by);
	return ret < 0 ? error_errno(err, ret, "cannot make the report") : 0;
}

int report_sched_make(struct report *r, struct source *slices, const struct source *filter,
		      struct error *err)
{
	struct report_sched *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return error_errno(err, -ENOMEM, "cannot make the report");
	ret = make_report_sched(s, r, slices, filter, err);
	if (ret < 0 || !s->all->slices)
		report_sched_free(s);
	else
		r->sched = s;
	return ret;
}

void report_sched_free(struct report_sched *s)
{
	if (!s)
		return;
	for (int by = 0; by < SCHED_GROUPS; by++)
		sched_rows_free(&s->rows[by]);
	for (int how = 0; how < QUEUED_COUNT; how++)
		histogram_free(&s->waits[how]);
	sched_names_free(&s->names);
	sched_free(s->all);
	free(s);
}

const struct sched_row *report_sched_row(const struct sched_rows *rows, size_t i)
{
	return &rows->list.items[rows->order.items[i]];
}

const char *report_sched_waker_name(const struct sched_rows *rows, uint32_t waker)
{
	return waker < rows->list.count ? rows->list.items[waker].name
					: sched_interrupt_name(waker);
}

void report_sched_duration_cell(struct table *t, uint64_t ns)
{
	double hours = (double)ns / 3600e9;
	char text[64];

	if (!ns)
		table_cell(t, "");
	else if (ns < MINUTE)
		table_cell(t, show_duration(ns, text, sizeof(text)));
	else if (ns < MANY_SECONDS)
		table_cellf(t, "%" PRIu64 " s", (uint64_t)((ns + SECOND / 2) / SECOND));
	else
		table_cellf(t, hours < 999.5 ? "%.1f h" : "%.0f h", hours);
}

void report_sched_count_cell(struct table *t, uint64_t count)
{
	static const char units[] = "MGTPE";
	double rest = (double)count / 1e6;
	unsigned int unit = 0;
	char text[64];

	if (count < 1000000)
		return table_cell(t, count ? show_count(count, text, sizeof(text)) : "");
	for (; rest >= 999.95; unit++)
		rest /= 1000;
	table_cellf(t, "%.1f %c", rest, units[unit]);
}

void report_sched_share_cell(struct table *t, uint64_t part, uint64_t whole)
{
	char text[32];

	table_cell(t, part ? show_percent(part, whole, text, sizeof(text)) : "");
}

void report_sched_quantile_cell(struct table *t, const struct histogram *h, double percent)
{
	report_sched_duration_cell(t, histogram_quantile(h, percent));
}

unsigned int report_sched_id_columns(struct column *columns, enum group_by by,
				     const struct screen *to)
{
	unsigned int count = 0;

	if (by == GROUP_THREAD)
		columns[count++] = (struct column){"tid", STYLE_PLAIN, true, CUT_END, 0};
	else if (by <= GROUP_PROCESS)
		columns[count++] = (struct column){"pid", STYLE_PLAIN, true, CUT_END, 0};
	else
		columns[count++] = (struct column){"processes", STYLE_PLAIN, true, CUT_END, 0};
	columns[count++] = (struct column){report_group_word(by), STYLE_PLAIN, false,
					   by == GROUP_CGROUP ? CUT_FRONT : CUT_END, 10};
	if (by == GROUP_THREAD && to->width >= SCHED_WIDE)
		columns[count++] = (struct column){"process", STYLE_DIM, false, CUT_END, 8};
	return count;
}

void report_sched_id_cells(struct table *t, const struct sched_row *row, enum group_by by,
			   const struct screen *to)
{
	if (by == GROUP_THREAD && row->thread)
		table_cellf(t, "%" PRIu64, row->thread->tid);
	else if (by > GROUP_PROCESS && by != GROUP_THREAD)
		table_cellf(t, "%" PRIu32, row->processes);
	else if (row->processes > 1)
		table_cellf(t, "%" PRIu32 " pids", row->processes);
	else if (row->process->id && by != GROUP_THREAD)
		table_cellf(t, "%" PRIu64, row->process->pid);
	else
		table_cell(t, "-");
	table_cell(t, row->name);
	if (by == GROUP_THREAD && to->width >= SCHED_WIDE)
		table_cell(t, process_name(row->process));
}

/* Show the time in which the state of CPUs is unknown, as scheduler records are missing. */
static void put_unknown_time(const struct report_sched *s, const struct screen *to)
{
	uint64_t all = s->elapsed * s->all->cpus.count;
	char text[4096], time[64], share[32];
	int used;

	if (!s->unknown)
		return;
	used = snprintf(text, sizeof(text), "%s of CPU time (%s), for want of records%s:",
			show_duration(s->unknown, time, sizeof(time)),
			show_percent(s->unknown, all, share, sizeof(share)),
			report_paused(s->report) ? ", pauses above all" : "");
	for (size_t i = 0; i < s->all->cpus.count && used < (int)sizeof(text) - 128; i++) {
		const struct sched_cpu *c = s->all->cpus.items[i];

		if (c->unknown)
			used = text_append(text, sizeof(text), used, " CPU %" PRIu64 " %s,",
					   c->number,
					   show_duration(c->unknown, time, sizeof(time)));
	}
	text[used - 1] = '\0';
	screen_put_paragraph(to, "Unknown", STYLE_WARM, text);
}

static int show_wake_waits(const struct histogram *h, char *buf, size_t size)
{
	char p50[64], p90[64], p99[64], max[64];

	if (!h->count)
		return snprintf(buf, size, "; nobody waited for one");
	return snprintf(buf, size,
			"; woken threads waited %s for one (median; p90 %s, p99 %s, max %s)",
			show_duration(histogram_quantile(h, 50), p50, sizeof(p50)),
			show_duration(histogram_quantile(h, 90), p90, sizeof(p90)),
			show_duration(histogram_quantile(h, 99), p99, sizeof(p99)),
			show_duration(h->max, max, sizeof(max)));
}

/*
 * Return whether only selected threads were recorded; of other threads only their time on CPUs is
 * known.
 */
static bool is_partial_recording(const struct report_sched *s)
{
	static const char *const choices[] = {"option.pids", "option.tids", "option.comm",
					      "option.cgroup"};
	const struct profile *p = s->report->profile;

	for (uint32_t i = 0; i < p->count.infos; i++)
		for (size_t c = 0; c < sizeof(choices) / sizeof(choices[0]); c++)
			if (!strcmp(p->infos[i].key, choices[c]))
				return true;
	return false;
}

/* Return how much of the shown time was recorded, ns. */
static uint64_t recorded_time(const struct report_sched *s)
{
	uint64_t paused = report_paused(s->report);

	return paused < s->elapsed ? s->elapsed - paused : s->elapsed;
}

static int show_busy(const struct report_sched *s, char *buf, size_t size)
{
	uint64_t cpus = s->all->cpus.count;
	uint64_t recorded = recorded_time(s);
	double elapsed = (double)recorded;
	char share[32], part[64] = "";

	if (is_partial_recording(s))
		snprintf(part, sizeof(part), ", %.2f by the threads recorded",
			 (double)s->all->times.running / elapsed);
	return snprintf(buf, size, "%s busy (%.2f of %" PRIu64 " CPUs%s)",
			show_percent(s->busy, recorded * cpus, share, sizeof(share)),
			(double)s->busy / elapsed, cpus, part);
}

void report_sched_machine(const struct report_sched *s, const struct screen *to)
{
	double elapsed = (double)recorded_time(s), seconds = elapsed / 1e9;
	char text[1024], switches[32], wakeups[32];
	int used;

	if (!s->elapsed) {
		screen_put_paragraph(to, "Scheduler", STYLE_WARM,
				     "nothing: the recording ended before this range begins");
		return;
	}
	used = show_busy(s, text, sizeof(text));
	used = text_append(
		text, sizeof(text), used,
		", %s switches/s, %s wake-ups/s; on average %.2f threads waited for a CPU",
		show_count((uint64_t)((double)s->switches / seconds), switches, sizeof(switches)),
		show_count((uint64_t)((double)s->all->counts.wakeups / seconds), wakeups,
			   sizeof(wakeups)),
		(double)sched_queued(&s->all->times) / elapsed);
	used += show_wake_waits(&s->waits[QUEUED_WOKEN], text + used, sizeof(text) - (size_t)used);
	if (s->report->filtered)
		snprintf(text + used, sizeof(text) - (size_t)used, " (of all threads, in %s)",
			 show_duration(s->elapsed, switches, sizeof(switches)));
	screen_put_paragraph(to, "Scheduler", STYLE_PLAIN, text);
	put_unknown_time(s, to);
	if (s->all->disorder) {
		snprintf(text, sizeof(text), "%s record%s others: shown as far as they agree",
			 show_count(s->all->disorder, switches, sizeof(switches)),
			 s->all->disorder == 1 ? " contradicts" : "s contradict");
		screen_put_paragraph(to, "Disorder", STYLE_WARM, text);
	}
}

/* Return the percentage, rounded, but 0 only if part is 0 and 100 only if part is the whole. */
static unsigned int whole_percent(uint64_t part, uint64_t whole)
{
	unsigned int rounded = (unsigned int)((double)part / (double)whole * 100 + 0.5);

	return rounded == 100 && part < whole ? 99 : rounded ? rounded : part > 0;
}

/* Show the wait classes that took most of the lifetime of threads: "61 % poll, 30 % lock". */
static void main_waits_cell(struct table *t, const struct sched_times *times)
{
	uint64_t life = sched_life(times), left[WAIT_COUNT];
	char text[128] = "";
	int used = 0;

	memcpy(left, times->blocked, sizeof(left));
	left[WAIT_OTHER] += left[0];
	for (int n = 0; n < BLOCKED_SHOWN; n++) {
		int most = 1;

		for (int wait = 1; wait < WAIT_COUNT; wait++)
			most = left[wait] > left[most] ? wait : most;
		if (left[most] <= life / LEAST_SHARE)
			break;
		used = text_append(text, sizeof(text), used, "%s%u %% %s", n ? ", " : "",
				   whole_percent(left[most], life), wait_class_word(most));
		left[most] = 0;
	}
	table_cell(t, text);
}

static void main_waker_cell(struct table *t, const struct sched_rows *rows,
			    const struct sched_row *r)
{
	if (!r->by_waker || !r->counts.wakeups)
		return table_cell(t, "");
	table_cellf(t, "%u %% %.60s", whole_percent(r->by_waker, r->counts.wakeups),
		    report_sched_waker_name(rows, r->waker));
}

void report_sched_put_none(const struct report_sched *s, const struct screen *to)
{
	if (s->elapsed)
		screen_put(to, STYLE_DIM, "No thread that passes the filters was there.\n");
}

int report_sched_programs(const struct report_sched *s, const struct screen *to)
{
	struct column columns[TABLE_MAX_COLUMNS] = {
		{"on CPU", STYLE_BOLD, true, CUT_END, 0},
		{"waited", STYLE_WARM, true, CUT_END, 0},
		{"p99 wait", STYLE_PLAIN, true, CUT_END, 0},
		{"blocked on", STYLE_PLAIN, false, CUT_END, 10},
		{"woken by", STYLE_PLAIN, false, CUT_END, 10},
	};
	const struct sched_rows *rows = &s->rows[GROUP_PROGRAM];
	size_t count = report_row_limit(s->report, rows->order.count, PROGRAM_ROWS);
	struct table t = {.columns = columns};

	if (!rows->order.count) {
		report_sched_put_none(s, to);
		return 0;
	}
	t.column_count = 5 + report_sched_id_columns(columns + 5, GROUP_PROGRAM, to);
	screen_put(to, STYLE_BOLD,
		   "Who ran, who waited for a CPU, and for what else (--sched shows more)\n");
	for (size_t i = 0; i < count; i++) {
		const struct sched_row *r = report_sched_row(rows, i);

		report_sched_duration_cell(&t, r->times.running);
		report_sched_duration_cell(&t, sched_queued(&r->times));
		report_sched_quantile_cell(&t, &r->waits[QUEUED_WOKEN], 99);
		main_waits_cell(&t, &r->times);
		main_waker_cell(&t, rows, r);
		report_sched_id_cells(&t, r, GROUP_PROGRAM, to);
	}
	return table_finish(&t, to, count, rows->order.count);
}
