// SPDX-License-Identifier: Apache-2.0
/* skein query: run SQL over a trace. */
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "base/outfile.h"
#include "cmd/commands.h"
#include "cmd/window_choice.h"
#include "trace/trace.h"

struct query_options {
	bool csv, tsv, json;
	struct window_choice windows;
};

static const struct option_spec query_specs[] = {
	{.name = "csv",
	 .type = OPTION_FLAG,
	 .help = "Print the rows as CSV (quoted as in RFC 4180, lines end with a newline).",
	 .offset = offsetof(struct query_options, csv)},
	{.name = "tsv",
	 .type = OPTION_FLAG,
	 .help = "Print the rows with a tab between columns, for cut, sort and awk; \\t, \\n, "
		 "\\r and \\\\ stand for a tab, an end of line and a backslash in a text.",
	 .offset = offsetof(struct query_options, tsv)},
	{.name = "json",
	 .type = OPTION_FLAG,
	 .help = "Print the rows as a JSON array of objects.",
	 .offset = offsetof(struct query_options, json)},
	WINDOW_OPTIONS(struct query_options, windows),
	{.name = NULL},
};

static int run_query(const char *path, const char *sql, enum query_format format)
{
	struct error err = {0};
	struct trace *t = NULL;
	int ret;

	ret = trace_open(&t, path, &err);
	if (ret < 0)
		return log_failure(1, &err);
	if (sql)
		ret = trace_query(t, sql, format, stdout, &err);
	else
		trace_describe(stdout);
	if (ret < 0 && strstr(err.text, "no such "))
		error_hint(&err, "all tables and their columns: skein query %s", path);
	trace_close(t);
	if (ret == 0)
		ret = outfile_flush(stdout, "the rows", &err);
	return ret < 0 ? log_failure(1, &err) : 0;
}

static int query_main(int argc, char **argv)
{
	struct query_options o = {0};
	int first = command_parse(&query_command, argc, argv, &o), windows, status;
	const char *path;

	if (first < 0)
		return ~first;
	if (o.csv + o.tsv + o.json > 1)
		return log_error(2, "query: choose one of --csv, --tsv and --json");
	windows = window_choice_given(&o.windows);
	if (argc - first < 1 && !windows)
		return log_error(2, "query: which trace? usage: skein query [OPTIONS] FILE [SQL]");
	if (argc - first > 2 - windows)
		return log_error(2, "query: SQL must be one argument: put it in quotes");
	status = window_choice_path(&o.windows, "query", windows ? NULL : argv[first], &path);
	if (status)
		return status;
	return run_query(path, argc - first == 2 - windows ? argv[argc - 1] : NULL,
			 o.json	 ? QUERY_JSON
			 : o.csv ? QUERY_CSV
			 : o.tsv ? QUERY_TSV
				 : QUERY_TABLE);
}

const struct command query_command = {
	.name = "query",
	.summary = "query a trace in SQL",
	.usage = "[OPTIONS] FILE [SQL]",
	.description =
		"Run read-only SQL on a trace and print the rows. A trace is an SQLite database: "
		"its "
		"tables are the things that were seen, and its streams (sample, slice, edge, span, "
		"counter) can be queried as tables too. Without SQL, the tables are listed.",
	.examples =
		"skein query skein.skein\tlists the tables\n"
		"skein query skein.skein 'SELECT * FROM hottest LIMIT 10'\tthe hottest functions\n"
		"skein query --csv skein.skein 'SELECT time, cpu, thread FROM sample'\t"
		"every sample, for a spreadsheet\n",
	.options = query_specs,
	.options_size = sizeof(struct query_options),
	.files = "skein.so\tThe same tables for SQLite's own shell (.load) and for Python's "
		 "sqlite3, in skein's folder of libraries.",
	.run = query_main,
};
