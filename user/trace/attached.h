/* SPDX-License-Identifier: Apache-2.0 */
/* Find the trace that a query reads, on a connection with several attached databases. */
#ifndef SKEIN_TRACE_ATTACHED_H
#define SKEIN_TRACE_ATTACHED_H

#include <sqlite3.h>

/*
 * Find the trace attached as name ("main", or the name given to ATTACH). If name is NULL, find the
 * only attached trace, or "main" if there is none; several are an error. Return SQLITE_OK with the
 * database's name in *out, which is valid until that database is detached; or SQLITE_ERROR with the
 * cause in *message, which the caller frees with sqlite3_free().
 */
int attached_trace(sqlite3 *db, const char *name, const char **out, char **message);

#endif
