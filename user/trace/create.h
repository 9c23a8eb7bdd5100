/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Make a new, empty trace file under its final name; an existing file becomes NAME.old and replaces
 * an older NAME.old.
 */
#ifndef SKEIN_TRACE_CREATE_H
#define SKEIN_TRACE_CREATE_H

#include <stdbool.h>

#include "base/error.h"

struct new_file {
	char *path; /* absolute, with the symlinks of the directory resolved; owned */
	bool replaced; /* NAME.old was made by create_trace_file() */
};

/*
 * Create the file with mode 0600; with sudo, it belongs to the user who ran sudo. If the name
 * belongs to a symlink, another file that is not regular, or a trace that a recorder is writing,
 * fail and leave that file as it is.
 */
int create_trace_file(struct new_file *out, const char *path, struct error *err);

/*
 * Set *out to the resolved directory of path with the last component appended, which the caller
 * frees. Return 0 or a negative errno.
 */
int resolve_trace_path(char **out, const char *path, struct error *err);

/*
 * Return the error with which create_trace_file() would refuse the file that has the name, else 0.
 * Changes nothing, so errors of creating a file are not noticed.
 */
int check_trace_name(const char *path, struct error *err);

/*
 * Rename the complete trace made, to which no process writes any more, to its final name path; an
 * existing file of that name becomes NAME.old, as with create_trace_file().
 */
int publish_trace_file(const char *made, const char *path, struct error *err);

/*
 * Undo create_trace_file(): remove the file and its journal, and rename NAME.old back to NAME if
 * create_trace_file() made NAME.old.
 */
void undo_trace_file(struct new_file *f);
void free_trace_file(struct new_file *f);

#endif
