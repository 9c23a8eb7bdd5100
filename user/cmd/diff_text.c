// SPDX-License-Identifier: Apache-2.0
/* Show the comparison as text: first the traces and the method, then the changes, largest first. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/outfile.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/diff.h"
#include "cmd/rates_text.h"
#include "cmd/report.h"

#define ROWS 20
#define LINE 512

static const char *const plurals[] = {
	[GROUP_PROGRAM] = "programs",	     [GROUP_PROCESS] = "processes",
	[GROUP_THREAD] = "threads",	     [GROUP_SERVICE] = "services",
	[GROUP_CONTAINER] = "containers",    [GROUP_CGROUP] = "control groups",
	[GROUP_MODULE] = "modules",	     [DIFF_BY_FUNCTION] = "functions",
	[DIFF_BY_CLASS] = "classes of wait",
};

/* Show the origin of a trace: "a.skein: web-1, Linux 6.1, 4 CPUs, 2026-11-21 20:00:00, 10 s". */
static void diff_show_origin(const struct diff_trace *t, char *buf, size_t size)
{
	const struct host *h = &t->profile->host;
	time_t start = (time_t)((int64_t)(h->start + h->realtime_offset) / 1000000000);
	char when[64] = "", length[32] = "unknown time";
	struct tm tm;

	if (localtime_r(&start, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	if (t->time)
		show_duration(t->time, length, sizeof(length));
	snprintf(buf, size, "%.200s: %.64s, Linux %.64s, %" PRIu64 " CPU%s, %s, %s", t->path,
		 *h->hostname ? h->hostname : "unknown host", h->kernel, h->cpus,
		 h->cpus == 1 ? "" : "s", when, length);
}

/*
 * Show the samples of a trace: "9,900 samples of cpu-clock at 999 Hz, 99.9 % of stacks complete, 3
 * lost".
 */
static void diff_show_samples(const struct diff_trace *t, char *buf, size_t size)
{
	const struct completeness *c = &t->completeness;
	char text[48], waited[32];
	int used = snprintf(buf, size, t->waits ? "%s stacks" : "%s samples",
			    show_count(t->count, text, sizeof(text)));

	if (t->waits)
		used = text_append(buf, size, used, " of waits, %s of waiting",
				   show_duration(t->weight, waited, sizeof(waited)));
	else if (t->event)
		used = text_append(buf, size, used, " of %.64s", t->event->name);
	if (t->event && *rates_show(t->profile, t->event_index, text, sizeof(text)))
		used = text_append(buf, size, used, " at %s", text);
	if (c->due)
		used = text_append(buf, size, used, ", %s of stacks complete",
				   show_percent(c->complete, c->due, text, sizeof(text)));
	if (t->losses.due)
		snprintf(buf + used, size - used, ", %s lost",
			 show_count(t->losses.due, text, sizeof(text)));
}

static void diff_put_traces(const struct comparison *c, const struct screen *s)
{
	for (int side = 0; side < SIDES; side++) {
		const char *label = side == AFTER ? "After" : "Before";
		size_t first = side == AFTER ? c->count[BEFORE] : 0;

		for (size_t i = 0; i < c->count[side]; i++) {
			char text[LINE];

			diff_show_origin(&c->traces[first + i], text, sizeof(text));
			screen_put_paragraph(s, i ? "" : label, STYLE_PLAIN, text);
			diff_show_samples(&c->traces[first + i], text, sizeof(text));
			screen_put_paragraph(s, "", STYLE_PLAIN, text);
		}
	}
	for (size_t i = 0; i < c->differences.count; i++)
		screen_put_paragraph(s, i ? "" : "Differ", STYLE_WARM, c->differences.items[i]);
}

static bool diff_weighs_time(const struct comparison *c)
{
	const struct event *e = c->traces[0].event;

	return e && !strcmp(e->unit, "ns");
}

const char *diff_unit_name(const struct comparison *c)
{
	static const char *const of_waits[] = {
		[DIFF_SHARE] = "percent of all time of waiting",
		[DIFF_TIME] = "ms of waiting per second",
		[DIFF_NONE] = "seconds of waiting",
	};

	if (diff_is_of_waits(c))
		return of_waits[c->criteria.measure];
	switch (c->criteria.measure) {
	case DIFF_TIME:
		return diff_weighs_time(c) ? "percent of one CPU" : "events per second";
	case DIFF_NONE:
		return diff_weighs_time(c) ? "seconds of CPU" : "events";
	default:
		return "percent of all samples";
	}
}

/*
 * Show whether the variation between runs is measured or assumed, because the meaning of the stars
 * depends on it.
 */
static void diff_put_runs(const struct comparison *c, const struct screen *s)
{
	char text[LINE], assumed[128];

	if (diff_is_of_waits(c))
		snprintf(assumed, sizeof(assumed),
			 "%.0f %% of each time are assumed, as standard "
			 "deviation",
			 100 * DIFF_ASSUMED_KERNEL);
	else
		snprintf(assumed, sizeof(assumed),
			 "%.0f %% of a program's time and %.0f %% of the kernel's are assumed, as "
			 "standard deviations",
			 100 * DIFF_ASSUMED_PROGRAM, 100 * DIFF_ASSUMED_KERNEL);
	if (diff_is_weak(c))
		snprintf(text, sizeof(text),
			 "One trace a side, the weaker statement: how runs differ by themselves is "
			 "not measured%s; %s. Several traces of each side measure "
			 "it: skein diff BEFORE... -- AFTER...",
			 c->traces[0].stretch_count && c->traces[1].stretch_count
				 ? ", only how these vary within"
				 : "",
			 assumed);
	else
		snprintf(text, sizeof(text),
			 "%zu and %zu: how runs differ by themselves is measured and counted in.",
			 c->count[BEFORE], c->count[AFTER]);
	screen_put_paragraph(s, "Runs", diff_is_weak(c) ? STYLE_WARM : STYLE_PLAIN, text);
}

static void diff_put_method(const struct comparison *c, const struct screen *s)
{
	size_t changed[2] = {0, 0};
	char text[LINE];
	int used;

	for (size_t i = 0; i < c->diff.rows.count; i++)
		changed[c->diff.rows.items[i].kernel] +=
			diff_row_changed(c, &c->diff.rows.items[i]);
	used = snprintf(text, sizeof(text),
			"%zu %s in %s: %zu changed, of %zu with enough %s to show it",
			c->diff.rows.count, plurals[c->criteria.by], diff_unit_name(c), changed[0],
			c->diff.tested[0], diff_is_of_waits(c) ? "waits" : "samples");
	if (c->diff.tested[1])
		used = text_append(text, sizeof(text), used,
				   "; %zu of %zu of the kernel, which depend on what else runs%s",
				   changed[1], c->diff.tested[1],
				   c->options->exit_code ? " and do not decide the exit code" : "");
	snprintf(text + used, sizeof(text) - used,
		 ". Stars: * q <= 0.05, ** 0.01, *** 0.001 (false discovery rate).");
	screen_put_paragraph(s, "Compared", STYLE_PLAIN, text);
	diff_put_runs(c, s);
}

/* Return how many decimal places are meaningful for recordings of usual length. */
static int decimal_places(const struct comparison *c)
{
	if (c->criteria.measure == DIFF_SHARE)
		return 2;
	if (diff_is_of_waits(c))
		return c->criteria.measure == DIFF_NONE ? 3 : 1;
	if (!diff_weighs_time(c))
		return 0;
	return c->criteria.measure == DIFF_NONE ? 3 : 2;
}

static void diff_value_cell(struct table *t, const struct diff_change *c, int side, int digits)
{
	static const char *const absent[SIDES] = {"new", "gone"};

	if (!c->count[side] && c->count[!side])
		table_cell(t, absent[side]);
	else
		table_cellf(t, "%.*f", digits, c->value[side]);
}

static void diff_put_row(struct table *t, const struct diff_row *row, enum diff_cost cost,
			 int digits)
{
	const struct diff_change *c = &row->cost[cost];

	table_cellf(t, "%+.*f", digits, c->change);
	table_cell(t, diff_stars(c));
	table_cellf(t, "%+.*f", digits, c->low);
	table_cellf(t, "%+.*f", digits, c->high);
	diff_value_cell(t, c, BEFORE, digits);
	diff_value_cell(t, c, AFTER, digits);
	table_cell(t, row->name);
	table_cell(t, row->more);
}

/*
 * Return whether a row belongs in the table of a cost. A function whose total equals its self on
 * both sides is only in the table of self.
 */
static bool belongs_in_table(const struct comparison *c, const struct diff_row *row,
			     enum diff_cost cost)
{
	const struct diff_change *change = &row->cost[cost];
	bool shown = fabs(change->change) >= c->criteria.least && change->change != 0 &&
		     (c->options->all || diff_is_significant(change));

	if (cost == DIFF_SELF || !c->diff.costs[DIFF_SELF])
		return shown;
	return shown && memcmp(&row->cost[DIFF_SELF].count, &change->count, sizeof(change->count));
}

struct ranked_change {
	const struct diff_row *row;
	double change;
};

static int by_larger_change(const void *a, const void *b)
{
	const struct ranked_change *x = a, *y = b;

	if (x->change != y->change)
		return x->change < y->change ? 1 : -1;
	return x->row < y->row ? -1 : 1;
}

/* Choose the rows of a table, the largest change first. The caller frees *out. */
static int choose_changes(const struct comparison *c, enum diff_cost cost,
			  struct ranked_change **out, size_t *count)
{
	struct ranked_change *list = calloc(c->diff.rows.count + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	*count = 0;
	for (size_t i = 0; i < c->diff.rows.count; i++) {
		const struct diff_row *row = &c->diff.rows.items[i];

		if (belongs_in_table(c, row, cost))
			list[(*count)++] =
				(struct ranked_change){row, fabs(row->cost[cost].change)};
	}
	qsort(list, *count, sizeof(*list), by_larger_change);
	*out = list;
	return 0;
}

static int diff_put_rows(const struct comparison *c, const struct screen *s, enum diff_cost cost,
			 const struct ranked_change *list, size_t count)
{
	uint64_t limit = c->options->limit == LIMIT_UNSET ? ROWS : c->options->limit;
	size_t rows = limit && limit < count ? limit : count;
	bool function = c->diff.costs[DIFF_SELF];
	const struct column columns[] = {
		{"change", STYLE_BOLD, true, CUT_END, 0},
		{"", STYLE_WARM, false, CUT_END, 0},
		{"from", STYLE_DIM, true, CUT_END, 0},
		{"to", STYLE_DIM, true, CUT_END, 0},
		{"before", STYLE_PLAIN, true, CUT_END, 0},
		{"after", STYLE_PLAIN, true, CUT_END, 0},
		{diff_by_word(c->criteria.by), STYLE_PLAIN, false, function ? CUT_NAME : CUT_END,
		 20},
		{function			   ? "module"
		 : c->criteria.by == GROUP_PROCESS ? "pid"
						   : "process",
		 STYLE_DIM, false, CUT_FRONT, 12},
	};
	struct table t = {.columns = columns, .column_count = 8};

	for (size_t i = 0; i < rows; i++)
		diff_put_row(&t, list[i].row, cost, decimal_places(c));
	return table_finish(&t, s, rows, count);
}

static const char *diff_table_title(const struct comparison *c, enum diff_cost cost)
{
	if (!c->diff.costs[DIFF_SELF])
		return "Changed";
	if (cost == DIFF_TOTAL)
		return "Changed with what they call (total)";
	return diff_is_of_waits(c) ? "Where threads waited, innermost function outside of the "
				     "kernel and libraries (self)"
				   : "Changed themselves (self)";
}

static int diff_put_table(const struct comparison *c, const struct screen *s, enum diff_cost cost,
			  size_t *shown)
{
	struct ranked_change *list;
	size_t count;
	int ret = choose_changes(c, cost, &list, &count);

	if (ret < 0)
		return ret;
	if (count) {
		screen_put(s, STYLE_BOLD, diff_table_title(c, cost));
		screen_put(s, STYLE_DIM, "; from, to: where the change lies, with 95 % certainty");
		fputc('\n', s->out);
		ret = diff_put_rows(c, s, cost, list, count);
		fputc('\n', s->out);
	}
	*shown += count;
	free(list);
	return ret;
}

static const char *diff_why_nothing(const struct comparison *c)
{
	for (size_t i = 0; i < c->count[BEFORE] + c->count[AFTER]; i++)
		if (!c->traces[i].count)
			return diff_is_of_waits(c) ? "a trace has no stacks of waits that pass: "
						     "nothing to compare\n"
						   : "a trace has no samples that pass: nothing to "
						     "compare\n";
	return c->options->all ? "nothing differs\n"
			       : "no significant change (--all shows the others)\n";
}

int diff_text(const struct comparison *c, const struct screen *s, struct error *err)
{
	size_t shown = 0;
	int ret = 0;

	diff_put_traces(c, s);
	diff_put_method(c, s);
	fputc('\n', s->out);
	for (int cost = 0; cost < DIFF_COSTS && !ret; cost++)
		if (c->diff.costs[cost])
			ret = diff_put_table(c, s, cost, &shown);
	if (!shown)
		screen_put(s, STYLE_BOLD, diff_why_nothing(c));
	if (ret < 0)
		return error_errno(err, ret, "cannot show what changed");
	return outfile_flush(s->out, "what changed", err);
}
