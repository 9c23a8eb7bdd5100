/* SPDX-License-Identifier: Apache-2.0 */
/* Exporting a source to a file, for the commands export and record. */
#ifndef SKEIN_CMD_EXPORT_H
#define SKEIN_CMD_EXPORT_H

#include "base/pipe.h"
#include "export/export.h"

/*
 * Run a source into a format's file, which appears under its name only when it
 * is complete. path "-" is stdout, which is refused for a binary format when
 * it is a terminal. 0, or a negative errno with the cause in *err.
 */
int export_to(struct source *source, const struct export_format *format, const char *path,
	      const struct export_options *options, struct error *err);

/* The names of formats, one by one until NULL. */
const char *format_word(unsigned int index);

#endif
