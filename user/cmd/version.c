// SPDX-License-Identifier: Apache-2.0
/* skein version: show the version of skein and of its libraries. */
#include <bpf/libbpf.h>
#include <elfutils/version.h>
#include <sqlite3.h>
#include <stddef.h>
#include <zstd.h>

#include "base/log.h"
#include "cmd/commands.h"
#include "export/export.h"
#include "symbolizers/python_file.h"
#include "trace/schema.h"

struct version_options {
	bool verbose;
};

static const struct option_spec version_specs[] = {
	{.name = "verbose",
	 .letter = 'v',
	 .type = OPTION_FLAG,
	 .help = "Also what it can do, and the libraries that do it. 'skein --version' shows the "
		 "same.",
	 .offset = offsetof(struct version_options, verbose)},
	{.name = NULL},
};

static void show_features(FILE *out)
{
	fprintf(out, "commands:  ");
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, " %s", commands[i]->name);
	fprintf(out, "\nformats:   ");
	for (const struct export_format *f = export_formats; f->name; f++)
		fprintf(out, " %s", f->name);
	fprintf(out,
		"\nlanguages:  native code by its unwind tables, Go, CPython " PYTHON_VERSIONS_TEXT
		", generated code by frame pointers and perf maps\n");
	fprintf(out, "trace:      schema %u, reads 1 to %u\n", SCHEMA_VERSION, SCHEMA_VERSION);
	fprintf(out, "libraries:  libbpf %s, elfutils %d.%d, SQLite %s, zstd %s\n",
		libbpf_version_string(), _ELFUTILS_VERSION / 1000, _ELFUTILS_VERSION % 1000,
		sqlite3_libversion(), ZSTD_versionString());
}

static int version_main(int argc, char **argv)
{
	struct version_options o = {0};
	int first = command_parse(&version_command, argc, argv, &o);

	if (first < 0)
		return ~first;
	if (first < argc)
		return log_error(2, "version: '%s' is too many", argv[first]);
	printf("skein %s\n", SKEIN_VERSION);
	if (o.verbose)
		show_features(stdout);
	return command_finish("the version");
}

const struct command version_command = {
	.name = "version",
	.summary = "print the version and what this skein can do",
	.usage = "[OPTIONS]",
	.description = "Print the version of skein, and what it was built with.",
	.examples = "skein version -v\twhat this skein can do, for a report of a fault\n",
	.options = version_specs,
	.options_size = sizeof(struct version_options),
	.group = COMMANDS_OTHER,
	.run = version_main,
};
