/* SPDX-License-Identifier: Apache-2.0 */
/* Copy a trace, also one that is being written. */
#ifndef SKEIN_TRACE_COPY_H
#define SKEIN_TRACE_COPY_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/held_samples.h"

/*
 * Copy everything that db has committed to a new file at path, which must not exist; it gets mode
 * 0600 and, with sudo, belongs to the user who ran sudo. *out becomes a connection that may write
 * to the copy; the caller closes it. Return 0 or a negative errno; on failure no new file is left.
 */
int copy_trace_pages(sqlite3 *db, const char *path, sqlite3 **out, struct error *err);

/*
 * A trace whose writer is frozen (trace_writer_freeze()), so that its file can be copied as it is,
 * also by another thread. Nothing of its writer may be used for that but this.
 */
struct frozen_trace {
	const char *path; /* of the file, which the writer owns */
	struct held_samples held; /* for the copy alone */
	bool copied; /* atomic: the file was read, and the writer may be thawed */
};

/*
 * Copy the file to a new trace at path, and write the samples held into it; a host without an end
 * gets their end. The file must not exist; it gets mode 0600 and, with sudo, belongs to the user
 * who ran sudo. Return 0 or a negative errno; on failure no new file is left. In any case
 * frozen_trace.copied is true then.
 */
int frozen_trace_copy(struct frozen_trace *f, const char *path, struct error *err);
void frozen_trace_free(struct frozen_trace *f);

#endif
