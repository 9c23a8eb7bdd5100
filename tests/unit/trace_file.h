/* SPDX-License-Identifier: Apache-2.0 */
/* Traces in the files of a test: each function fails the test if its trace cannot be used. */
#ifndef SKEIN_TESTS_TRACE_FILE_H
#define SKEIN_TESTS_TRACE_FILE_H

#include <check.h>

#include "trace/trace.h"

static inline struct trace *trace_file_open(const char *path)
{
	struct error err = {""};
	struct trace *t;

	ck_assert_msg(!trace_open(&t, path, &err), "%s", err.text);
	return t;
}

/* Put all that the sink wants; the sink is not finished. */
static inline void trace_file_put(struct trace *t, struct sink *to)
{
	struct error err = {""};
	struct source *source;

	ck_assert_msg(!trace_source(&source, t, &err), "%s", err.text);
	ck_assert_msg(!source->ops->run(source, to, &err), "%s", err.text);
	source_free(source);
}

/* Return the rows of a query as CSV; the caller frees them. */
static inline char *trace_file_query(struct trace *t, const char *sql)
{
	struct error err = {""};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int ret = trace_query(t, sql, QUERY_CSV, out, &err);

	fclose(out);
	ck_assert_msg(!ret, "%s: %s", sql, err.text);
	return text;
}

/* Open a trace, put all that the sink wants, and close the trace. */
static inline void trace_file_read(const char *path, struct sink *to)
{
	struct trace *t = trace_file_open(path);

	trace_file_put(t, to);
	trace_close(t);
}

/* Write what the source puts. */
static inline void trace_file_write(const char *path, struct source *from)
{
	struct error err = {""};
	struct sink *w;

	ck_assert_msg(!trace_writer(&w, path, &err), "%s", err.text);
	ck_assert_msg(!pipe_join(from, w, &err), "%s", err.text);
	sink_free(w);
}

#endif
