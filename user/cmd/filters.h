/* SPDX-License-Identifier: Apache-2.0 */
/* Options that choose samples, shared by report, export and diff, and opening a trace with them. */
#ifndef SKEIN_CMD_FILTERS_H
#define SKEIN_CMD_FILTERS_H

#include "analyze/filter.h"
#include "analyze/profile.h"
#include "base/options.h"
#include "trace/trace.h"

#define DEFAULT_TRACE "skein.skein"

/* Rows of a table of options. in is the type of the options, member its struct profile_view. */
#define VIEW_OPTIONS(in, member) \
	{.name = "lines", .type = OPTION_FLAG, \
	 .help = "By the line that ran, not by function: function (file.py:line) is then where " \
		 "each frame stood. Else Python's have the line where the function begins, and " \
		 "native ones none, which need --inlines when recording. (pprof always has all.)", \
	 .offset = offsetof(in, member.lines)}, \
	{.name = "no-inlines", .type = OPTION_FLAG, \
	 .help = "Functions that the compiler put into others count as those, as if recorded " \
		 "without --inlines.", \
	 .offset = offsetof(in, member.no_inlines)}, \
	{.name = "native", .type = OPTION_FLAG, \
	 .help = "Also the frames of Python's interpreter itself. Usually a Python function " \
		 "replaces the C functions that only run it; built-in functions and " \
		 "extensions in C are always shown.", \
	 .offset = offsetof(in, member.native)}, \
	{.name = "no-native", .type = OPTION_FLAG, \
	 .help = "Only Python's frames in stacks that have some: time in C and in the kernel " \
		 "counts as that of the Python function that called them.", \
	 .offset = offsetof(in, member.python)}

/* Rows of a table of options. in is the type of the options, member its struct filter. */
#define FILTER_OPTIONS(in, member) \
	{.name = "Which samples", .type = OPTION_HEADING}, \
	{.name = "from", .type = OPTION_DURATION, .arg = "TIME", \
	 .help = "From this time on, counted from the start of the recording: 2.5s, 200ms, 1m.", \
	 .offset = offsetof(in, member.from)}, \
	{.name = "to", .type = OPTION_DURATION, .arg = "TIME", .help = "Up to this time.", \
	 .offset = offsetof(in, member.to)}, \
	{.name = "pid", .letter = 'p', .type = OPTION_TEXT, .arg = "PIDS", \
	 .help = "Of these processes: 12 or 12,13.", .offset = offsetof(in, member.pids)}, \
	{.name = "tid", .letter = 't', .type = OPTION_TEXT, .arg = "TIDS", \
	 .help = "Of these threads.", .offset = offsetof(in, member.tids)}, \
	{.name = "comm", .type = OPTION_TEXT, .arg = "GLOB", \
	 .help = "Of threads, or threads of processes, with such a name: 'java', 'kworker*'. A " \
		 "thread of a JVM has its full name, too.", \
	 .offset = offsetof(in, member.comm)}, \
	{.name = "cgroup", .type = OPTION_TEXT, .arg = "PATH", \
	 .help = "Of this control group and all below it; with a wildcard, of all whose whole " \
		 "path matches.", \
	 .offset = offsetof(in, member.cgroup)}, \
	{.name = "container", .type = OPTION_TEXT, .arg = "ID", \
	 .help = "Of this container; the first digits of its id are enough.", \
	 .offset = offsetof(in, member.container)}, \
	{.name = "service", .type = OPTION_TEXT, .arg = "GLOB", \
	 .help = "Of services with such a name: 'web', 'postgres*'.", \
	 .offset = offsetof(in, member.service)}, \
	{.name = "event", .letter = 'e', .type = OPTION_TEXT, .arg = "NAME", \
	 .help = "Of this event, when several were recorded: cpu-clock, off-cpu, off-cpu-wakers. " \
		 "wall: cpu-clock and off-cpu together.", \
	 .offset = offsetof(in, member.event)}, \
	{.name = "python", .type = OPTION_TEXT, .arg = "WHAT", .values = filter_python_word, \
	 .help = "Of threads of Python's interpreters: any; gil, no-gil: that held the " \
		 "interpreter's lock or did not; gc: that collected garbage; unread: before the " \
		 "interpreter was known.", \
	 .offset = offsetof(in, member.python)}, \
	{.name = "no-collections", .type = OPTION_FLAG, \
	 .help = "Without those in collections of garbage: of threads that collected, and of all " \
		 "of a JVM while it stood still for that (recorded with -e gc).", \
	 .offset = offsetof(in, member.no_collections)}, \
	{.name = "idle", .type = OPTION_FLAG, \
	 .help = "Also those of CPUs that had nothing to do.", \
	 .offset = offsetof(in, member.idle)}

/*
 * A trace and the source of the records that pass a filter. A zeroed input holds nothing to
 * close.
 */
struct filtered_input {
	const char *path;
	const struct filter *filter;
	struct trace *trace;
	struct source *source;
};

/*
 * Open a trace with a filter. The input must be zeroed; path and filter must outlive it. Return 0,
 * or a negative errno with the cause in *err and the input zeroed again.
 */
int filtered_input_open(struct filtered_input *in, const char *path, const struct filter *f,
			struct error *err);
/*
 * Read the profile of an input from which nothing was read yet. Several readers work in parallel
 * where possible; a damaged trace is opened again for a single reader. Return 0, or a negative
 * errno with the cause in *err. The caller closes the input and frees *out.
 */
int filtered_input_read_profile(struct profile **out, struct filtered_input *in,
				const struct profile_view *view, struct error *err);
void filtered_input_close(struct filtered_input *in);

#endif
