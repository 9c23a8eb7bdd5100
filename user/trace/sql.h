/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's result codes and calls in the terms of this project: negative errnos, struct error. */
#ifndef SKEIN_TRACE_SQL_H
#define SKEIN_TRACE_SQL_H

#include <sqlite3.h>

#include "base/error.h"

/* SQLITE_FULL is -ENOSPC, damage is -EBADMSG; an I/O error keeps the errno that caused it. */
int sql_errno(sqlite3 *db, int rc);

/* Say "what: SQLite's message" and return sql_errno(). */
int sql_fail(sqlite3 *db, int rc, struct error *err, const char *what);

/* True if rc tells of damage in the file, as opposed to a failure of this machine. */
int sql_is_damage(int rc);

/* Run statements without rows. */
int sql_exec(sqlite3 *db, const char *sql, struct error *err);

/* The statement must be finalized by the caller.*/
int sql_prepare(sqlite3 *db, sqlite3_stmt **ret, const char *sql, struct error *err);

/* The one integer that sql yields. */
int sql_int(sqlite3 *db, const char *sql, sqlite3_int64 *ret, struct error *err);

#endif
