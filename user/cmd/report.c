// SPDX-License-Identifier: Apache-2.0
/* skein report: show where the time went, in a terminal or as JSON. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/filters.h"
#include "cmd/report_handlers.h"
#include "cmd/report_off_cpu.h"
#include "cmd/report_runtime.h"
#include "cmd/report_sched.h"
#include "cmd/report_services.h"
#include "cmd/timeline_input.h"

static const char *const group_words[] = {
#define GROUP_WORD(NAME, word) [GROUP_##NAME] = word,
	GROUP_KINDS(GROUP_WORD)
#undef GROUP_WORD
		[BY_FUNCTION] = "function",
};

const char *report_group_word(unsigned int by)
{
	return by <= BY_FUNCTION ? group_words[by] : "";
}

static int report_set_by(void *options, const char *value, struct error *err)
{
	for (int by = 0; by <= BY_FUNCTION; by++) {
		if (strcmp(value, group_words[by]))
			continue;
		((struct report_options *)options)->by = by;
		return 0;
	}
	return error_set(err, -EINVAL,
			 "'%s' is not one of function, program, process, thread, service, "
			 "container, cgroup, module",
			 value);
}

static const char *report_by_word(unsigned int index)
{
	return index <= BY_FUNCTION ? group_words[index] : NULL;
}

static int report_set_least(void *options, const char *value, struct error *err)
{
	char *end;
	double percent = strtod(value, &end);

	if (end == value || (strcmp(end, "%") && *end) || !(percent >= 0 && percent <= 100))
		return error_set(err, -EINVAL, "'%s' is not a percentage", value);
	((struct report_options *)options)->least = percent;
	return 0;
}

static int report_set_color(void *options, const char *value, struct error *err)
{
	const char *word;

	for (unsigned int i = 0; (word = screen_color_word(i)); i++) {
		if (strcmp(value, word))
			continue;
		((struct report_options *)options)->color = word;
		return 0;
	}
	return error_set(err, -EINVAL, "'%s' is not one of auto, always, never", value);
}

static int report_set_lanes(void *options, const char *value, struct error *err)
{
	return timeline_set_lanes(value, &((struct report_options *)options)->lanes, err);
}

static const struct option_spec report_specs[] = {
	{.name = "What to show", .type = OPTION_HEADING},
	{.name = "tree",
	 .letter = 'g',
	 .type = OPTION_FLAG,
	 .help = "The call tree of every program instead of the tables.",
	 .offset = offsetof(struct report_options, tree)},
	{.name = "sched",
	 .type = OPTION_FLAG,
	 .help = "The scheduler's tables in detail: CPUs over time, which threads ran, "
		 "waited for a CPU or for something else and how long, which woke which, how many "
		 "ran at once. With --by: grouped by that; --by function shows in which functions "
		 "threads waited, for recordings with -e off-cpu or all.",
	 .offset = offsetof(struct report_options, sched)},
	{.name = "off-cpu",
	 .type = OPTION_FLAG,
	 .help = "Where threads waited, for which lock, and what the threads did that ended the "
		 "waits: each with its stack, as estimates with a 95 % interval beside the exact "
		 "times. With --by: grouped by that. For recordings with -e off-cpu.",
	 .offset = offsetof(struct report_options, off_cpu)},
	{.name = "runtime",
	 .type = OPTION_FLAG,
	 .help = "What runtimes and probes reported, for each process: collections, pauses and "
		 "safepoints with their lengths, causes and who requested the longest, waits for "
		 "monitors and the GIL, counters such as the heap's over time, probes of your own. "
		 "With --by thread: divided by thread. For recordings with -e gc, jvm, python or "
		 "runtime.",
	 .offset = offsetof(struct report_options, runtime)},
	{.name = "timeline",
	 .type = OPTION_FLAG,
	 .help = "CPUs and the busiest threads over time, drawn as wide as the terminal: who ran, "
		 "and who waited for what; when JVMs were stopped, and for what; counters such as "
		 "the heap's. --from and --to look closer, --limit takes more threads.",
	 .offset = offsetof(struct report_options, timeline)},
	{.name = "lanes",
	 .type = OPTION_CALL,
	 .arg = "WHAT",
	 .set = report_set_lanes,
	 .values = lanes_by_word,
	 .help = "With --timeline. " TIMELINE_LANES_HELP},
	{.name = "min",
	 .type = OPTION_CALL,
	 .arg = "PERCENT",
	 .set = report_set_least,
	 .help = "In the tree, leave out what is less than this share of the whole (default 1%)."},
	{.name = "by",
	 .type = OPTION_CALL,
	 .arg = "WHAT",
	 .set = report_set_by,
	 .values = report_by_word,
	 .help = "One table only: by function (for programs in Python, also that of Python's "
		 "functions), program, process, thread, service, container, cgroup or module."},
	{.name = "limit",
	 .letter = 'n',
	 .type = OPTION_COUNT,
	 .arg = "N",
	 .help = "At most N rows in each table, or the N heaviest lines of the tree; 0 for all.",
	 .offset = offsetof(struct report_options, limit)},

	{.name = "How stacks are shown", .type = OPTION_HEADING},
	VIEW_OPTIONS(struct report_options, view),
	FULL_NAMES_OPTION(struct report_options, full_names),

	{.name = "Output", .type = OPTION_HEADING},
	{.name = "json",
	 .type = OPTION_FLAG,
	 .help = "Everything as JSON, for programs; with --timeline, its lanes and counters.",
	 .offset = offsetof(struct report_options, json)},
	{.name = "color",
	 .type = OPTION_CALL,
	 .arg = "WHEN",
	 .set = report_set_color,
	 .values = screen_color_word,
	 .help = "auto (on a terminal, unless NO_COLOR is set), always or never."},
	FILTER_OPTIONS(struct report_options, filter),
	WINDOW_OPTIONS(struct report_options, windows),
	{.name = NULL},
};

/*
 * Make the scheduler's part of the report if it is shown. If the trace has no scheduler records,
 * r->sched stays NULL; with --sched, that is the error -ENODATA.
 */
static int add_sched_report(struct report *r, const struct filtered_input *in, struct error *err)
{
	const struct report_options *o = r->options;
	struct source *slices = NULL;
	int ret;

	if (!o->sched && !o->off_cpu && !o->runtime && !o->json &&
	    (o->tree || (o->by != BY_NOTHING && r->count)))
		return 0;
	ret = trace_source(&slices, in->trace, err);
	if (!ret)
		ret = report_sched_make(r, slices, r->filtered ? in->source : NULL, err);
	source_free(slices);
	if (!ret && o->sched && !r->sched)
		ret = error_set(err, -ENODATA,
				"%s: the trace has no scheduler records: record with 'skein record "
				"-e sched'",
				r->path);
	return ret;
}

static bool has_wait_stacks(const struct profile *p)
{
	uint32_t event = profile_event_named(p, EVENT_OFF_CPU);

	return event < p->count.events && !strcmp(p->events[event].name, EVENT_OFF_CPU);
}

/* Make the part about waits. A trace without stacks of waits is the error -ENODATA. */
static int add_off_cpu_report(struct report *r, const struct filtered_input *in, struct error *err)
{
	const struct report_options *o = r->options;
	bool functions = o->sched && o->by == BY_FUNCTION;
	struct source *samples = NULL;
	int ret;

	if (!o->off_cpu && !functions)
		return 0;
	if (!has_wait_stacks(r->profile))
		return error_set(err, -ENODATA,
				 "%s: the trace has no stacks of waits: record with 'skein record "
				 "-e %s'",
				 r->path, functions ? "all" : "off-cpu");
	ret = trace_source(&samples, in->trace, err);
	if (!ret)
		ret = report_off_cpu_make(r, samples, r->filtered ? in->source : NULL, err);
	source_free(samples);
	return ret;
}

/*
 * Make the part about runtimes if it is shown and the trace has spans. A trace without any is the
 * error -ENODATA with --runtime.
 */
static int add_runtime_report(struct report *r, const struct filtered_input *in, struct error *err)
{
	const struct report_options *o = r->options;
	struct source *whole = NULL, *spans = NULL;
	uint64_t count = 0, counters = 0;
	int ret;

	if (!o->runtime && !o->json && (o->tree || o->sched || o->off_cpu || o->by != BY_NOTHING))
		return 0;
	ret = trace_count(in->trace, KIND_SPAN, &count, err);
	if (!ret)
		ret = trace_count(in->trace, KIND_COUNTER, &counters, err);
	if (!ret && (count || counters))
		ret = trace_source(&whole, in->trace, err);
	if (!ret && whole)
		ret = filter_source(&spans, whole, in->filter, err);
	if (!ret && spans)
		ret = report_runtime_make(r, spans, err);
	if (spans)
		source_free(spans);
	else
		source_free(whole);
	if (!ret && o->runtime && !r->events.runtime)
		ret = error_set(err, -ENODATA,
				"%s: the trace has no events of runtimes%s: record with 'skein "
				"record -e runtime'",
				r->path, count || counters ? " that pass the filters" : "");
	return ret;
}

/* Make the part about interrupts, which belong to no process, if it is shown. */
static int add_handlers_report(struct report *r, const struct filtered_input *in, struct error *err)
{
	const struct report_options *o = r->options;
	struct source *whole = NULL;
	uint64_t count = 0;
	int ret;

	if (!o->json && (o->tree || o->off_cpu || o->runtime || o->by != BY_NOTHING))
		return 0;
	ret = trace_count(in->trace, KIND_HANDLER, &count, err);
	if (!ret && count)
		ret = trace_source(&whole, in->trace, err);
	if (!ret && whole)
		ret = handler_sums_read(&r->events.handlers, whole, o->filter.from, o->filter.to,
					err);
	source_free(whole);
	return ret;
}

/* Make the part about services: sums of the whole machine and time, so only without a filter. */
static int add_services_report(struct report *r, const struct filtered_input *in, struct error *err)
{
	const struct report_options *o = r->options;
	struct source *whole = NULL;
	uint64_t count = 0;
	int ret;

	if (r->filtered ||
	    (!o->json && (o->tree || o->off_cpu || o->runtime || o->by != BY_NOTHING)))
		return 0;
	ret = trace_count(in->trace, KIND_GROUP_TIME, &count, err);
	if (!ret && count)
		ret = trace_source(&whole, in->trace, err);
	if (!ret && whole)
		ret = service_times_read(&r->events.services, whole, err);
	source_free(whole);
	return ret;
}

int report_add_parts(struct report *r, const struct filtered_input *in, struct error *err)
{
	int ret = add_sched_report(r, in, err);

	if (!ret)
		ret = add_off_cpu_report(r, in, err);
	if (!ret)
		ret = add_handlers_report(r, in, err);
	if (!ret)
		ret = add_services_report(r, in, err);
	return ret ? ret : add_runtime_report(r, in, err);
}

static int show_report(const char *path, const struct report_options *o,
		       const struct filtered_input *in, const struct profile *p, struct error *err)
{
	struct screen screen;
	struct report r;
	int ret = report_make(&r, path, p, o, err);

	if (ret < 0)
		return ret;
	ret = report_add_parts(&r, in, err);
	screen_open(&screen, stdout, o->color);
	screen.full_names = o->full_names;
	if (!ret)
		ret = o->json ? report_json(&r, stdout, err) : report_text(&r, &screen, err);
	report_free(&r);
	return ret;
}

static void warn_of_damaged_trace(const char *path, const struct filtered_input *in,
				  const struct profile *p)
{
	if (trace_left_out(in->trace))
		log_warn("%s is damaged: parts of it could not be read and are missing here", path);
	else if (!p->count.hosts && p->count.stacks)
		log_warn("%s is damaged: it does not say which machine was recorded, nor when the "
			 "recording began and ended, so shares of time are wrong",
			 path);
}

static int run_report(const char *path, const struct report_options *o)
{
	struct filtered_input in = {0};
	struct profile *p = NULL;
	struct error err = {""};
	int ret;

	if (o->timeline)
		return report_timeline(path, o, &err) < 0 ? log_failure(1, &err) : 0;
	ret = filtered_input_open(&in, path, &o->filter, &err);
	if (!ret)
		ret = filtered_input_read_profile(&p, &in, &o->view, &err);
	if (!ret)
		ret = show_report(path, o, &in, p, &err);
	if (!ret)
		warn_of_damaged_trace(path, &in, p);
	profile_free(p);
	filtered_input_close(&in);
	return ret < 0 ? log_failure(1, &err) : 0;
}

static int report_main(int argc, char **argv)
{
	struct report_options o = {.by = BY_NOTHING, .limit = LIMIT_UNSET, .least = REPORT_LEAST};
	struct error err = {""};
	int first = command_parse(&report_command, argc, argv, &o), status;
	const char *path;

	if (first < 0)
		return ~first;
	if (argc - first > 1)
		return log_error(2, "report: one trace at a time; '%s' is too many",
				 argv[first + 1]);
	if (o.tree && o.by != BY_NOTHING)
		return log_error(2, "report: --tree and --by exclude each other");
	if (o.sched && (o.tree || o.by == GROUP_MODULE))
		return log_error(2, "report: --sched cannot be combined with --tree or --by "
				    "module");
	if (o.off_cpu &&
	    (o.tree || o.sched || o.timeline || o.filter.event || o.by == GROUP_MODULE))
		return log_error(2, "report: --off-cpu cannot be combined with --tree, --sched, "
				    "--timeline, --event or --by module");
	if (o.runtime && (o.tree || o.sched || o.off_cpu || o.timeline ||
			  (o.by != BY_NOTHING && o.by != GROUP_THREAD)))
		return log_error(2, "report: --runtime cannot be combined with --tree, --sched, "
				    "--off-cpu, --timeline, or --by other than thread");
	if (o.timeline && (o.tree || o.sched || o.by != BY_NOTHING))
		return log_error(2, "report: --timeline cannot be combined with --tree, --sched "
				    "or --by");
	if (o.lanes != LANES_BY_THREAD && !o.timeline)
		return log_error(2, "report: --lanes is for --timeline");
	if (filter_check(&o.filter, &err) < 0)
		return log_failure(2, &err);
	status = window_choice_path(&o.windows, "report", first < argc ? argv[first] : NULL, &path);
	return status ? status : run_report(path, &o);
}

const struct command report_command = {
	.name = "report",
	.summary = "where did the time go?",
	.usage = "[OPTIONS] [FILE]",
	.description = "Read a trace (skein.skein when none is named) and show its hottest "
		       "functions, the programs they belong to, who waited for a CPU or something "
		       "else, and what could not be recorded. Python's functions have their file "
		       "and line, and a table in which they count with the C that they call; how "
		       "much of their time they held the interpreter's lock (GIL) and collected "
		       "garbage is shown after the tables.",
	.examples = "skein report\tthe trace in this folder\n"
		    "skein report --tree --comm java\twho calls what in Java\n"
		    "skein report --by function --lines --comm python3\tPython, line by line\n"
		    "skein report --tree --no-native --comm python3\twho calls what in Python\n"
		    "skein report --by service run.skein\tone line per service\n"
		    "skein report --sched\twho ran, who waited, who woke whom\n"
		    "skein report --sched --by thread -n 0\tthe same of every thread\n"
		    "skein report --sched --by function\tthe functions in which threads waited\n"
		    "skein report --off-cpu --comm redis-server\twhere redis waited, and for whom\n"
		    "skein report --runtime --comm java\tcollections, safepoints, who waited\n"
		    "skein report --timeline --from 10s --to 12s\ttwo seconds, CPU by CPU\n"
		    "skein report --timeline --lanes pool --comm java\tmany short threads\n"
		    "skein report --from 10s --to 12s\ttwo seconds of it\n"
		    "skein report --last 1h\tthe last hour of 'skein serve'\n",
	.options = report_specs,
	.options_size = sizeof(struct report_options),
	.environment = "NO_COLOR\tNo colours, unless --color always asks for them.\n"
		       "COLUMNS\tHow wide tables and timelines are where there is no terminal.\n"
		       "TZ\tThe time zone of the recording's date.",
	.files = "skein.skein\tThe trace that is read when none is named.",
	.run = report_main,
};
