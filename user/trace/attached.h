/* SPDX-License-Identifier: Apache-2.0 */
/* Which database of a connection is meant, where several may be attached. */
#ifndef SKEIN_TRACE_ATTACHED_H
#define SKEIN_TRACE_ATTACHED_H

#include <sqlite3.h>

/*
 * The name (main, or that of ATTACH) of the trace that is asked for, or of the
 * only one there is if name is NULL: a table without a trace to it could be of
 * each of several. SQLITE_OK and *ret, which lasts until that database is
 * detached; or SQLITE_ERROR and a *message for sqlite3_free().
 */
int attached_trace(sqlite3 *db, const char *name, const char **ret, char **message);

#endif
