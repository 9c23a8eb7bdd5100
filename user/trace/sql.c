// SPDX-License-Identifier: Apache-2.0
/* Map SQLite's result codes and calls to negative errno values and struct error. */
#include "trace/sql.h"

#include <errno.h>
#include <stddef.h>

int sql_is_damage(int ret)
{
	switch (ret & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT:
	case SQLITE_TOOBIG:
	/*
	 * The progress handler of a trace ends a statement that takes more steps than a valid file
	 * can need.
	 */
	case SQLITE_INTERRUPT:
		return 1;
	case SQLITE_IOERR:
		return ret == SQLITE_IOERR_SHORT_READ || ret == SQLITE_IOERR_CORRUPTFS;
	default:
		return 0;
	}
}

/* Return the errno of the last failed call on the database file, else on its journal; 0: none. */
static int file_errno(sqlite3 *db)
{
	sqlite3_file *journal = NULL;
	int code = 0;

	sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &code);
	if (code <= 0 &&
	    sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal) == SQLITE_OK &&
	    journal && journal->pMethods)
		journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &code);
	return code;
}

/*
 * Return the negative errno of an I/O error, -EIO if the errno is not known. The errno of the file
 * is preferred: the connection's errno is that of its very last call, and a rollback has made
 * further calls since the failure.
 */
static int io_errno(sqlite3 *db, int rc)
{
	int code = 0;

	if (db && (rc & 0xff) == SQLITE_IOERR)
		code = file_errno(db);
	if (db && code <= 0)
		code = sqlite3_system_errno(db);
	return code > 0 ? -code : -EIO;
}

int sql_errno(sqlite3 *db, int ret)
{
	if (sql_is_damage(ret))
		return -EBADMSG;
	switch (ret & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EPERM;
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
		return io_errno(db, ret);
	default:
		return -EINVAL;
	}
}

int sql_fail(sqlite3 *db, int ret, struct error *err, const char *what)
{
	return error_set(err, sql_errno(db, ret), "%s: %s", what,
			 db ? sqlite3_errmsg(db) : sqlite3_errstr(ret));
}

int sql_exec(sqlite3 *db, const char *sql, struct error *err)
{
	int ret = sqlite3_exec(db, sql, NULL, NULL, NULL);

	return ret == SQLITE_OK ? 0 : sql_fail(db, ret, err, "SQLite");
}

int sql_prepare(sqlite3 *db, sqlite3_stmt **out, const char *sql, struct error *err)
{
	int ret;

	if (!sql)
		return error_set(err, -ENOMEM, "out of memory");
	ret = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
	return ret == SQLITE_OK ? 0 : sql_fail(db, ret, err, "SQLite");
}

int sql_int(sqlite3 *db, const char *sql, sqlite3_int64 *out, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int ret, rc;

	ret = sql_prepare(db, &stmt, sql, err);
	if (ret < 0)
		goto end;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(stmt, 0);
	else if (rc != SQLITE_DONE)
		ret = sql_fail(db, rc, err, "SQLite");
	else
		ret = error_set(err, -ENODATA, "no row");
end:
	sqlite3_finalize(stmt);
	return ret;
}
