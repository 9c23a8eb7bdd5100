/* SPDX-License-Identifier: Apache-2.0 */
/* Copy a trace that is being written. */
#ifndef SKEIN_TRACE_COPY_H
#define SKEIN_TRACE_COPY_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Copy everything that db has committed to a separate trace that ended at now (ns). The file must
 * not exist; it gets mode 0600 and belongs to the invoking user. On failure no file is left.
 */
int copy_trace(sqlite3 *db, const char *path, uint64_t now, struct error *err);

#endif
