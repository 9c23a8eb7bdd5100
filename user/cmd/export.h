/* SPDX-License-Identifier: Apache-2.0 */
/* Export a source to a file, for the commands export and record. */
#ifndef SKEIN_CMD_EXPORT_H
#define SKEIN_CMD_EXPORT_H

#include "base/pipe.h"
#include "export/export.h"

/*
 * Run a source into a file of the format. The file appears under its name only when it is
 * complete. The path "-" means stdout; a binary format refuses stdout if it is a terminal. Return
 * 0, or a negative errno with the cause in *err.
 */
int export_to_file(struct source *source, const struct export_format *format, const char *path,
		   const struct export_options *options, struct error *err);

/* Return the name of a format by index; NULL after the last. */
const char *export_format_word(unsigned int index);

#endif
