// SPDX-License-Identifier: Apache-2.0
/*
 * Put names into a copy of a trace. The copy is made page by page, so that everything else stays as
 * it is. The trace may be hostile, and the copy has its schema: SQLite runs none of its triggers
 * and views, and no function that is not harmless.
 */
#include "trace/late_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/copy.h"
#include "trace/open.h"
#include "trace/sql.h"

/* Native frames of files, by file and address; the last column says whether one has a name. */
static const char nameless_sql[] =
	"SELECT frame.id, frame.mapping, frame.address, mapping.path, mapping.build_id,"
	" coalesce((SELECT name FROM function WHERE function.id = frame.function), '') <> ''"
	" FROM frame JOIN mapping ON mapping.id = frame.mapping"
	" WHERE frame.kind = ?1 AND mapping.kind = ?2 ORDER BY frame.mapping, frame.address";

static char *copied_column(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return strdup(text ? text : "");
}

static struct nameless_module *nameless_module_of(struct nameless *n, sqlite3_stmt *row)
{
	uint64_t mapping = (uint64_t)sqlite3_column_int64(row, 1);
	struct nameless_module m = {.mapping = mapping};
	struct nameless_module *last =
		n->modules.count ? &n->modules.items[n->modules.count - 1] : NULL;

	if (last && last->mapping == mapping)
		return last;
	m.path = copied_column(row, 3);
	m.build_id = copied_column(row, 4);
	if (!m.path || !m.build_id || vector_push(&n->modules, m) < 0) {
		free(m.path);
		free(m.build_id);
		return NULL;
	}
	return &n->modules.items[n->modules.count - 1];
}

static int take_frame_row(struct nameless *n, sqlite3_stmt *row)
{
	uint64_t id = (uint64_t)sqlite3_column_int64(row, 0);
	uint64_t address = (uint64_t)sqlite3_column_int64(row, 2);
	struct nameless_module *m;

	n->native++;
	if (sqlite3_column_int(row, 5))
		return 0;
	m = nameless_module_of(n, row);
	if (!m || vector_reserve(&m->frames, 1) < 0 || vector_reserve(&m->addresses, 1) < 0)
		return -ENOMEM;
	m->frames.items[m->frames.count++] = id;
	m->addresses.items[m->addresses.count++] = address;
	n->frames++;
	return 0;
}

int nameless_find(struct nameless *out, struct trace *t, struct error *err)
{
	uint64_t rows = trace_rows_max(t);
	struct nameless n = {0};
	sqlite3_stmt *row = NULL;
	int rc = SQLITE_DONE, ret;

	trace_limit_steps(t, true);
	ret = sql_prepare(t->db, &row, nameless_sql, err);
	if (!ret) {
		sqlite3_bind_int(row, 1, FRAME_NATIVE);
		sqlite3_bind_int(row, 2, MAPPING_FILE);
	}
	while (!ret && n.native < rows && (rc = sqlite3_step(row)) == SQLITE_ROW) {
		ret = take_frame_row(&n, row);
		if (ret < 0)
			error_errno(err, ret, "%s", t->path);
	}
	if (!ret && rc != SQLITE_DONE)
		ret = sql_fail(t->db, rc, err, t->path);
	sqlite3_finalize(row);
	trace_limit_steps(t, false);
	if (ret < 0)
		nameless_free(&n);
	else
		*out = n;
	return ret;
}

void nameless_free(struct nameless *n)
{
	for (size_t i = 0; i < n->modules.count; i++) {
		struct nameless_module *m = &n->modules.items[i];

		free(m->path);
		free(m->build_id);
		vector_free(&m->frames);
		vector_free(&m->addresses);
	}
	vector_free(&n->modules);
	*n = (struct nameless){0};
}

static bool is_same_function(const struct function *a, const struct function *b)
{
	return a->mapping == b->mapping && a->address == b->address && !strcmp(a->name, b->name) &&
	       !strcmp(a->system_name, b->system_name);
}

int late_names_add_function(struct late_names *n, const struct function *f, uint64_t *out)
{
	size_t count = n->functions.count;
	struct function own = *f;

	if (!count || !is_same_function(&n->functions.items[count - 1], f)) {
		own.name = strdup(f->name);
		own.system_name = strdup(f->system_name);
		own.id = count + 1;
		if (!own.name || !own.system_name || vector_push(&n->functions, own) < 0) {
			free((char *)own.name);
			free((char *)own.system_name);
			return -ENOMEM;
		}
	}
	*out = n->functions.count;
	return 0;
}

void late_names_free(struct late_names *n)
{
	for (size_t i = 0; i < n->functions.count; i++) {
		free((char *)n->functions.items[i].name);
		free((char *)n->functions.items[i].system_name);
	}
	vector_free(&n->functions);
	vector_free(&n->frames);
}

/* Keep the schema of the copy, which is that of a hostile file, from doing anything by itself. */
static void restrict_names(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
}

static int step_once(sqlite3 *db, sqlite3_stmt *stmt, struct error *err)
{
	int rc = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? 0 : sql_fail(db, rc, err, "cannot write the names");
}

/* before: the largest function.id of the trace; ids of n's functions are counted from there. */
static int write_functions(sqlite3 *db, const struct late_names *n, uint64_t before,
			   struct error *err)
{
	sqlite3_stmt *put = NULL;
	int ret = sql_prepare(db, &put,
			      "INSERT INTO function (id, mapping, name, system_name, file, line,"
			      " address) VALUES (?1, ?2, ?3, ?4, '', 0, ?5)",
			      err);

	for (size_t i = 0; !ret && i < n->functions.count; i++) {
		const struct function *f = &n->functions.items[i];

		sqlite3_bind_int64(put, 1, (sqlite3_int64)(before + f->id));
		sqlite3_bind_int64(put, 2, (sqlite3_int64)f->mapping);
		sqlite3_bind_text(put, 3, f->name, -1, SQLITE_STATIC);
		sqlite3_bind_text(put, 4, f->system_name, -1, SQLITE_STATIC);
		sqlite3_bind_int64(put, 5, (sqlite3_int64)f->address);
		ret = step_once(db, put, err);
	}
	sqlite3_finalize(put);
	return ret;
}

static int write_frames(sqlite3 *db, const struct late_names *n, uint64_t before, struct error *err)
{
	sqlite3_stmt *put = NULL;
	int ret = sql_prepare(db, &put,
			      "UPDATE frame SET function = ?2, flags = (flags | ?3) & ~?4"
			      " WHERE id = ?1",
			      err);

	for (size_t i = 0; !ret && i < n->frames.count; i++) {
		const struct frame *f = &n->frames.items[i];

		sqlite3_bind_int64(put, 1, (sqlite3_int64)f->id);
		sqlite3_bind_int64(put, 2, (sqlite3_int64)(before + f->function));
		sqlite3_bind_int64(put, 3, (sqlite3_int64)f->flags);
		sqlite3_bind_int64(put, 4, FRAME_FLAG_UNREADY);
		ret = step_once(db, put, err);
	}
	sqlite3_finalize(put);
	return ret;
}

static int write_names(sqlite3 *db, const struct late_names *n, struct error *err)
{
	sqlite3_int64 before = 0;
	int ret;

	restrict_names(db);
	ret = sql_exec(db, "BEGIN", err);
	if (!ret)
		ret = sql_int(db, "SELECT coalesce(max(id), 0) FROM function", &before, err);
	if (!ret && (before < 0 || before > INT64_MAX - (sqlite3_int64)n->functions.count))
		ret = error_set(err, -EBADMSG, "the ids of its functions are out of range");
	if (!ret)
		ret = write_functions(db, n, (uint64_t)before, err);
	if (!ret)
		ret = write_frames(db, n, (uint64_t)before, err);
	return ret ? ret : sql_exec(db, "COMMIT", err);
}

int late_names_write(const struct late_names *n, struct trace *t, const char *path,
		     struct error *err)
{
	sqlite3 *copy = NULL;
	int rc, ret = copy_trace_pages(t->db, path, &copy, err);

	if (ret < 0)
		return ret;
	ret = write_names(copy, n, err);
	rc = sqlite3_close(copy);
	if (!ret && rc != SQLITE_OK)
		ret = sql_fail(NULL, rc, err, path);
	if (ret < 0)
		unlink(path);
	return ret;
}
