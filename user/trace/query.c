// SPDX-License-Identifier: Apache-2.0
/* Run read-only SQL statements over a trace, one after the other. */
#include <errno.h>
#include <string.h>

#include "trace/open.h"
#include "trace/rows.h"

/* Set err to the cause why sql was refused, with the place of the mistake if SQLite knows it. */
static int explain_sql(struct trace *t, int rc, const char *sql, struct error *err)
{
	int offset = sqlite3_error_offset(t->db), ret = sql_errno(t->db, rc);

	if (ret == -EPERM)
		return error_set(err, ret, "a query can only read the trace: %s",
				 sqlite3_errmsg(t->db));
	if (ret == -EBADMSG)
		return error_set(err, ret, "%s is damaged: %s", t->path, sqlite3_errmsg(t->db));
	if (offset < 0 || (size_t)offset >= strlen(sql))
		return error_set(err, ret, "SQL: %s", sqlite3_errmsg(t->db));
	return error_set(err, ret, "SQL: %s, at: %.60s", sqlite3_errmsg(t->db), sql + offset);
}

static int run_statement(sqlite3_stmt *stmt, enum query_format format, FILE *out, struct error *err)
{
	if (!sqlite3_stmt_readonly(stmt))
		return error_set(err, -EPERM, "a query can only read the trace");
	if (!sqlite3_column_count(stmt))
		return error_set(err, -EINVAL, "SQL: the statement yields no rows");
	return rows_print(stmt, format, out, err);
}

/* Return an error if damaged chunks were left out, because the printed rows are incomplete then. */
static int check_damage(const struct trace *t, struct error *err)
{
	if (!t->damage.chunks)
		return 0;
	return error_set(err, -EBADMSG,
			 "%s is damaged: %llu records in %llu chunks could not be read and "
			 "are missing above",
			 t->path, (unsigned long long)t->damage.records,
			 (unsigned long long)t->damage.chunks);
}

int trace_query(struct trace *t, const char *sql, enum query_format format, FILE *out,
		struct error *err)
{
	sqlite3_stmt *stmt;
	const char *rest = sql, *at;
	int ret = 0, rc, statements = 0;

	/* No step limit: users may run long queries and interrupt them by Ctrl-C. */
	trace_limit_steps(t, false);
	t->damage = (struct stream_damage){.query = t->damage.query + 1};
	while (ret == 0 && *rest) {
		at = rest;
		rc = sqlite3_prepare_v2(t->db, at, -1, &stmt, &rest);
		if (rc != SQLITE_OK)
			return explain_sql(t, rc, at, err);
		if (!stmt)
			continue; /* white space or a comment */
		ret = run_statement(stmt, format, out, err);
		sqlite3_finalize(stmt);
		statements++;
	}
	if (ret == 0 && !statements)
		ret = error_set(err, -EINVAL, "SQL: there is no statement");
	return ret < 0 ? ret : check_damage(t, err);
}
