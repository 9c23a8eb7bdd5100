/* SPDX-License-Identifier: Apache-2.0 */
/* Copy a trace, also one that is being written. */
#ifndef SKEIN_TRACE_COPY_H
#define SKEIN_TRACE_COPY_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/held_samples.h"

/* Return NAME-MARK.skein for NAME.skein, which the caller frees; NULL: no memory. */
char *copy_trace_name(const char *path, const char *mark);

/*
 * Copy everything that db has committed to a new file at path, which must not exist; it gets mode
 * 0600 and, with sudo, belongs to the user who ran sudo. *out becomes a connection that may write
 * to the copy; the caller closes it. Return 0 or a negative errno; on failure no new file is left.
 */
int copy_trace_pages(sqlite3 *db, const char *path, sqlite3 **out, struct error *err);

/*
 * Copy everything that db has committed to a new trace at path, and write the samples held into it;
 * a host without an end gets their end. The file must not exist; it gets mode 0600 and, with sudo,
 * belongs to the user who ran sudo. Return 0 or a negative errno; on failure no new file is left.
 */
int copy_trace(sqlite3 *db, const char *path, const struct held_samples *held, struct error *err);

#endif
