/* SPDX-License-Identifier: Apache-2.0 */
/* Map SQLite's result codes and calls to negative errno values and struct error. */
#ifndef SKEIN_TRACE_SQL_H
#define SKEIN_TRACE_SQL_H

#include <sqlite3.h>

#include "base/error.h"

/*
 * Return the negative errno for rc, or 0 if rc is no error. SQLITE_FULL is -ENOSPC, damage is
 * -EBADMSG; an I/O error keeps the errno that caused it, or is -EIO. db may be NULL.
 */
int sql_errno(sqlite3 *db, int rc);

/* Set err to "what: SQLite's message" and return sql_errno(). db may be NULL. */
int sql_fail(sqlite3 *db, int rc, struct error *err, const char *what);

/*
 * Return whether rc means damage in the file, as opposed to a failure of this machine. A statement
 * that was stopped by the limit of trace_limit_steps() counts as damage.
 */
int sql_is_damage(int rc);

/* Run statements, and ignore their rows. Return 0 or a negative errno. */
int sql_exec(sqlite3 *db, const char *sql, struct error *err);

/*
 * Prepare a statement, which the caller must finalize. Return 0 or a negative errno; -ENOMEM if sql
 * is NULL.
 */
int sql_prepare(sqlite3 *db, sqlite3_stmt **out, const char *sql, struct error *err);

/*
 * Run a query, and set *out to the first column of its first row. Return 0 or a negative errno;
 * -ENODATA if there is no row.
 */
int sql_int(sqlite3 *db, const char *sql, sqlite3_int64 *out, struct error *err);

#endif
