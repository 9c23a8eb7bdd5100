// SPDX-License-Identifier: Apache-2.0
/* Exports a recording that is not kept as a trace, or copies it to stdout. */
#include "cmd/record_export.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/filter.h"
#include "base/log.h"
#include "base/outfile.h"
#include "cmd/export.h"
#include "cmd/html_timeline.h"
#include "trace/trace.h"

static int trace_to_stdout(const char *path, struct error *err)
{
	FILE *in = fopen(path, "re");
	char buffer[65536];
	int ret = 0;
	size_t n;

	if (!in)
		return error_errno(err, -errno, "record: %s", path);
	while ((n = fread(buffer, 1, sizeof(buffer), in)) > 0)
		if (fwrite(buffer, 1, n, stdout) != n)
			break;
	if (ferror(in))
		ret = error_errno(err, -errno, "record: reading %s", path);
	fclose(in);
	return ret ? ret : outfile_flush(stdout, "to stdout", err);
}

static int export_from(struct trace *trace, const struct record_output *r, const char *path,
		       struct error *err)
{
	struct export_options o = {.pids = false};
	struct export_input in = {.trace = trace, .divided = true};
	const struct filter everything = {.idle = r->idle};
	struct source *source = NULL;
	struct export_timeline timeline = {0};
	int ret = trace_source(&source, trace, err);

	if (!ret)
		ret = filter_source(&in.source, source, &everything, err);
	if (ret)
		source_free(source); /* else the filter owns it */
	else if (r->format->timeline)
		ret = html_timeline_make(&timeline, r->trace, NULL, &everything, err);
	o.timeline = &timeline;
	if (!ret)
		ret = export_to_file(&in, r->format, path, &o, err);
	html_timeline_free(&timeline);
	source_free(in.source);
	return ret;
}

static int export_spooled(const struct record_output *r, struct error *err)
{
	const char *output = r->output;
	struct trace *trace = NULL;
	char *path = NULL;
	int ret;

	if (!r->format)
		return trace_to_stdout(r->trace, err);
	if (!output && asprintf(&path, "skein%s", r->format->suffix) < 0)
		return error_errno(err, -ENOMEM, "record");
	ret = trace_open(&trace, r->trace, err);
	if (!ret)
		ret = export_from(trace, r, path ? path : output, err);
	trace_close(trace);
	free(path);
	return ret;
}

int record_export(const struct record_output *r)
{
	struct error err = {""};
	int ret = export_spooled(r, &err);

	if (ret == -EPIPE) /* the reader (head, less) has closed the pipe and wants no message */
		return 128 + SIGPIPE;
	return ret ? log_failure(1, &err) : 0;
}
