/* SPDX-License-Identifier: Apache-2.0 */
/* Find the database that a query means, on a connection with several attached databases. */
#ifndef SKEIN_TRACE_ATTACHED_H
#define SKEIN_TRACE_ATTACHED_H

#include <sqlite3.h>

/*
 * Find the trace attached as name ("main", or the name given to ATTACH); if name is NULL, find the
 * only attached trace: with several, a table without a trace name is ambiguous. Return SQLITE_OK
 * and *out, which is valid until that database is detached; or SQLITE_ERROR and a *message for
 * sqlite3_free().
 */
int attached_trace(sqlite3 *db, const char *name, const char **out, char **message);

#endif
