// SPDX-License-Identifier: Apache-2.0
/* skein export: write a trace in the format of another tool. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/wait_division.h"
#include "base/log.h"
#include "base/outfile.h"
#include "cmd/commands.h"
#include "cmd/export.h"
#include "cmd/filters.h"
#include "cmd/html_timeline.h"
#include "export/gzip.h"
#include "export/roots.h"

#define FORMAT_HELP(name, word, suffix, flags, summary) "\n" word " (" suffix "): " summary "."

const char *export_format_word(unsigned int index)
{
	return export_formats[index].name;
}

static const struct option_spec export_specs[] = {
	{.name = "format",
	 .letter = 'f',
	 .type = OPTION_TEXT,
	 .arg = "FORMAT",
	 .values = export_format_word,
	 .help = "One of these; without this option the ending of FILE decides." EXPORT_FORMATS(
		 FORMAT_HELP),
	 .offset = offsetof(struct export_arguments, format)},
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "The file to write; - is stdout, the default for text. If FILE ends in .gz, it is "
		 "compressed.",
	 .offset = offsetof(struct export_arguments, out)},
	{.name = "How stacks are shown", .type = OPTION_HEADING},
	VIEW_OPTIONS(struct export_arguments, how.view),
	{.name = "Frames above the stacks (folded, svg)", .type = OPTION_HEADING},
	{.name = "threads",
	 .type = OPTION_FLAG,
	 .help = "One for each thread, below that of its process.",
	 .offset = offsetof(struct export_arguments, how.threads)},
	{.name = "pids",
	 .type = OPTION_FLAG,
	 .help = "Separate processes of one name by their pids.",
	 .offset = offsetof(struct export_arguments, how.pids)},
	{.name = "services",
	 .type = OPTION_FLAG,
	 .help = "One for each service, above its containers and processes.",
	 .offset = offsetof(struct export_arguments, how.services)},
	{.name = "containers",
	 .type = OPTION_FLAG,
	 .help = "One for each container or control group, above its processes.",
	 .offset = offsetof(struct export_arguments, how.containers)},
	{.name = "annotate",
	 .type = OPTION_FLAG,
	 .help = "Mark kernel frames with _[k], inlined functions with _[i] and generated code "
		 "with _[j], for palettes.",
	 .offset = offsetof(struct export_arguments, how.annotate)},
	{.name = "Pictures (svg)", .type = OPTION_HEADING},
	{.name = "width",
	 .type = OPTION_COUNT,
	 .arg = "PIXELS",
	 .help = "How wide the picture is (default 1200). Frames too small to see are left "
		 "out.",
	 .offset = offsetof(struct export_arguments, how.width)},
	{.name = "icicle",
	 .type = OPTION_FLAG,
	 .help = "The root at the top, callees below it.",
	 .offset = offsetof(struct export_arguments, how.icicle)},
	FILTER_OPTIONS(struct export_arguments, filter),
	WINDOW_OPTIONS(struct export_arguments, windows),
	{.name = NULL},
};

/* Threads with the same root frames share the time of their waits. */
struct export_groups {
	const struct source *filter;
	struct root_groups roots;
};

static int export_group(void *context, const struct process *p, const struct thread *t,
			uint32_t *out)
{
	struct export_groups *g = context;

	return filter_selects(g->filter, p, t) ? roots_group(&g->roots, p, t, out) : 1;
}

/* Export with the sums of waits divided. */
static int export_divided(const struct export_input *in, struct sink *sink,
			  const struct export_options *o, struct error *err)
{
	struct export_groups groups = {.filter = in->source, .roots.options = o};
	struct wait_division d = {
		.from = o->from, .to = o->to, .group = export_group, .context = &groups};
	struct source *divided = NULL;
	int ret = trace_source(&d.records, in->trace, err);

	if (!ret)
		ret = wait_division_source(&divided, in->source, &d, err);
	if (!ret)
		ret = pipe_join(divided, sink, err);
	source_free(divided);
	source_free(d.records);
	names_free(&groups.roots.keys);
	return ret;
}

int export_to_file(const struct export_input *in, const struct export_format *format,
		   const char *path, const struct export_options *options, struct error *err)
{
	const char *dot = strrchr(path, '.');
	bool gzip = format->gzip || (dot && !strcmp(dot, ".gz"));
	struct outfile file = {0};
	struct sink *sink = NULL;
	int ret = outfile_open(&file, path, format->binary, err);
	FILE *stream = ret < 0 ? NULL : gzip ? gzip_stream(file.stream) : file.stream;

	if (ret < 0)
		return ret;
	ret = stream ? format->sink(&sink, stream, options, err)
		     : error_errno(err, -ENOMEM, "cannot compress %s", path);
	if (!ret)
		ret = in->divided && format->divided ? export_divided(in, sink, options, err)
						     : pipe_join(in->source, sink, err);
	sink_free(sink);
	if (gzip && stream)
		fclose(stream); /* an error also stays in file.stream, for outfile_commit() */
	if (!ret)
		ret = outfile_commit(&file, err);
	outfile_abort(&file);
	return ret;
}

static int export_report_unknown(const char *name)
{
	char list[256] = "";

	for (const struct export_format *f = export_formats; f->name; f++) {
		strncat(list, f == export_formats ? "" : ", ", sizeof(list) - strlen(list) - 1);
		strncat(list, f->name, sizeof(list) - strlen(list) - 1);
	}
	if (!name)
		return log_error(2, "export: which format? -f FORMAT, one of: %s", list);
	return log_error(2, "export: there is no format for '%s'; there are: %s", name, list);
}

/*
 * Return whether samples of waits can divide the exact times: stacks of waits are chosen, and by
 * nothing that records of switches do not have.
 */
static bool is_divided(const struct filter *f)
{
	return !f->python &&
	       (!f->event || !strcmp(f->event, EVENT_OFF_CPU) || !strcmp(f->event, EVENT_WALL));
}

int export_trace_file(const char *path, const char *out, const struct export_format *format,
		      const struct export_arguments *o, struct error *err)
{
	struct export_options how = o->how;
	struct filtered_input in = {0};
	struct export_input from;
	struct export_timeline timeline = {0};
	int ret = filtered_input_open(&in, path, &o->filter, err);

	how.from = o->filter.from;
	how.to = o->filter.to;
	how.wall = o->filter.event && !strcmp(o->filter.event, EVENT_WALL);
	from = (struct export_input){in.trace, in.source, is_divided(&o->filter)};
	if (!ret && format->timeline)
		ret = html_timeline_make(&timeline, path, path, &o->filter, err);
	how.timeline = &timeline;
	if (!ret)
		ret = export_to_file(&from, format, out, &how, err);
	html_timeline_free(&timeline);
	if (!ret && trace_left_out(in.trace))
		log_warn("%s is damaged: parts of it could not be read and are missing in what was "
			 "written",
			 path);
	filtered_input_close(&in);
	return ret;
}

static int export_main(int argc, char **argv)
{
	struct export_arguments o = {0};
	struct error err = {""};
	const struct export_format *format;
	int first = command_parse(&export_command, argc, argv, &o), status;
	const char *path;

	if (first < 0)
		return ~first;
	if (argc - first > 1)
		return log_error(2, "export: one trace at a time; '%s' is too many",
				 argv[first + 1]);
	format = o.format ? export_format_named(o.format)
		 : o.out  ? export_format_for_path(o.out)
			  : NULL;
	if (!format)
		return export_report_unknown(o.format ? o.format : o.out);
	if (filter_check(&o.filter, &err) < 0)
		return log_failure(2, &err);
	status = window_choice_path(&o.windows, "export", first < argc ? argv[first] : NULL, &path);
	if (status)
		return status;
	if (export_trace_file(path, o.out ? o.out : "-", format, &o, &err) < 0)
		return log_failure(1, &err);
	return 0;
}

const struct command export_command = {
	.name = "export",
	.summary = "write a trace in the format of other tools",
	.usage = "[OPTIONS] [FILE]",
	.description =
		"Write a trace (skein.skein when none is named) in another format, whole or "
		"in part. The options choose samples, and how their stacks are shown; of CPUs "
		"and the states of threads only --from and --to choose.",
	.examples = "skein export -o out.folded\tall stacks, for a flame graph\n"
		    "skein export -f folded | flamegraph.pl > out.svg\tthe flame graph itself\n"
		    "skein export run.skein -o out.pb.gz --comm java\tJava only, for pprof\n"
		    "skein export -o out.pftrace\ta timeline, for ui.perfetto.dev\n",
	.options = export_specs,
	.options_size = sizeof(struct export_arguments),
	.files = "skein.skein\tThe trace that is read when none is named.",
	.run = export_main,
};
