// SPDX-License-Identifier: Apache-2.0
/* Show a report as text: the recording, where its time went, and what is missing. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analyze/subject.h"
#include "base/outfile.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/account_text.h"
#include "cmd/report_ended.h"
#include "cmd/report_off_cpu.h"
#include "cmd/report_sched.h"
#include "symbolizers/python_file.h"
#include "trace/merge.h"

#define FUNCTION_ROWS 20
#define PYTHON_ROWS 10
#define PROGRAM_ROWS 10
#define PLACE_ROWS 5
#define BREAKAGE_ROWS 5
#define INTERPRETER_ROWS 5
/* prefix of the info keys that record why a process's files were refused */
#define REFUSED_INFO "refused."
#define PYTHON_INFO "python." /* prefix of the info keys about interpreters */
#define JAVA_INFO "java." /* prefix of the info keys about JVMs */
#define BAR_WIDTH 100 /* columns from which on there is room for bars */
#define BAR_COLUMNS 12
#define HOT_PERCENT 10
/* A program that runs for so many periods, and is not sampled, hardly ran. */
#define MANY_PERIODS 20

/* Return the share of a weight in the report, in a static buffer that the next call overwrites. */
static const char *weight_percent(const struct report *r, uint64_t weight)
{
	static char text[16];

	return show_percent(weight, r->weight, text, sizeof(text));
}

static char *show_weight(const struct report *r, uint64_t weight, char *buf, size_t size)
{
	return !strcmp(r->event->unit, "ns") ? show_duration(weight, buf, size)
					     : show_count(weight, buf, size);
}

static const char *weight_title(const struct report *r)
{
	if (event_is_of_waits(r->event->name))
		return "waited";
	return !strcmp(r->event->unit, "ns") ? "CPU time" : r->event->name;
}

/*
 * Return a bar of up to BAR_COLUMNS columns, in eighths of a column, for a weight in relation to
 * the largest weight. The bar is in a static buffer, which the next call overwrites.
 */
static const char *weight_bar(uint64_t weight, uint64_t most)
{
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	static char text[BAR_COLUMNS * 3 + 4];
	unsigned int steps = most ? (double)weight / (double)most * BAR_COLUMNS * 8 : 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < steps / 8; i++)
		strcat(text, "█");
	return strcat(text, eighths[steps % 8]);
}

static int put_costs(const struct report *r, const struct screen *s, const struct functions *all,
		     const struct column *columns, bool modules)
{
	bool bars = s->width >= BAR_WIDTH;
	struct table t = {.columns = columns, .column_count = 3 + modules + bars};
	size_t count = report_row_limit(r, all->list.count, modules ? FUNCTION_ROWS : PYTHON_ROWS);
	const struct function_cost *f = all->list.items;

	for (size_t i = 0; i < count; i++) {
		table_cell(&t, weight_percent(r, f[i].self_weight));
		table_cell(&t, weight_percent(r, f[i].total_weight));
		table_cell(&t, symbol_name(&r->symbols, f[i].symbol));
		if (modules)
			table_cell(&t, module_short_name(symbol_module(&r->symbols, f[i].symbol)));
		if (bars)
			table_cell(&t, weight_bar(f[i].self_weight, f[0].self_weight));
	}
	return table_finish(&t, s, count, all->list.count);
}

static int put_function_table(const struct report *r, const struct screen *s)
{
	static const struct column columns[] = {
		{"self", STYLE_BOLD, true, CUT_END, 0},
		{"total", STYLE_PLAIN, true, CUT_END, 0},
		{"function", STYLE_PLAIN, false, CUT_NAME, 24},
		{"module", STYLE_DIM, false, CUT_FRONT, 12},
		{"", STYLE_WARM, false, CUT_END, 0},
	};

	screen_put(s, STYLE_BOLD,
		   event_is_of_waits(r->event->name) ? "Functions in which threads waited\n"
						     : "Hottest functions\n");
	return put_costs(r, s, &r->functions, columns, true);
}

/* Show the functions of Python, whose names contain their modules. */
static int put_python_functions(const struct report *r, const struct screen *s)
{
	static const struct column columns[] = {
		{"self", STYLE_BOLD, true, CUT_END, 0},
		{"total", STYLE_PLAIN, true, CUT_END, 0},
		{"function", STYLE_PLAIN, false, CUT_NAME, 24},
		{"", STYLE_WARM, false, CUT_END, 0},
	};

	screen_put(s, STYLE_BOLD, "Hottest functions of Python, with the C that they call\n");
	return put_costs(r, s, &r->python_functions, columns, false);
}

/* Write the pid of a group, or the number of its processes. */
static void group_pid_cell(struct table *t, const struct group *g)
{
	if (g->processes > 1)
		table_cellf(t, "%" PRIu32 " pids", g->processes);
	else if (g->process->id)
		table_cellf(t, "%" PRIu64, g->process->pid);
	else
		table_cell(t, "-");
}

static void group_number_cells(const struct report *r, struct table *t, const struct group *g)
{
	char text[64];

	table_cell(t, weight_percent(r, g->weight));
	table_cell(t, show_count(g->count, text, sizeof(text)));
	table_cell(t, show_weight(r, g->weight, text, sizeof(text)));
}

/*
 * Write the place of a process to buf and return buf: the host, if the trace has several, and the
 * container or control group. A program has no host here, since it may run on several.
 */
static const char *group_place(const struct report *r, enum group_by by, const struct process *p,
			       char *buf, size_t size)
{
	const struct host *h = by == GROUP_PROGRAM ? NULL : profile_host_of(r->profile, p);
	size_t used = h ? (size_t)snprintf(buf, size, "%.64s ", h->hostname) : 0;

	process_place(p, buf + used, size - used);
	return buf;
}

/* Show programs, processes or threads, with their containers. */
static int put_process_groups(const struct report *r, const struct screen *s, enum group_by by,
			      size_t usual)
{
	struct column columns[] = {
		{"share", STYLE_BOLD, true, CUT_END, 0},
		{"samples", STYLE_PLAIN, true, CUT_END, 0},
		{weight_title(r), STYLE_PLAIN, true, CUT_END, 0},
		{by == GROUP_THREAD ? "tid" : "pid", STYLE_PLAIN, true, CUT_END, 0},
		{report_group_word(by), STYLE_PLAIN, false, CUT_END, 15},
		{"process", STYLE_DIM, false, CUT_END, 10},
		{"where", STYLE_DIM, false, CUT_FRONT, 12},
	};
	bool thread = by == GROUP_THREAD;
	struct table t = {.columns = columns, .column_count = thread ? 7 : 6};
	const struct groups *g = &r->groups[by];
	size_t count = report_row_limit(r, g->list.count, usual);

	if (!thread)
		columns[5] = columns[6];
	for (size_t i = 0; i < count; i++) {
		const struct group *one = &g->list.items[i];
		char place[256];

		group_number_cells(r, &t, one);
		if (thread)
			table_cellf(&t, "%" PRIu64, one->thread ? one->thread->tid : 0);
		else
			group_pid_cell(&t, one);
		table_cell(&t, one->name);
		if (thread)
			table_cell(&t, process_name(one->process));
		table_cell(&t, group_place(r, by, one->process, place, sizeof(place)));
	}
	return table_finish(&t, s, count, g->list.count);
}

/* Show containers, control groups or modules. */
static int put_place_groups(const struct report *r, const struct screen *s, enum group_by by,
			    size_t usual)
{
	struct column columns[] = {
		{"share", STYLE_BOLD, true, CUT_END, 0},
		{"samples", STYLE_PLAIN, true, CUT_END, 0},
		{weight_title(r), STYLE_PLAIN, true, CUT_END, 0},
		{"processes", STYLE_PLAIN, true, CUT_END, 0},
		{report_group_word(by), STYLE_PLAIN, false,
		 by == GROUP_CONTAINER || by == GROUP_SERVICE ? CUT_END : CUT_FRONT, 20},
	};
	struct table t = {.columns = columns, .column_count = 5};
	const struct groups *g = &r->groups[by];
	size_t count = report_row_limit(r, g->list.count, usual);

	for (size_t i = 0; i < count; i++) {
		group_number_cells(r, &t, &g->list.items[i]);
		table_cellf(&t, "%" PRIu32, g->list.items[i].processes);
		table_cell(&t, g->list.items[i].name);
	}
	return table_finish(&t, s, count, g->list.count);
}

static int put_group_table(const struct report *r, const struct screen *s, enum group_by by,
			   size_t usual)
{
	bool places = by >= GROUP_SERVICE;

	return places ? put_place_groups(r, s, by, usual) : put_process_groups(r, s, by, usual);
}

static void report_put_machine(const struct report *r, const struct screen *s)
{
	const struct host *h = &r->profile->host;
	time_t start = (time_t)((int64_t)(h->start + h->realtime_offset) / 1000000000);
	bool ended = h->end > h->start;
	char when[64] = "", text[1024], length[64] = "", of[SUBJECT_SIZE];
	struct tm tm;

	if (localtime_r(&start, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	if (ended)
		show_duration(h->end - h->start, length, sizeof(length));
	profile_subject(r->profile, of);
	snprintf(text, sizeof(text), "%s%s%s, Linux %s %s, %" PRIu64 " CPU%s, %s%s%s", of,
		 *of ? " on " : "", *h->hostname ? h->hostname : "unknown host", h->kernel, h->arch,
		 h->cpus, h->cpus == 1 ? "" : "s", when, ended ? ", " : "", length);
	screen_put_paragraph(s, "Recorded", STYLE_PLAIN, text);
	if (!h->end)
		screen_put_paragraph(
			s, "Unfinished", STYLE_WARM,
			"the recording still runs, or its recorder was killed: this is all "
			"but its last second");
	report_put_ended(r, s);
}

/* Show the traces of which this trace was merged; return whether this is a merged trace. */
static bool report_put_merged(const struct report *r, const struct screen *s)
{
	bool merged = false;

	for (uint32_t i = 0; i < r->profile->count.infos; i++) {
		const struct info *info = &r->profile->infos[i];

		if (strncmp(info->key, MERGED_INFO, strlen(MERGED_INFO)))
			continue;
		screen_put_paragraph(s, merged ? "" : "Merged", STYLE_PLAIN, info->value);
		merged = true;
	}
	return merged;
}

/*
 * Return the number of CPUs that the samples of the report kept busy on average; 0 if that is not
 * known. A merged trace may have gaps between its recordings, so only the recorded time counts.
 */
static double cpus_busy(const struct report *r, bool merged)
{
	const struct event *e = r->event;
	uint64_t time = filter_time(&r->options->filter, &r->profile->host);
	/* nothing is known of the time that is not stored */
	uint64_t due = r->losses.total.due - r->losses.by_reason[LOSS_NOT_STORED];
	uint64_t recorded = due * e->period;

	if (strcmp(e->unit, "ns"))
		return 0;
	if (!merged)
		return time ? (double)r->weight / (double)time : 0;
	/* the accounts of waits count waits, not time */
	if (r->options->filter.from || r->options->filter.to || !recorded ||
	    event_is_of_waits(e->name))
		return 0;
	return (double)r->weight / (double)recorded * (double)r->profile->host.cpus;
}

/*
 * Show that there are samples of another event. Those of wakers go with the waits, whose report
 * shows them.
 */
static void report_put_other_event(const struct report *r, const struct screen *s, uint32_t event)
{
	const char *name = r->profile->events[event].name;
	bool waits = !strcmp(name, EVENT_OFF_CPU);
	uint64_t samples, weight;
	char count[32], text[512];

	profile_event_total(r->profile, event, &samples, &weight);
	if (!samples || !strcmp(name, EVENT_OFF_CPU_WAKERS))
		return;
	show_count(samples, count, sizeof(count));
	if (waits)
		snprintf(text, sizeof(text), "%s stack%s of waits (--off-cpu shows them)", count,
			 samples == 1 ? "" : "s");
	else
		snprintf(text, sizeof(text), "%s of %.64s (--event shows them)", count, name);
	screen_put_paragraph(s, "", STYLE_PLAIN, text);
}

static void report_put_samples(const struct report *r, const struct screen *s, bool merged)
{
	const struct event *e = r->event;
	char count[32], weight[64], text[512];
	double busy = cpus_busy(r, merged);
	int used;

	used = snprintf(text, sizeof(text), "%s of %.64s",
			show_count(r->count, count, sizeof(count)), e->name);
	if (e->frequency)
		used = text_append(text, sizeof(text), used, " at %" PRIu64 " Hz", e->frequency);
	used = text_append(text, sizeof(text), used, ", %s",
			   show_weight(r, r->weight, weight, sizeof(weight)));
	if (busy > 0 && event_is_of_waits(e->name))
		used = text_append(text, sizeof(text), used, " of waiting: %.2f threads on average",
				   busy);
	else if (busy > 0)
		used = text_append(text, sizeof(text), used, " of CPU: %.2f of %" PRIu64 " CPUs",
				   busy, r->profile->host.cpus);
	used = text_append(text, sizeof(text), used, ", %zu process%s",
			   r->groups[GROUP_PROCESS].list.count,
			   r->groups[GROUP_PROCESS].list.count == 1 ? "" : "es");
	if (r->filtered)
		snprintf(text + used, sizeof(text) - used, " (of those that pass the filters)");
	screen_put_paragraph(s, "Samples", STYLE_PLAIN, text);
	for (uint32_t i = 0; i < r->profile->count.events; i++)
		if (i != r->event_index)
			report_put_other_event(r, s, i);
}

/* Show a share of the user stacks and why they broke: "0.3 % no unwind table in libfoo.so.1". */
static int show_breakage(const struct report *r, const struct breakage *b, char *buf, size_t size)
{
	char share[16];

	return snprintf(buf, size, "%s %s%s%.48s",
			show_percent(b->count, r->completeness.due, share, sizeof(share)),
			b->reason, *b->module ? " in " : "", module_short_name(b->module));
}

/* Show the most frequent reasons for incomplete stacks, and the sum of the others. */
static int show_breakages(const struct report *r, char *buf, size_t size)
{
	const struct breakage *b = r->breakages.list.items;
	struct breakage rest = {.reason = "otherwise (--json lists all)", .module = ""};
	int used = 0;

	for (size_t i = 0; i < r->breakages.list.count; i++) {
		if (i >= BREAKAGE_ROWS) {
			rest.count += b[i].count;
			continue;
		}
		used = text_append(buf, size, used, "%s", i ? ", " : "; ");
		used += show_breakage(r, &b[i], buf + used, size - used);
	}
	if (rest.count) {
		used = text_append(buf, size, used, ", ");
		used += show_breakage(r, &rest, buf + used, size - used);
	}
	return used;
}

/* Show the numbers of samples that cannot have a user stack, by reason. */
static void show_no_user(const struct report *r, char *buf, size_t size)
{
	const char *before = "no user stack: ";
	int used = 0;

	for (int why = 0; why < NO_USER_COUNT; why++) {
		uint64_t count = r->completeness.no_user[why];
		char share[16];

		if (!count)
			continue;
		used = text_append(buf, size, used, "%s%s %s", before,
				   show_percent(count, r->count, share, sizeof(share)),
				   no_user_word(why));
		before = ", ";
	}
}

/*
 * Show the share of complete stacks among those that should exist, then the reasons for the rest.
 * Each part of the text is bounded, and text[] has room for all parts.
 */
static void report_put_stacks(const struct report *r, const struct screen *s)
{
	const struct completeness *c = &r->completeness;
	char share[16], complete[32], due[32], text[1024] = "";
	int used = 0;

	if (c->due)
		used = snprintf(text, sizeof(text), "%s complete (%s of %s)",
				show_percent(c->complete, c->due, share, sizeof(share)),
				show_count(c->complete, complete, sizeof(complete)),
				show_count(c->due, due, sizeof(due)));
	used += show_breakages(r, text + used, sizeof(text) - used);
	if (c->due && c->due < c->samples)
		used = text_append(text, sizeof(text), used, "; ");
	show_no_user(r, text + used, sizeof(text) - used);
	screen_put_paragraph(s, "Stacks", STYLE_PLAIN, text);
}

static int show_python_threads(const struct report *r, char *buf, size_t size)
{
	const struct python_share *p = &r->python;
	const struct {
		uint64_t count;
		const char *before, *what;
	} parts[] = {
		{p->gil, "; of these ", "with the interpreter's lock (GIL)"},
		{p->no_gil, p->gil ? ", " : "; of these ",
		 p->gil ? "without it" : "without the interpreter's lock (GIL)"},
		{p->collecting, "; ", "collecting garbage"},
		{p->unread, "; ", "before the interpreter was known: only native frames"},
	};
	char share[16], samples[32], all[32];
	int used = 0;

	if (!p->samples)
		return 0;
	used += snprintf(buf, size, "%s of samples on its threads (%s of %s)",
			 show_percent(p->samples, r->count, share, sizeof(share)),
			 show_count(p->samples, samples, sizeof(samples)),
			 show_count(r->count, all, sizeof(all)));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].count)
			used = text_append(
				buf, size, used, "%s%s %s", parts[i].before,
				show_percent(parts[i].count, p->samples, share, sizeof(share)),
				parts[i].what);
	return used;
}

/* Show what the threads of interpreters did, and how many of their frames have names. */
static void report_put_python(const struct report *r, const struct screen *s)
{
	const struct python_share *p = &r->python;
	char share[16], named[32], frames[32], text[512];
	int used = show_python_threads(r, text, sizeof(text));

	if (p->frames)
		used = text_append(text, sizeof(text), used, "%s%s of frames named (%s of %s)",
				   used ? "; " : "",
				   show_percent(p->named, p->frames, share, sizeof(share)),
				   show_count(p->named, named, sizeof(named)),
				   show_count(p->frames, frames, sizeof(frames)));
	if (p->freed)
		snprintf(text + used, sizeof(text) - used,
			 ", %s of code that was freed, or gone with its process, before its name "
			 "was read",
			 show_percent(p->freed, p->frames, share, sizeof(share)));
	if (used)
		screen_put_paragraph(s, "Python", STYLE_PLAIN, text);
}

static void report_put_unready(const struct report *r, const struct screen *s)
{
	char text[256], count[32], share[16];

	if (!r->names.unready)
		return;
	snprintf(text, sizeof(text),
		 "%s samples (%s) have functions without a name that was still being read when "
		 "the recording ended: 'skein record --wait-names 20s' waits longer",
		 show_count(r->names.unready, count, sizeof(count)),
		 show_percent(r->names.unready, r->count, share, sizeof(share)));
	screen_put_paragraph(s, "Names", STYLE_WARM, text);
}

/* Show the runtimes whose functions have no names, and what gives names. */
static void report_put_runtimes(const struct report *r, const struct screen *s)
{
	for (int i = 0; i < RUNTIME_COUNT; i++) {
		uint64_t samples = r->names.runtimes.samples[i];
		char text[256], count[32], share[16];

		if (!runtime_share_matters(samples, r->count))
			continue;
		snprintf(text, sizeof(text), "%s of samples without names (%s): %s",
			 show_percent(samples, r->count, share, sizeof(share)),
			 show_count(samples, count, sizeof(count)), runtime_table[i].names);
		screen_put_paragraph(s, runtime_table[i].name, STYLE_WARM, text);
	}
}

/* Return whether the info about an interpreter ends with the text that its frames are readable. */
static bool reports_python_readable(const char *value)
{
	const char *well = python_support_text(PYTHON_READABLE);
	size_t size = strlen(value), end = strlen(well);

	return size >= end && !strcmp(value + size - end, well);
}

/* Show infos about runtimes, whose keys begin with prefix, except those that skip() returns. */
static void report_put_runtime_infos(const struct report *r, const struct screen *s,
				     const char *title, const char *prefix,
				     bool (*skip)(const char *value))
{
	uint32_t rows = 0;

	for (uint32_t i = 0; i < r->profile->count.infos && !r->filtered; i++) {
		const struct info *info = &r->profile->infos[i];

		if (strncmp(info->key, prefix, strlen(prefix)) || (skip && skip(info->value)) ||
		    ++rows > INTERPRETER_ROWS)
			continue;
		screen_put_paragraph(s, title, STYLE_PLAIN, info->value);
		title = "";
	}
	if (rows > INTERPRETER_ROWS) {
		char text[64];

		snprintf(text, sizeof(text), "and %" PRIu32 " more (--json lists all)",
			 rows - INTERPRETER_ROWS);
		screen_put_paragraph(s, "", STYLE_PLAIN, text);
	}
}

/* Show the JVMs, and the interpreters whose frames are not read, or not completely. */
static void report_put_interpreters(const struct report *r, const struct screen *s)
{
	report_put_runtime_infos(r, s, r->python.samples || r->python.frames ? "" : "Python",
				 PYTHON_INFO, reports_python_readable);
	report_put_runtime_infos(r, s, "Java", JAVA_INFO, NULL);
}

/* Show the users whose files were not opened, and why: frames in such files lack names. */
static void report_put_refusals(const struct report *r, const struct screen *s)
{
	const char *title = "Refused";

	for (uint32_t i = 0; i < r->profile->count.infos; i++) {
		const struct info *info = &r->profile->infos[i];

		if (strncmp(info->key, REFUSED_INFO, strlen(REFUSED_INFO)))
			continue;
		screen_put_paragraph(s, title, STYLE_PLAIN, info->value);
		title = "";
	}
}

static void report_put_losses(const struct report *r, const struct screen *s)
{
	report_put_refusals(r, s);
	for (int reason = 1; reason < LOSS_COUNT; reason++) {
		char count[32], text[512];

		if (!r->losses.by_reason[reason])
			continue;
		snprintf(text, sizeof(text), "%s %s: %s",
			 show_count(r->losses.by_reason[reason], count, sizeof(count)),
			 loss_reason_word(reason), loss_reason_text(reason));
		if (reason == LOSS_STOLEN) /* no thread ran, so no sample is lost */
			screen_put_paragraph(s, "Stolen", STYLE_PLAIN, text);
		else
			screen_put_paragraph(s, "Lost", STYLE_WARM, text);
	}
	if (r->losses.unknown_reason) {
		char text[64];

		snprintf(text, sizeof(text),
			 "%" PRIu64 " for reasons that this skein does not know",
			 r->losses.unknown_reason);
		screen_put_paragraph(s, "Lost", STYLE_WARM, text);
	}
	if (r->profile->missing) {
		char text[128];

		snprintf(text, sizeof(text), "%" PRIu64 " %s not in it: shown as unknown",
			 r->profile->missing,
			 r->profile->missing == 1 ? "thing that the trace refers to is"
						  : "things that the trace refers to are");
		screen_put_paragraph(s, "Missing", STYLE_WARM, text);
	}
}

/* Show the account of all due samples of the whole recording. */
static void report_show_account(const struct report *r, const struct screen *s)
{
	const struct losses *l = &r->losses;
	const struct account_terms terms = {
		.due = l->total.due,
		.written = l->total.written,
		.idle = l->total.idle,
		.filtered = l->total.filtered,
		.stolen = l->by_reason[LOSS_STOLEN],
		.lost = l->due,
		.cut_off = l->cut_off,
		.unexplained = l->unexplained,
	};
	char sum[256], text[320];

	if (!r->profile->count.accounts)
		return;
	snprintf(text, sizeof(text), "%s%s", account_show(&terms, sum, sizeof(sum)),
		 r->filtered ? " (of the whole recording)" : "");
	screen_put_paragraph(s, "Account", STYLE_PLAIN, text);
	/* a lost stack of a wait may stand for any time */
	if (!event_is_of_waits(r->event->name) && *account_show_error(&terms, text, sizeof(text)))
		screen_put_paragraph(s, "Lost", STYLE_PLAIN, text);
}

/*
 * Explain by the time between two samples why nothing of what was asked for was sampled. Return
 * buf.
 */
static const char *why_not_met(const struct report *r, char *buf, size_t size)
{
	const struct host *h = &r->profile->host;
	uint64_t length = h->end > h->start ? h->end - h->start : 0;
	bool clocked = !strcmp(r->event->unit, "ns");
	char lasted[32], period[32];

	if (!clocked && !r->losses.total.due)
		return "no samples: none was due, the event did not happen";
	if (!clocked || !length || length > MANY_PERIODS * r->event->period)
		return r->sched ? "no samples: what was asked for did not run when samples were due"
				: "no samples: what was asked for did not run when samples were "
				  "due; 'skein record -e sched' shows what it waited for";
	snprintf(buf, size,
		 "no samples: the recording lasted %s, and a sample is due every %s on each CPU: "
		 "'skein record -F 9999' samples more often",
		 show_duration(length, lasted, sizeof(lasted)),
		 show_duration(r->event->period, period, sizeof(period)));
	return buf;
}

/* Return the text that explains why the report has no samples, in buf or static. */
static const char *report_why_empty(const struct report *r, char *buf, size_t size)
{
	const struct account *a = &r->losses.total;
	int64_t unexplained = r->losses.unexplained;
	uint64_t lost = r->losses.due + (unexplained > 0 ? (uint64_t)unexplained : 0);

	if (!r->event)
		return "no samples: the trace has no event; its recorder ended before it "
		       "began";
	if (r->filtered)
		return "no samples: none passes the filters";
	if (!r->profile->count.accounts)
		return "no samples: the recorder was killed before it wrote any";
	if (a->written)
		return "no samples of programs: only idle CPUs were sampled (--idle shows them)";
	if (!a->due || (a->filtered && a->filtered >= lost))
		return why_not_met(r, buf, size);
	if (a->idle >= lost)
		return "no samples: every CPU was idle";
	return "no samples: all that were due are lost, see below";
}

/* Show the tables of functions, that of Python first if most samples are of Python. */
static int put_function_tables(const struct report *r, const struct screen *s)
{
	bool python_first = r->python.samples > r->count / 2;
	int ret = 0;

	if (!r->python_functions.list.count)
		return put_function_table(r, s);
	for (int second = 0; second < 2 && !ret; second++) {
		ret = python_first != second ? put_python_functions(r, s)
					     : put_function_table(r, s);
		if (!second)
			fputc('\n', s->out);
	}
	return ret;
}

static int report_put_tables(const struct report *r, const struct screen *s)
{
	bool services = r->groups[GROUP_SERVICE].list.count > 1;
	enum group_by place = services ? GROUP_SERVICE : GROUP_CONTAINER;
	int ret = put_function_tables(r, s);

	fputc('\n', s->out);
	screen_put(s, STYLE_BOLD, "Programs\n");
	if (!ret)
		ret = put_group_table(r, s, GROUP_PROGRAM, PROGRAM_ROWS);
	/* a table with the single row "(none)" is useless */
	if (ret < 0 || r->groups[place].list.count < 2)
		return ret;
	fputc('\n', s->out);
	screen_put(s, STYLE_BOLD, services ? "Services\n" : "Containers\n");
	return put_group_table(r, s, place, PLACE_ROWS);
}

static int report_put_body(const struct report *r, const struct screen *s)
{
	if (r->options->off_cpu)
		return report_off_cpu_tables(r, s);
	if (r->options->tree)
		return report_tree_text(r, s);
	if (r->options->by == BY_FUNCTION)
		return put_function_tables(r, s);
	if (r->options->by != BY_NOTHING)
		return put_group_table(r, s, r->options->by, FUNCTION_ROWS);
	return report_put_tables(r, s);
}

/* Show the samples, unless only the scheduler was requested or recorded. */
static int report_put_sampled(const struct report *r, const struct screen *s)
{
	char why[256];
	int ret;

	if (r->options->sched || (!r->count && r->sched))
		return 0;
	if (!r->count) {
		screen_put_paragraph(s, "Samples", STYLE_WARM,
				     report_why_empty(r, why, sizeof(why)));
		return 0;
	}
	fputc('\n', s->out);
	ret = report_put_body(r, s);
	fputc('\n', s->out);
	return ret;
}

/*
 * Show the scheduler's tables. Without samples, --by can only refer to these tables and shows them
 * in detail, as --sched does.
 */
static int report_put_sched(const struct report *r, const struct screen *s)
{
	bool detail = r->options->sched || r->options->by < SCHED_GROUPS;
	int ret;

	if (!r->sched || r->options->off_cpu)
		return 0;
	if (!r->count && !detail)
		fputc('\n', s->out);
	if (r->options->sched && r->options->by == BY_FUNCTION)
		ret = report_sched_functions(r, s);
	else
		ret = detail ? report_sched_tables(r->sched, s)
			     : report_sched_programs(r->sched, s);
	fputc('\n', s->out);
	return ret;
}

int report_text(const struct report *r, const struct screen *s, struct error *err)
{
	bool merged;
	int ret;

	report_put_machine(r, s);
	merged = report_put_merged(r, s);
	if (r->count && !r->options->sched) {
		report_put_samples(r, s, merged);
		report_put_stacks(r, s);
		report_put_unready(r, s);
		report_put_python(r, s);
		report_put_interpreters(r, s);
		report_put_runtimes(r, s);
	}
	if (r->sched)
		report_sched_machine(r->sched, s);
	ret = report_put_sampled(r, s);
	if (!ret)
		ret = report_put_sched(r, s);
	if (!r->options->sched)
		report_show_account(r, s);
	report_put_losses(r, s);
	if (ret < 0)
		return error_errno(err, ret, "cannot show the report");
	return outfile_flush(s->out, "the report", err);
}
