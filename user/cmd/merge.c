// SPDX-License-Identifier: Apache-2.0
/* skein merge: merge several traces into one. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/commands.h"
#include "trace/create.h"
#include "trace/merge.h"

#define DEFAULT_OUTPUT "merged.skein"

struct merge_options {
	const char *out;
};

static const struct option_spec merge_specs[] = {
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "The merged trace (default " DEFAULT_OUTPUT "). It appears when it is whole; a "
		 "file of that name becomes FILE.old.",
	 .offset = offsetof(struct merge_options, out)},
	{.name = NULL},
};

struct merge_run {
	struct merge_part *parts;
	size_t count;
	struct source *source;
	bool shown; /* a progress line is on the terminal */
};

/*
 * Paths of the unfinished file and its journal, for signal handlers that end the merge; "" if
 * there is none.
 */
static char unfinished[4096], unfinished_journal[4096];

static void remove_unfinished(void)
{
	if (*unfinished) {
		unlink(unfinished);
		unlink(unfinished_journal);
	}
}

static void on_merge_signal(int signal_number)
{
	remove_unfinished();
	_exit(128 + signal_number);
}

static void show_merge_progress(void *context, uint64_t done, uint64_t all)
{
	struct merge_run *m = context;

	if (!isatty(STDERR_FILENO))
		return;
	m->shown = true;
	fprintf(stderr, "\rmerging: %3d %%", all ? (int)(100.0 * (double)done / (double)all) : 0);
	fflush(stderr);
}

static void end_merge_progress(struct merge_run *m)
{
	if (m->shown)
		fputs("\r\033[K", stderr);
	m->shown = false;
}

static bool is_same_path(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int open_merge_parts(struct merge_run *m, char *const *paths, const char *out,
			    struct error *err)
{
	int ret = 0;

	m->parts = calloc(m->count, sizeof(*m->parts));
	if (!m->parts)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < m->count && !ret; i++) {
		m->parts[i].name = paths[i];
		if (is_same_path(paths[i], out))
			ret = error_set(
				err, -EINVAL,
				"%s is among the traces to merge: name another output with -o",
				out);
		if (!ret)
			ret = trace_open(&m->parts[i].trace, paths[i], err);
	}
	return ret;
}

/* Warn of parts that recorded the same machine at the same time, so that records count twice. */
static void warn_of_overlapping_parts(const struct merge_run *m)
{
	for (size_t i = 0; i < m->count; i++)
		for (size_t j = i + 1; j < m->count; j++) {
			if (is_same_path(m->parts[i].name, m->parts[j].name))
				log_warn("%s is there twice, and counts twice", m->parts[i].name);
			else if (merge_overlaps(m->source, i, j))
				log_warn("%s and %s recorded the same machine at the same time: "
					 "what is in both counts twice",
					 m->parts[i].name, m->parts[j].name);
		}
}

static void warn_of_damaged_parts(const struct merge_run *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (merge_unreadable(m->source, i))
			log_warn("%s is damaged: what could not be read is missing in the merged "
				 "trace, which says so",
				 m->parts[i].name);
}

static int write_merged_trace(struct merge_run *m, struct error *err)
{
	struct sink *sink = NULL;
	int ret = trace_writer(&sink, unfinished, err);

	if (!ret)
		ret = pipe_join(m->source, sink, err);
	sink_free(sink);
	end_merge_progress(m);
	return ret;
}

/*
 * Name the unfinished file, in the folder of the output file, and catch the signals that would
 * leave it there.
 */
static int name_unfinished(const char *out, struct error *err)
{
	size_t size = sizeof(unfinished);

	if (snprintf(unfinished, size, "%s.merge-%d", out, (int)getpid()) >= (int)size ||
	    snprintf(unfinished_journal, size, "%s.merge-%d-journal", out, (int)getpid()) >=
		    (int)size) {
		*unfinished = '\0';
		return error_errno(err, -ENAMETOOLONG, "cannot write %s", out);
	}
	signal(SIGINT, on_merge_signal);
	signal(SIGTERM, on_merge_signal);
	signal(SIGHUP, on_merge_signal);
	return 0;
}

static int merge_into_file(struct merge_run *m, const char *out, struct error *err)
{
	const struct merge_progress progress = {show_merge_progress, m};
	int ret = merge_source(&m->source, m->parts, m->count, &progress, err);

	if (ret < 0)
		return ret;
	warn_of_overlapping_parts(m);
	ret = name_unfinished(out, err);
	if (!ret)
		ret = write_merged_trace(m, err);
	if (!ret)
		ret = publish_trace_file(unfinished, out, err);
	if (ret < 0)
		remove_unfinished();
	*unfinished = '\0';
	return ret;
}

static int run_merge(char *const *paths, size_t count, const char *out)
{
	struct merge_run m = {.count = count};
	struct error err = {""};
	int rc = check_trace_name(out, &err);

	if (!rc)
		rc = open_merge_parts(&m, paths, out, &err);
	if (!rc)
		rc = merge_into_file(&m, out, &err);
	if (!rc)
		warn_of_damaged_parts(&m);
	source_free(m.source);
	for (size_t i = 0; m.parts && i < m.count; i++)
		trace_close(m.parts[i].trace);
	free(m.parts);
	if (rc < 0)
		return log_failure(1, &err);
	log_info("%zu trace%s merged into %s", count, count == 1 ? "" : "s", out);
	return 0;
}

static int merge_main(int argc, char **argv)
{
	struct merge_options o = {.out = DEFAULT_OUTPUT};
	int first = command_parse(&merge_command, argc, argv, &o);

	if (first < 0)
		return ~first;
	if (first == argc)
		return log_error(2, "merge: which traces?");
	return run_merge(argv + first, (size_t)(argc - first), o.out);
}

const struct command merge_command = {
	.name = "merge",
	.summary = "merge several traces into one",
	.usage = "[OPTIONS] FILE...",
	.description =
		"Write several traces, of one machine or of many, as one that everything reads: "
		"samples, the scheduler's records, accounts and losses.\n\n"
		"Times of different machines are aligned by their clocks, so they are as exact as "
		"these clocks agree. --from and --to of other commands count from the "
		"beginning of the earliest recording. CPUs and threads keep a timeline for each "
		"recording, so that the time between two recordings stays unknown.",
	.examples = "skein merge web-*.skein -o web.skein\ta whole service\n"
		    "skein merge monday.skein tuesday.skein -o both.skein\t"
		    "two recordings of a machine\n",
	.options = merge_specs,
	.options_size = sizeof(struct merge_options),
	.files = DEFAULT_OUTPUT "\tThe merged trace when -o is not given.",
	.run = merge_main,
};
