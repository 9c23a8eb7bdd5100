/* SPDX-License-Identifier: Apache-2.0 */
/* The output of skein record that is no trace in a file. */
#ifndef SKEIN_CMD_RECORD_EXPORT_H
#define SKEIN_CMD_RECORD_EXPORT_H

#include <stdbool.h>

#include "export/export.h"

struct record_output {
	const char *trace; /* path of the complete trace */
	const struct export_format *format; /* NULL: a copy of the trace */
	const char *output; /* file, "-" for stdout; NULL: named by the format */
	bool idle; /* with the idle threads */
};

/* Export the trace, or copy it to stdout. Return 0 or an exit status. */
int record_export(const struct record_output *r);

#endif
