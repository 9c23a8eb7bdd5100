/* SPDX-License-Identifier: Apache-2.0 */
/* A new, empty trace file under its final name; what was there becomes NAME.old. */
#ifndef SKEIN_TRACE_CREATE_H
#define SKEIN_TRACE_CREATE_H

#include <stdbool.h>

#include "base/error.h"

struct new_file {
	char *path;    /* absolute, of a directory without symlinks; owned */
	bool replaced; /* there is a NAME.old of ours */
};

/*
 * Mode 0600, owned by the invoking user. Refused: symlinks, everything that
 * is no regular file, and a trace that another recording is writing.
 */
int create_trace_file(struct new_file *ret, const char *path, struct error *err);

/* Whether create_trace_file() would refuse the name. Nothing changes. */
int check_trace_name(const char *path, struct error *err);

/* Give a whole trace, which nobody writes, its final name; what had it becomes NAME.old. */
int publish_trace_file(const char *made, const char *path, struct error *err);

/* Take it back: the file and its journal are removed, NAME.old gets its name again. */
void undo_trace_file(struct new_file *f);
void free_trace_file(struct new_file *f);

#endif
