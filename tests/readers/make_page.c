// SPDX-License-Identifier: Apache-2.0
/* make_page AFTER BEFORE: the page that compares two traces, on stdout. */
#include "base/log.h"
#include "export/export.h"
#include "trace/trace.h"

static int read_one(struct profile **ret, const char *path, struct error *err)
{
	struct trace *trace = NULL;
	struct source *source = NULL;
	int rc = trace_open(&trace, path, err);

	if (!rc)
		rc = trace_source(&source, trace, err);
	if (!rc)
		rc = profile_read(ret, source, NULL, err);
	source_free(source);
	trace_close(trace);
	return rc;
}

int main(int argc, char **argv)
{
	struct export_options options = {0};
	struct profile *after = NULL, *before = NULL;
	struct error err = {""};
	int rc;

	if (argc != 3)
		return log_error(2, "usage: make_page AFTER BEFORE");
	rc = read_one(&after, argv[1], &err);
	if (!rc)
		rc = read_one(&before, argv[2], &err);
	if (!rc)
		rc = html_write(stdout, after, before, &options, &err);
	profile_free(after);
	profile_free(before);
	return rc < 0 ? log_failure(1, &err) : 0;
}
