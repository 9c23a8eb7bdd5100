/* SPDX-License-Identifier: Apache-2.0 */
/* Make a new, empty trace file under its final name; an existing file becomes NAME.old. */
#ifndef SKEIN_TRACE_CREATE_H
#define SKEIN_TRACE_CREATE_H

#include <stdbool.h>

#include "base/error.h"

struct new_file {
	char *path; /* absolute, with the symlinks of the directory resolved; owned */
	bool replaced; /* NAME.old was made by create_trace_file() */
};

/*
 * Create the file with mode 0600, owned by the invoking user. Symlinks, other files that are not
 * regular, and a trace that another recording is writing are refused.
 */
int create_trace_file(struct new_file *out, const char *path, struct error *err);

/* Check whether create_trace_file() would refuse the name. Changes nothing. */
int check_trace_name(const char *path, struct error *err);

/*
 * Rename a complete trace, to which no process writes any more, to its final name; an existing file
 * of that name becomes NAME.old.
 */
int publish_trace_file(const char *made, const char *path, struct error *err);

/* Undo create_trace_file(): remove the file and its journal, and rename NAME.old back to NAME. */
void undo_trace_file(struct new_file *f);
void free_trace_file(struct new_file *f);

#endif
