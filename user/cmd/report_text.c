// SPDX-License-Identifier: Apache-2.0
/* Show a report as text: the recording, where its time went, then what its samples are worth. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analyze/subject.h"
#include "base/outfile.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/rates_text.h"
#include "cmd/report_ended.h"
#include "cmd/report_handlers.h"
#include "cmd/report_named.h"
#include "cmd/report_parts.h"
#include "cmd/report_runtime.h"
#include "cmd/report_sched.h"
#include "cmd/report_services.h"
#include "symbolizers/python_file.h"
#include "trace/merge.h"

/* A report of which fewer stacks are complete, in percent, says so before its tables. */
#define COMPLETE_ENOUGH 90
#define BREAKAGE_ROWS 5
#define INTERPRETER_ROWS 5
#define PYTHON_INFO "python." /* prefix of the info keys about interpreters */
#define JAVA_INFO "java." /* prefix of the info keys about JVMs */

/* Show why the flight recorder has written the trace, and when that was, as --from counts. */
static void report_put_trigger(const struct report *r, const struct screen *s)
{
	const struct host *h = &r->profile->host;
	char text[256], after[32];
	uint64_t at;
	const char *why = profile_trigger(r->profile, &at);

	if (!why)
		return;
	snprintf(text, sizeof(text), "%s, at %s of the recording", why,
		 show_duration(at > h->start ? at - h->start : 0, after, sizeof(after)));
	screen_put_paragraph(s, "Trigger", STYLE_PLAIN, text);
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
	if (report_paused(r)) {
		snprintf(text, sizeof(text), "for %s: nothing is recorded of that time",
			 show_duration(report_paused(r), length, sizeof(length)));
		screen_put_paragraph(s, "Paused", STYLE_WARM, text);
	}
	report_put_trigger(r, s);
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

/* Return for how long the machine was awake and recorded in the time of the report, ns. */
static uint64_t awake_time(const struct report *r)
{
	const struct filter *f = &r->options->filter;
	uint64_t time = filter_time(f, &r->profile->host) - report_paused(r);
	bool whole = !f->from && !f->to; /* where in a part of it a suspend lies is not known */

	return whole && r->losses.suspended < time ? time - r->losses.suspended : time;
}

/*
 * Return the number of CPUs that the samples of the report kept busy on average; 0 if that is not
 * known. A merged trace may have gaps between its recordings, so only the recorded time counts.
 */
static double cpus_busy(const struct report *r, bool merged)
{
	const struct event *e = r->event;
	uint64_t time = awake_time(r);
	/* nothing is known of the time that is not stored */
	uint64_t due = r->losses.total.due - r->losses.by_reason[LOSS_NOT_STORED];
	uint64_t recorded = due * e->period;
	struct sampled_rates rates;

	if (strcmp(e->unit, "ns"))
		return 0;
	rates_of_event(&rates, r->profile, r->event_index);
	if (rates.count > 1) /* by the average period, since losses are not known by rate */
		recorded =
			(uint64_t)((double)rates.time * (double)due / (double)r->losses.total.due);
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
	else if (event_is_of_hits(name))
		snprintf(text, sizeof(text), "%s stack%s of %.64s (--event %.64s shows them)",
			 count, samples == 1 ? "" : "s", name, name);
	else
		snprintf(text, sizeof(text), "%s of %.64s (--event shows them)", count, name);
	screen_put_paragraph(s, "", STYLE_PLAIN, text);
}

static void report_put_samples(const struct report *r, const struct screen *s, bool merged)
{
	const struct event *e = r->event;
	char count[32], weight[64], text[512];
	double busy = cpus_busy(r, merged);
	char rate[48];
	int used;

	used = snprintf(text, sizeof(text), "%s of %.64s",
			show_count(r->count, count, sizeof(count)), e->name);
	if (*rates_show(r->profile, r->event_index, rate, sizeof(rate)))
		used = text_append(text, sizeof(text), used, " at %s", rate);
	used = text_append(text, sizeof(text), used, ", %s",
			   report_show_weight(r, r->weight, weight, sizeof(weight)));
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
			show_percent(b->count, r->stacks.completeness.due, share, sizeof(share)),
			b->reason, *b->module ? " in " : "", module_short_name(b->module));
}

/* Show the most frequent reasons for incomplete stacks, and the sum of the others. */
static int show_breakages(const struct report *r, char *buf, size_t size)
{
	const struct breakage *b = r->stacks.breakages.list.items;
	struct breakage rest = {.reason = "otherwise (--json lists all)", .module = ""};
	int used = 0;

	for (size_t i = 0; i < r->stacks.breakages.list.count; i++) {
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
		uint64_t count = r->stacks.completeness.no_user[why];
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
	const struct completeness *c = &r->stacks.completeness;
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

/* Show the samples, unless only the scheduler was requested or recorded. */
static int report_put_sampled(const struct report *r, const struct screen *s)
{
	char why[256];
	int ret;

	if (r->options->sched || (!r->count && (r->sched || r->events.handlers)))
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

static int report_put_handlers(const struct report *r, const struct screen *s)
{
	int ret;

	if (!r->count && !r->sched)
		fputc('\n', s->out);
	ret = report_handlers_table(r, s);
	fputc('\n', s->out);
	return ret;
}

static int report_put_services(const struct report *r, const struct screen *s)
{
	int ret = report_services_table(r, s);

	fputc('\n', s->out);
	return ret;
}

static void report_put_incomplete(const struct report *r, const struct screen *s)
{
	const struct completeness *c = &r->stacks.completeness;
	char share[16], text[128];

	if (c->complete >= c->due / 100.0 * COMPLETE_ENOUGH)
		return;
	snprintf(text, sizeof(text), "%s of stacks%s",
		 show_percent(c->due - c->complete, r->count, share, sizeof(share)),
		 /* one stack of a wait or of a hit may stand for any weight */
		 event_is_weighted(r->event->name) ? "" : ": no total is off by more");
	screen_put_paragraph(s, "Incomplete", STYLE_WARM, text);
}

/* Show what a reader of the tables must know. */
static void report_put_warnings(const struct report *r, const struct screen *s)
{
	report_put_error(r, s, true);
	report_put_incomplete(r, s);
	if (named_share_is_low(&r->names.share))
		report_put_named(r, s);
}

/* Show what the samples are worth: how many of their stacks and names are known. */
static void report_put_facts(const struct report *r, const struct screen *s)
{
	if (!r->count || r->options->sched)
		return;
	report_put_stacks(r, s);
	if (!named_share_is_low(&r->names.share))
		report_put_named(r, s);
	report_put_unready(r, s);
	report_put_python(r, s);
	report_put_interpreters(r, s);
	report_put_runtimes(r, s);
}

/* Show what runtimes reported, and nothing of samples and the scheduler but what was lost. */
static int report_text_of_runtimes(const struct report *r, const struct screen *s,
				   struct error *err)
{
	int ret = report_runtime_tables(r, s);

	report_put_interpreters(r, s);
	report_put_losses(r, s);
	if (ret < 0)
		return error_errno(err, ret, "cannot show the report");
	return outfile_flush(s->out, "the report", err);
}

int report_text(const struct report *r, const struct screen *s, struct error *err)
{
	bool merged;
	int ret;

	report_put_machine(r, s);
	merged = report_put_merged(r, s);
	if (r->options->runtime)
		return report_text_of_runtimes(r, s, err);
	if (r->count && !r->options->sched) {
		report_put_samples(r, s, merged);
		report_put_rates(r, s);
		report_put_warnings(r, s);
	}
	if (r->sched)
		report_sched_machine(r->sched, s);
	if (r->events.runtime)
		report_runtime_summary(r, s);
	ret = report_put_sampled(r, s);
	if (!ret)
		ret = report_put_sched(r, s);
	if (!ret && r->events.handlers)
		ret = report_put_handlers(r, s);
	if (!ret && r->events.services)
		ret = report_put_services(r, s);
	report_put_facts(r, s);
	if (!r->options->sched)
		report_put_account(r, s);
	report_put_losses(r, s);
	if (ret < 0)
		return error_errno(err, ret, "cannot show the report");
	return outfile_flush(s->out, "the report", err);
}
