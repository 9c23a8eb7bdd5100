// SPDX-License-Identifier: Apache-2.0
/* skein diff: show what changed between two traces. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_names.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/diff.h"
#include "cmd/report.h"

/* Traces with more samples than this are not read a second time in stretches. */
#define STRETCHED_SAMPLES 200000
#define EXIT_CHANGED 3 /* exit status for --exit-code; neither a failure nor a usage error */

const char *diff_measure_word(unsigned int measure)
{
	static const char *const words[] = {
#define WORD(NAME, word) [DIFF_##NAME] = word,
		DIFF_MEASURES(WORD)
#undef WORD
	};

	return measure < DIFF_MEASURE_COUNT ? words[measure] : NULL;
}

const char *diff_by_word(unsigned int by)
{
	if (by == DIFF_BY_CLASS)
		return "class";
	return by <= BY_FUNCTION ? report_group_word(by) : NULL;
}

static int diff_set_by(void *options, const char *value, struct error *err)
{
	int by = option_find_word(value, diff_by_word, err);

	if (by >= 0)
		((struct diff_options *)options)->compare.by = by;
	return by < 0 ? by : 0;
}

static int diff_set_measure(void *options, const char *value, struct error *err)
{
	int measure = option_find_word(value, diff_measure_word, err);

	if (measure >= 0)
		((struct diff_options *)options)->compare.measure = measure;
	return measure < 0 ? measure : 0;
}

static int diff_set_format(void *options, const char *value, struct error *err)
{
	int format = option_find_word(value, diff_format_word, err);

	if (format >= 0)
		((struct diff_options *)options)->format = value;
	return format < 0 ? format : 0;
}

static int diff_set_least(void *options, const char *value, struct error *err)
{
	char *end;
	double least = strtod(value, &end);

	if (end == value || *end || !(least >= 0) || isinf(least))
		return error_set(err, -EINVAL, "'%s' is not a size of a change", value);
	((struct diff_options *)options)->compare.least = least;
	return 0;
}

static int diff_add_path(struct diff_options *o, int side, const char *path, struct error *err)
{
	return vector_push(&o->paths[side], path) < 0
		       ? error_errno(err, -ENOMEM, "cannot take %s", path)
		       : 0;
}

static int diff_add_before(void *options, const char *value, struct error *err)
{
	return diff_add_path(options, BEFORE, value, err);
}

static int diff_add_after(void *options, const char *value, struct error *err)
{
	return diff_add_path(options, AFTER, value, err);
}

static const struct option_spec diff_specs[] = {
	{.name = "What to compare", .type = OPTION_HEADING},
	{.name = "by",
	 .type = OPTION_CALL,
	 .arg = "WHAT",
	 .set = diff_set_by,
	 .values = diff_by_word,
	 .help = "By function (default), program, process, thread, service, container, cgroup or "
		 "module; waits also by class of wait, but not by module."},
	{.name = "off-cpu",
	 .type = OPTION_FLAG,
	 .help = "Compare where threads waited, not where they ran: the same as --event off-cpu. "
		 "For recordings with -e off-cpu; the default where nothing else was recorded.",
	 .offset = offsetof(struct diff_options, off_cpu)},
	{.name = "normalize",
	 .type = OPTION_CALL,
	 .arg = "HOW",
	 .set = diff_set_measure,
	 .values = diff_measure_word,
	 .help = "share (default): percent of all samples of a trace, for programs that do the "
		 "same for however long. time (default of waits): percent of one CPU, or ms of "
		 "waiting per second, for a service under the same load. none: CPU time, or time "
		 "of waiting, for one and the same piece of work."},
	{.name = "before",
	 .type = OPTION_CALL,
	 .arg = "FILE",
	 .set = diff_add_before,
	 .help = "One more trace of before, as BEFORE... -- AFTER... gives several."},
	{.name = "after",
	 .type = OPTION_CALL,
	 .arg = "FILE",
	 .set = diff_add_after,
	 .help = "One more trace of after."},
	WINDOW_OPTION_ROWS(struct diff_options, windows),
	{.name = "against",
	 .type = OPTION_TEXT,
	 .arg = "TIME",
	 .help = "With --last or --at: what is compared with it. How much earlier that was, such "
		 "as 24h; or the moment of its end, with --at of its window. Default: the time "
		 "directly before, as long as --last.",
	 .offset = offsetof(struct diff_options, windows.against)},
	{.name = "no-inlines",
	 .type = OPTION_FLAG,
	 .help = "Inlined functions count as the function that contains them.",
	 .offset = offsetof(struct diff_options, how.view.no_inlines)},
	{.name = "native",
	 .type = OPTION_FLAG,
	 .help = "Also the frames of Python's interpreter itself.",
	 .offset = offsetof(struct diff_options, how.view.native)},
	{.name = "no-native",
	 .type = OPTION_FLAG,
	 .help = "Nothing but Python's frames in stacks that have some.",
	 .offset = offsetof(struct diff_options, how.view.python)},
	{.name = "What to show", .type = OPTION_HEADING},
	{.name = "all",
	 .letter = 'a',
	 .type = OPTION_FLAG,
	 .help = "Also changes that are not significant.",
	 .offset = offsetof(struct diff_options, all)},
	{.name = "min",
	 .type = OPTION_CALL,
	 .arg = "CHANGE",
	 .set = diff_set_least,
	 .help = "Leave out changes smaller than this: percentage points; of waits, ms per second; "
		 "seconds with --normalize none. What is too small to change by it is not tested, "
		 "so that the others are found with fewer samples."},
	{.name = "limit",
	 .letter = 'n',
	 .type = OPTION_COUNT,
	 .arg = "N",
	 .help = "At most N rows in each table (default 20); 0 for all.",
	 .offset = offsetof(struct diff_options, limit)},
	FULL_NAMES_OPTION(struct diff_options, full_names),
	{.name = "json",
	 .type = OPTION_FLAG,
	 .help = "Everything as JSON, for programs.",
	 .offset = offsetof(struct diff_options, json)},
	{.name = "color",
	 .type = OPTION_TEXT,
	 .arg = "WHEN",
	 .values = screen_color_word,
	 .help = "auto (on a terminal, unless NO_COLOR is set), always or never.",
	 .offset = offsetof(struct diff_options, color)},
	{.name = "exit-code",
	 .type = OPTION_FLAG,
	 .help = "Exit with 3 if a change is shown that is significant, for scripts. Not if it is "
		 "one of a kernel function, a kernel thread or [unknown], which depend on what "
		 "else runs on the machine.",
	 .offset = offsetof(struct diff_options, exit_code)},
	{.name = "Pictures", .type = OPTION_HEADING},
	{.name = "format",
	 .letter = 'f',
	 .type = OPTION_CALL,
	 .arg = "FORMAT",
	 .set = diff_set_format,
	 .values = diff_format_word,
	 .help = "A differential flame graph instead: html, a page; svg, a picture; folded, lines "
		 "with two numbers for flamegraph.pl. Always by stacks, and not tested."},
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "The file for the picture; its ending decides if there is no --format. - is "
		 "stdout.",
	 .offset = offsetof(struct diff_options, out)},
	{.name = "width",
	 .type = OPTION_COUNT,
	 .arg = "PIXELS",
	 .help = "How wide an svg is (default 1200).",
	 .offset = offsetof(struct diff_options, how.width)},
	{.name = "icicle",
	 .type = OPTION_FLAG,
	 .help = "In an svg, the root at the top.",
	 .offset = offsetof(struct diff_options, how.icicle)},
	FILTER_OPTIONS(struct diff_options, filter),
	{.name = NULL},
};

bool diff_is_weak(const struct comparison *c)
{
	return c->count[BEFORE] == 1 && c->count[AFTER] == 1;
}

/*
 * Read one trace. event is the name of the event to compare, unless --event names another one. If
 * event is NULL or the trace does not have it, the first event with samples is compared.
 */
static int diff_read_trace(struct diff_trace *t, const char *path, const struct diff_options *o,
			   const char *event, struct error *err)
{
	const struct profile *p;
	int ret = filtered_input_open(&t->input, path, &o->filter, err);

	t->path = path;
	if (ret < 0)
		return ret;
	ret = profile_read(&t->profile, t->input.source, &o->how.view, err);
	if (ret < 0)
		return error_wrap(err, ret, "%s", path);
	p = t->profile;
	t->event_index = profile_event_named(p, o->filter.event ? o->filter.event : event);
	t->event = t->event_index < p->count.events ? &p->events[t->event_index] : NULL;
	t->time = filter_time(&o->filter, &p->host);
	if (t->event && event_is_of_hits(t->event->name))
		return error_set(err, -EINVAL,
				 "%s: stacks of %s cannot be compared, since each may stand for "
				 "many: compare cpu-clock, and off-cpu",
				 path, t->event->name);
	profile_event_total(p, t->event_index, &t->count, &t->weight);
	completeness_of(&t->completeness, p, t->event_index);
	losses_of_event(&t->losses, p, t->event_index);
	if (trace_left_out(t->input.trace))
		log_warn("%s is damaged: parts of it could not be read and are missing here", path);
	return 0;
}

/* Read the profile of the part of a trace that passes the filter, and append it to t->stretches. */
static int diff_read_stretch(struct diff_trace *t, const struct filter *f,
			     const struct diff_options *o, struct error *err)
{
	struct profile *p = NULL;
	struct filtered_input input = {0};
	int ret = filtered_input_open(&input, t->path, f, err);

	if (!ret)
		ret = profile_read(&p, input.source, &o->how.view, err);
	if (!ret)
		t->stretches[t->stretch_count++] = (struct diff_run){
			.profile = p, .event = t->event_index, .time = filter_time(f, &p->host)};
	filtered_input_close(&input);
	return ret;
}

/*
 * Read a trace in DIFF_STRETCHES stretches of equal time. Do nothing if its duration is not known,
 * or if it has so many samples that reading it again would take too much time and memory.
 */
static int diff_read_stretches(struct diff_trace *t, const struct diff_options *o,
			       struct error *err)
{
	uint64_t step = t->time / DIFF_STRETCHES;
	struct filter f = o->filter;
	int ret = 0;

	if (!step || t->count > STRETCHED_SAMPLES)
		return 0;
	for (int i = 0; i < DIFF_STRETCHES && !ret; i++) {
		f.from = o->filter.from + step * i;
		f.to = i == DIFF_STRETCHES - 1 ? o->filter.to : f.from + step - 1;
		ret = diff_read_stretch(t, &f, o, err);
	}
	return ret;
}

/* Match builds, because functions without a name are the same only in the same build of a file. */
static int diff_match_builds(const struct comparison *c, struct error *err)
{
	size_t all = c->count[BEFORE] + c->count[AFTER], count = 0;
	struct profile **profiles = calloc(all * (DIFF_STRETCHES + 1), sizeof(*profiles));
	int ret = profiles ? 0 : -ENOMEM;

	for (size_t i = 0; i < all && !ret; i++) {
		struct diff_trace *t = &c->traces[i];

		profiles[count++] = t->profile;
		for (size_t k = 0; k < t->stretch_count; k++) /* owned by *t, too */
			profiles[count++] = (struct profile *)t->stretches[k].profile;
	}
	if (!ret)
		ret = diff_mark_builds(profiles, count);
	free(profiles);
	return ret < 0 ? error_errno(err, ret, "cannot compare") : 0;
}

/* Choose the measure if none was given, and check what to compare by, once the event is known. */
static int diff_check_criteria(struct comparison *c, struct error *err)
{
	bool waits = diff_is_of_waits(c);

	c->criteria = c->options->compare;
	if (c->criteria.measure == DIFF_MEASURE_COUNT)
		c->criteria.measure = waits ? DIFF_TIME : DIFF_SHARE;
	if (!waits && c->criteria.by == DIFF_BY_CLASS)
		return error_set(err, -EINVAL, "only waits have classes: --off-cpu --by class");
	if (waits && c->criteria.by == GROUP_MODULE)
		return error_set(err, -EINVAL, "waits cannot be compared by module");
	return 0;
}

static int diff_read_traces(struct comparison *c, struct error *err)
{
	const struct diff_options *o = c->options;
	struct diff_trace *t;
	int ret = 0;

	c->traces = calloc(o->paths[BEFORE].count + o->paths[AFTER].count, sizeof(*c->traces));
	if (!c->traces)
		return error_errno(err, -ENOMEM, "cannot compare");
	t = c->traces;
	for (int side = 0; side < SIDES; side++)
		for (size_t i = 0; i < o->paths[side].count && !ret; i++) {
			const struct event *e = c->traces[0].event;

			ret = diff_read_trace(t++, o->paths[side].items[i], o, e ? e->name : NULL,
					      err);
			c->count[side]++;
		}
	if (!ret)
		ret = diff_check_criteria(c, err);
	for (int side = 0; side < SIDES && diff_is_weak(c) && !diff_is_of_waits(c) && !ret; side++)
		ret = diff_read_stretches(&c->traces[side], o, err);
	if (!ret)
		ret = diff_match_builds(c, err);
	/* Functions of waits have their names only after builds were matched. */
	return ret || !diff_is_of_waits(c) ? ret : diff_read_waits(c, err);
}

static int diff_check_times(const struct comparison *c, struct error *err)
{
	for (size_t i = 0; i < c->count[BEFORE] + c->count[AFTER]; i++)
		if (!c->traces[i].time && c->criteria.measure == DIFF_TIME)
			return error_set(err, -ENODATA,
					 "%s does not say how long it was recorded: compare with "
					 "--normalize share",
					 c->traces[i].path);
	return 0;
}

static int compare_traces(struct comparison *c, struct error *err)
{
	size_t all = c->count[BEFORE] + c->count[AFTER];
	struct diff_run *runs = calloc(all, sizeof(*runs));
	struct diff_side sides[SIDES] = {{runs, c->count[BEFORE]},
					 {runs + c->count[BEFORE], c->count[AFTER]}};
	int ret = runs ? 0 : -ENOMEM;

	for (size_t i = 0; i < all && !ret; i++)
		runs[i] = diff_run_of_trace(&c->traces[i]);
	if (!ret)
		ret = diff_make(&c->diff, sides, &c->criteria);
	if (!ret)
		ret = diff_find_differences(c);
	free(runs);
	return ret < 0 ? error_errno(err, ret, "cannot compare") : 0;
}

bool diff_row_changed(const struct comparison *c, const struct diff_row *row)
{
	for (int cost = 0; cost < DIFF_COSTS; cost++)
		if (c->diff.costs[cost] && diff_is_significant(&row->cost[cost]) &&
		    fabs(row->cost[cost].change) >= c->criteria.least)
			return true;
	return false;
}

/*
 * Return whether any change is significant and at least --min, whether --limit shows it or not.
 * Changes of the kernel's rows (diff_row.kernel) do not count.
 */
static bool diff_has_changed(const struct comparison *c)
{
	for (size_t i = 0; i < c->diff.rows.count; i++)
		if (!c->diff.rows.items[i].kernel && diff_row_changed(c, &c->diff.rows.items[i]))
			return true;
	return false;
}

/* Show the comparison and return the exit status. */
static int show_comparison(struct comparison *c, struct error *err)
{
	struct screen screen;
	int rc = diff_check_times(c, err);

	if (!rc)
		rc = compare_traces(c, err);
	if (!rc)
		rc = screen_open(&screen, stdout, c->options->color);
	screen.full_names = c->options->full_names;
	if (!rc)
		rc = c->options->json ? diff_json(c, stdout, err) : diff_text(c, &screen, err);
	if (rc < 0)
		return log_failure(1, err);
	return c->options->exit_code && diff_has_changed(c) ? EXIT_CHANGED : 0;
}

static void free_comparison(struct comparison *c)
{
	for (size_t i = 0; i < c->count[BEFORE] + c->count[AFTER]; i++) {
		const struct diff_trace *t = &c->traces[i];

		/* the stretches of waits have the profile of their trace */
		for (size_t k = 0; k < t->stretch_count && !t->waits; k++)
			profile_free((struct profile *)t->stretches[k].profile);
		diff_free_waits(&c->traces[i]);
		profile_free(t->profile);
		filtered_input_close(&c->traces[i].input);
	}
	free(c->traces);
	for (size_t i = 0; i < c->differences.count; i++)
		free(c->differences.items[i]);
	vector_free(&c->differences);
	diff_free(&c->diff);
}

static int run_diff(const struct diff_options *o)
{
	struct comparison c = {.options = o};
	struct error err = {""};
	int status = diff_read_traces(&c, &err) < 0 ? log_failure(1, &err) : 0;

	if (!status && (o->format || o->out))
		status = diff_picture(&c, &err) < 0 ? log_failure(1, &err) : 0;
	else if (!status)
		status = show_comparison(&c, &err);
	free_comparison(&c);
	return status;
}

/* Insert operands before the paths that --before and --after add to the same side. */
static int insert_operands(struct diff_options *o, int side, char **operands, int count,
			   struct error *err)
{
	paths_t *paths = &o->paths[side];

	if (vector_reserve(paths, count) < 0)
		return error_errno(err, -ENOMEM, "cannot take %s", *operands);
	memmove(paths->items + count, paths->items, paths->count * sizeof(*paths->items));
	memcpy(paths->items, operands, count * sizeof(*paths->items));
	paths->count += count;
	return 0;
}

/*
 * Assign operands to sides. after is the number of words after the first "--", 0 if there is none.
 */
static int assign_operands(struct diff_options *o, char **operands, int count, int after,
			   struct error *err)
{
	bool given = o->paths[BEFORE].count && o->paths[AFTER].count;
	int ret = 0;

	if (count == SIDES)
		after = 1;
	else if (after == count) /* all follow the "--", so it only ended the options */
		after = 0;
	if (count > SIDES && !after)
		return error_set(err, -EINVAL,
				 "two traces; '%s' is too many (of several on each side: skein "
				 "diff BEFORE... -- AFTER...)",
				 operands[SIDES]);
	if (count < SIDES && (count || !given))
		return error_set(err, -EINVAL, "which two traces? skein diff BEFORE AFTER");
	if (count)
		ret = insert_operands(o, BEFORE, operands, count - after, err);
	if (count && !ret)
		ret = insert_operands(o, AFTER, operands + count - after, after, err);
	return ret;
}

/* Return how many words follow the first "--", which ends the options. */
static int count_after_dashes(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return argc - i - 1;
	return 0;
}

static int diff_check_options(struct diff_options *o, struct error *err)
{
	const char *ending = o->out && !o->format ? strrchr(o->out, '.') : NULL;

	if (o->color && option_find_word(o->color, screen_color_word, err) < 0)
		return -EINVAL;
	if (ending && diff_set_format(o, ending + 1, err) < 0)
		return -EINVAL;
	if (o->out && !o->format)
		return error_set(err, -EINVAL, "which format? -f FORMAT, html, svg or folded");
	if (o->filter.event && o->off_cpu)
		return error_set(err, -EINVAL, "--off-cpu and --event exclude each other");
	if (o->off_cpu)
		o->filter.event = EVENT_OFF_CPU;
	if (o->filter.event && (!strcmp(o->filter.event, EVENT_WALL) ||
				!strcmp(o->filter.event, EVENT_OFF_CPU_WAKERS)))
		return error_set(err, -EINVAL,
				 "--event %s cannot be compared: compare cpu-clock, and off-cpu",
				 o->filter.event);
	if (o->format && (o->json || o->exit_code || o->all))
		return error_set(err, -EINVAL,
				 "--format cannot be combined with --json, --all or "
				 "--exit-code");
	return filter_check(&o->filter, err);
}

/* Take the windows that are chosen as the traces of both sides. */
static int assign_windows(struct diff_options *o, char **operands, int count, struct error *err)
{
	const char *paths[SIDES][WINDOW_PARTS];
	size_t parts[SIDES];
	int ret;

	if (count || o->paths[BEFORE].count || o->paths[AFTER].count)
		return error_set(err, -EINVAL,
				 "--last and --at choose windows, so '%s' is too many",
				 count ? *operands : "--before or --after");
	/* A picture shows one trace a side. */
	ret = window_choice_pair(&o->windows, o->format ? 1 : WINDOW_PARTS, paths, parts, err);
	for (int side = 0; side < SIDES && !ret; side++)
		for (size_t i = 0; i < parts[side] && !ret; i++)
			ret = diff_add_path(o, side, paths[side][i], err);
	return ret;
}

static int diff_main(int argc, char **argv)
{
	struct diff_options o = {
		.compare = {.by = DIFF_BY_FUNCTION, .measure = DIFF_MEASURE_COUNT},
		.limit = LIMIT_UNSET,
	};
	struct error err = {""};
	/* count first, because parsing moves "--" before the operands */
	int after = count_after_dashes(argc, argv);
	int status, first = command_parse(&diff_command, argc, argv, &o), ret = 0;
	bool windows = window_choice_given(&o.windows);

	if (first >= 0 && !windows && (o.windows.folder || o.windows.against))
		ret = error_set(&err, -EINVAL, "--folder and --against are for --last and --at");
	else if (first >= 0 && !windows)
		ret = assign_operands(&o, argv + first, argc - first, after, &err);
	if (first >= 0 && !ret)
		ret = diff_check_options(&o, &err);
	if (first >= 0 && !ret && windows)
		ret = assign_windows(&o, argv + first, argc - first, &err);
	if (first < 0)
		status = ~first;
	else if (ret < 0)
		status = log_error(ret == -EINVAL || ret == -ENOMEM ? 2 : 1, "diff: %s", err.text);
	else
		status = run_diff(&o);
	vector_free(&o.paths[BEFORE]);
	vector_free(&o.paths[AFTER]);
	return status;
}

const struct command diff_command = {
	.name = "diff",
	.summary = "what changed between two traces?",
	.usage = "[OPTIONS] BEFORE AFTER",
	.description =
		"Compare two traces, function by function, by name and module, whatever was "
		"built anew between them. What is shown is significant: of all changes shown, "
		"5 % are expected to be chance (false discovery rate; one star: q <= 0.05, two: "
		"0.01, three: 0.001).\n\nRuns of one program differ by themselves. Give several "
		"traces of each side, with -- between the sides, recorded in turns: then what "
		"they differ by is measured, and a change must be larger. With one trace a side, "
		"the weaker statement, 10 % of each value are assumed for it (30 % of the "
		"kernel's), and only large changes are shown.\n\nOf the windows of 'skein serve', "
		"--last 1h compares the last hour with the hour before, in parts of ten minutes.",
	.examples =
		"skein diff old.skein new.skein\twhich functions take another share now\n"
		"skein diff --normalize none old.skein new.skein\tof the same work: the CPU time\n"
		"skein diff a?.skein -- b?.skein\tseveral runs of each side: what to trust\n"
		"skein diff --by program mon.skein tue.skein\twhich programs\n"
		"skein diff --off-cpu old.skein new.skein\twhere threads wait more, or less\n"
		"skein diff --off-cpu --by class a?.skein -- b?.skein\twhat for: locks, I/O, ...\n"
		"skein diff --last 1h\tof 'skein serve': the last hour, and the hour before\n"
		"skein diff --last 1h --against 24h\tand the same hour yesterday\n"
		"skein diff old.skein new.skein -o diff.svg\tas a flame graph: red grew\n"
		"skein diff --exit-code --min 1 old?.skein -- new?.skein\tfor a script: 3 if so\n",
	.options = diff_specs,
	.options_size = sizeof(struct diff_options),
	.group = COMMANDS_READING,
	.exits = "3\tWith --exit-code: a significant change was found, not one of the kernel's.",
	.run = diff_main,
};
