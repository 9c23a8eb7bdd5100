/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of a trace that is being written. */
#ifndef SKEIN_TRACE_COPY_H
#define SKEIN_TRACE_COPY_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"

/*
 * What db has committed, as a trace of its own that ended at now (ns). The file must not exist; it
 * gets mode 0600 and the invoking user. Nothing is left of it on failure.
 */
int copy_trace(sqlite3 *db, const char *path, uint64_t now, struct error *err);

#endif
