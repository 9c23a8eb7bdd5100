/* SPDX-License-Identifier: Apache-2.0 */
/* Write the records of a source to an export file, for the commands export and record. */
#ifndef SKEIN_CMD_EXPORT_H
#define SKEIN_CMD_EXPORT_H

#include <stdbool.h>

#include "analyze/filter.h"
#include "cmd/window_choice.h"
#include "export/export.h"
#include "trace/trace.h"

/* What is exported. */
struct export_input {
	struct trace *trace;
	struct source *source; /* made by filter_source(), of the records of the trace */
	/* stacks of waits divide the exact times of waiting, in formats that show sums */
	bool divided;
};

/*
 * Run the source and write its records to a file in the format, compressed by gzip if the format
 * requires it or path ends in .gz. The file appears under its name when it is complete; devices and
 * pipes are written directly. The path "-" means stdout; a binary format refuses stdout if it is a
 * terminal. Return 0, or a negative errno with the cause in *err.
 */
int export_to_file(const struct export_input *in, const struct export_format *format,
		   const char *path, const struct export_options *options, struct error *err);

/* What the options of a command choose for an export. */
struct export_arguments {
	const char *format, *out;
	struct export_options how;
	struct filter filter;
	struct window_choice windows;
};

/*
 * Export the trace at a path to the file out ("-": stdout), with the options and filter of *o,
 * whose format and out are not used. Warn of damage. Return 0, or a negative errno with the cause
 * in *err.
 */
int export_trace_file(const char *path, const char *out, const struct export_format *format,
		      const struct export_arguments *o, struct error *err);

/* Return the name of a format by index; NULL after the last. */
const char *export_format_word(unsigned int index);

#endif
