// SPDX-License-Identifier: Apache-2.0
/*
 * Open a trace that may be hostile. If a killed recorder of the same user left a journal, SQLite
 * first opens the file for writing and rolls it back. Then the first 100 bytes are checked, and
 * SQLite opens the file read-only, with every feature switched off that a hostile file could use
 * against its reader: https://sqlite.org/security.html
 */
#include "trace/open.h"
#include "trace/fd_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/schema.h"
#include "trace/trace_lanes.h"

/*
 * Source of the layouts: https://sqlite.org/fileformat2.html, sections 1.3 (header) and 3
 * (journal).
 */
#define HEADER_SIZE 100
#define HEADER_MAGIC "SQLite format 3" /* the text with its NUL */
#define JOURNAL_MAGIC "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
#define JOURNAL_MAGIC_SIZE 8

struct trace_header {
	uint64_t page_size, pages, size; /* pages 0: unknown */
	uint32_t application_id, version;
};

static uint32_t big32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int read_trace_header(int fd, struct trace_header *out, const char *path, struct error *err)
{
	uint8_t bytes[HEADER_SIZE];
	struct stat st;
	ssize_t got;

	if (fstat(fd, &st) < 0)
		return error_errno(err, -errno, "cannot read %s", path);
	if (!st.st_size)
		return error_set(err, -EBADMSG, "%s is empty", path);
	got = pread(fd, bytes, sizeof(bytes), 0);
	if (got < 0)
		return error_errno(err, -errno, "cannot read %s", path);
	if (got < HEADER_SIZE || memcmp(bytes, HEADER_MAGIC, sizeof(HEADER_MAGIC)))
		return error_set(err, -EBADMSG, "%s is not a skein trace", path);
	*out = (struct trace_header){
		.page_size = (uint64_t)bytes[16] << 8 | bytes[17],
		.pages = big32(bytes + 24) == big32(bytes + 92) ? big32(bytes + 28) : 0,
		.size = (uint64_t)st.st_size,
		.application_id = big32(bytes + 68),
		.version = big32(bytes + 60),
	};
	if (out->page_size == 1)
		out->page_size = 65536;
	return 0;
}

static int check_trace_header(int fd, struct trace *t, const char *path, struct error *err)
{
	struct trace_header h = {0};
	int ret = read_trace_header(fd, &h, path, err);

	if (ret < 0)
		return ret;
	if (h.application_id != SCHEMA_APPLICATION_ID || !h.version)
		return error_set(err, -EBADMSG, "%s is not a skein trace, but another database",
				 path);
	if (h.version > SCHEMA_VERSION)
		return error_set(err, -EPROTONOSUPPORT,
				 "%s was written by a newer skein (schema %u, this one reads %u)",
				 path, h.version, SCHEMA_VERSION);
	t->truncated = h.pages * h.page_size > h.size;
	t->size = h.size;
	return 0;
}

/*
 * Open a file, and close it again unless it is regular: no FIFO may block the reader, and no device
 * is read. Return a descriptor or a negative errno.
 */
static int open_regular_trace(const char *path, struct error *err)
{
	struct stat st;
	int fd, ret = 0;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_errno(err, -errno, "cannot open %s", path);
	if (fstat(fd, &st) < 0)
		ret = error_errno(err, -errno, "cannot open %s", path);
	else if (S_ISDIR(st.st_mode))
		ret = error_errno(err, -EISDIR, "cannot open %s", path);
	else if (!S_ISREG(st.st_mode))
		ret = error_set(err, -EINVAL, "%s is not a regular file", path);
	if (ret < 0)
		close(fd);
	return ret < 0 ? ret : fd;
}

static bool owned_by_user(const struct stat *st)
{
	const char *sudo = getenv("SUDO_UID");

	return st->st_uid == geteuid() ||
	       (!geteuid() && sudo && st->st_uid == (uid_t)strtoul(sudo, NULL, 10));
}

/*
 * Check that a journal may be played back: the user (with sudo, also the user who ran sudo) must
 * own the journal and the trace, and the journal must not end with the name of a "super-journal",
 * which SQLite would read and delete. skein never writes a super-journal.
 */
static int check_journal(int fd, int journal, const char *path, struct error *err)
{
	uint8_t tail[JOURNAL_MAGIC_SIZE];
	struct stat st, journal_st;

	if (fstat(fd, &st) < 0 || fstat(journal, &journal_st) < 0)
		return error_errno(err, -errno, "cannot read %s", path);
	if (!owned_by_user(&st) || !owned_by_user(&journal_st))
		return error_set(err, -EPERM,
				 "%s was left by a killed recorder: its owner must open it first",
				 path);
	if (journal_st.st_size < JOURNAL_MAGIC_SIZE)
		return 0;
	if (pread(journal, tail, sizeof(tail), journal_st.st_size - JOURNAL_MAGIC_SIZE) !=
	    sizeof(tail))
		return error_set(err, -EIO, "cannot read %s-journal", path);
	if (!memcmp(tail, JOURNAL_MAGIC, sizeof(tail)))
		return error_set(err, -EBADMSG, "%s-journal was not written by skein", path);
	return 0;
}

static int explain_trace_open(sqlite3 *db, int rc, const char *path, struct error *err)
{
	int ret = sql_errno(db, rc);

	switch (ret) {
	case -EBUSY:
		return error_set(err, ret,
				 "%s is being recorded: read it when the recording has ended",
				 path);
	case -EROFS:
		return error_set(err, ret,
				 "%s was left by a killed recorder and must be writable once, "
				 "to be rolled back",
				 path);
	case -EBADMSG:
		return error_set(err, ret, "%s is damaged: its list of tables cannot be read",
				 path);
	default:
		return error_set(err, ret, "cannot open %s: %s", path,
				 db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
	}
}

/*
 * Read the schema. This takes SQLite's lock and, on a writable connection, rolls back the
 * transaction of a killed recorder.
 */
static int read_trace_schema(sqlite3 *db, const char *path, struct error *err)
{
	int ret = sqlite3_exec(db, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL);

	return ret == SQLITE_OK ? 0 : explain_trace_open(db, ret, path, err);
}

static int roll_back_journal(const char *real, const char *path, struct error *err)
{
	sqlite3 *db = NULL;
	int rc, ret;

	rc = sqlite3_open_v2(real, &db,
			     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
			     NULL);
	if (rc == SQLITE_OK)
		sqlite3_extended_result_codes(db, 1);
	ret = rc == SQLITE_OK ? read_trace_schema(db, path, err)
			      : explain_trace_open(db, rc, path, err);
	sqlite3_close(db);
	/*
	 * -EBADMSG means that the schema is damaged, but the file has been rolled back
	 * nevertheless.
	 */
	return ret == -EBADMSG ? 0 : ret;
}

/*
 * Roll back the last transaction if there is a journal and it does not start with a zero byte: a
 * commit zeroes the start of the journal.
 */
static int roll_back(int fd, const char *real, const char *path, struct error *err)
{
	char name[PATH_MAX], first = 0;
	int journal, ret = 0;

	if (snprintf(name, sizeof(name), "%s-journal", real) >= (int)sizeof(name))
		return error_errno(err, -ENAMETOOLONG, "cannot open %s", path);
	journal = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (journal < 0)
		return errno == ENOENT ? 0 : error_errno(err, -errno, "cannot open %s", name);
	if (pread(journal, &first, 1, 0) == 1 && first) {
		ret = check_journal(fd, journal, path, err);
		if (ret == 0)
			ret = roll_back_journal(real, path, err);
	}
	close(journal);
	return ret;
}

/*
 * Authorizer: allow SQL to read only. SQLite also calls this for the parts of a hostile schema
 * (views) that skein's own statements use.
 */
static int authorize(void *context, int action, const char *first, const char *second,
		     const char *database, const char *trigger)
{
	(void)context;
	(void)first;
	(void)database;
	(void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return sqlite3_stricmp(second, "load_extension") &&
				       sqlite3_stricmp(second, "fts3_tokenizer")
			       ? SQLITE_OK
			       : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

static void restrict_connection(struct trace *t)
{
	static const char *keep[] = {"json_each", "json_tree", NULL};
	static const struct {
		int limit, value;
	} limits[] = {
		{SQLITE_LIMIT_LENGTH, 64 << 20}, {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
		{SQLITE_LIMIT_COLUMN, 256},	 {SQLITE_LIMIT_EXPR_DEPTH, 200},
		{SQLITE_LIMIT_ATTACHED, 0},	 {SQLITE_LIMIT_COMPOUND_SELECT, 64},
		{SQLITE_LIMIT_TRIGGER_DEPTH, 1}, {SQLITE_LIMIT_WORKER_THREADS, 0},
		{SQLITE_LIMIT_VDBE_OP, 1 << 20},
	};

	sqlite3_extended_result_codes(t->db, 1);
	sqlite3_db_config(t->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(t->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(t->db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
	sqlite3_db_config(t->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(t->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	/*
	 * SQLite refuses a file that is shorter than its header states, unless its schema is
	 * declared writable, which the defensive mode forbids. Nothing can be written through a
	 * read-only connection either way.
	 */
	sqlite3_db_config(t->db, SQLITE_DBCONFIG_DEFENSIVE, !t->truncated, NULL);
	sqlite3_db_config(t->db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, t->truncated, NULL);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(t->db, limits[i].limit, limits[i].value);
	/*
	 * Remove the modules that skein does not use, so that a foreign file has no virtual tables
	 * of them.
	 */
	sqlite3_drop_modules(t->db, keep);
}

static bool is_skein_table(const char *name, enum storage *storage)
{
	*storage = STORAGE_TABLE;
	for (int k = 0; k < KIND_COUNT; k++) {
		if (sqlite3_stricmp(name, kinds[k].name))
			continue;
		*storage = kinds[k].storage;
		return true;
	}
	for (const struct blob_table *t = blob_tables; t->name; t++)
		if (!sqlite3_stricmp(name, t->name))
			return true;
	return false;
}

/*
 * Check the schema: the names of the kinds that are tables, and of the tables with BLOBs, must
 * belong to plain tables; those of derived kinds to views; those of streams to nothing.
 */
static int check_schema(struct trace *t, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc, ret, found = 0;
	enum storage storage;

	ret = sql_prepare(t->db, &stmt,
			  "SELECT name, CASE WHEN type = 'view' THEN ?2"
			  " WHEN type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' THEN ?1 END"
			  " FROM sqlite_schema",
			  err);
	sqlite3_bind_int(stmt, 1, STORAGE_TABLE);
	sqlite3_bind_int(stmt, 2, STORAGE_DERIVED);
	while (ret == 0 && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(stmt, 0);

		if (!name || !is_skein_table(name, &storage))
			continue;
		found += storage == STORAGE_TABLE;
		if (sqlite3_column_type(stmt, 1) == SQLITE_NULL ||
		    sqlite3_column_int(stmt, 1) != (int)storage)
			ret = error_set(err, -EBADMSG,
					"%s is no skein trace: its '%.20s' is not a table of skein",
					t->path, name);
	}
	if (ret == 0 && rc != SQLITE_DONE)
		ret = explain_trace_open(t->db, rc, t->path, err);
	if (ret == 0 && !found)
		ret = error_set(err, -EBADMSG, "%s has no tables of skein", t->path);
	sqlite3_finalize(stmt);
	return ret;
}

/* Refuse computed columns, because they can yield gigabytes from a small file. */
static int check_columns(struct trace *t, const char *table, struct error *err)
{
	char *sql = sqlite3_mprintf("PRAGMA main.table_xinfo(\"%w\")", table);
	sqlite3_stmt *stmt = NULL;
	int rc = SQLITE_DONE, ret = sql_prepare(t->db, &stmt, sql, err);

	sqlite3_free(sql);
	while (ret == 0 && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		if (sqlite3_column_int(stmt, 6)) /* "hidden" */
			ret = error_set(err, -EBADMSG,
					"%s is no skein trace: its table '%.20s' has a column "
					"that is computed",
					t->path, table);
	if (ret == 0 && rc != SQLITE_DONE)
		ret = explain_trace_open(t->db, rc, t->path, err);
	sqlite3_finalize(stmt);
	return ret;
}

/* Check all tables, since a query may read any of them. */
static int check_tables(struct trace *t, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc = SQLITE_DONE;
	int ret = sql_prepare(t->db, &stmt,
			      "SELECT name FROM sqlite_schema WHERE type = 'table'"
			      " AND name IS NOT NULL AND sql NOT LIKE 'CREATE VIRTUAL%'",
			      err);

	while (ret == 0 && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		ret = check_columns(t, (const char *)sqlite3_column_text(stmt, 0), err);
	if (ret == 0 && rc != SQLITE_DONE)
		ret = explain_trace_open(t->db, rc, t->path, err);
	sqlite3_finalize(stmt);
	return ret;
}

/*
 * Prepare a statement on each stream before the authorizer is set: a virtual table is declared when
 * it is first used, and the authorizer does not allow this.
 */
static int connect_streams(struct trace *t, struct error *err)
{
	sqlite3_stmt *stmt;
	int ret = 0;

	for (int k = 0; ret == 0 && k < KIND_COUNT; k++) {
		char *sql;

		if (kinds[k].storage != STORAGE_STREAM)
			continue;
		sql = sqlite3_mprintf("SELECT 1 FROM \"%w\"", kinds[k].name);
		ret = sql_prepare(t->db, &stmt, sql, err);
		sqlite3_free(sql);
		if (ret == 0)
			sqlite3_finalize(stmt);
	}
	return ret;
}

/*
 * Limits on the steps of statements. The progress handler is called every STEPS_EACH steps; when it
 * returns 1, the statement ends.
 */
#define STEPS_EACH 1000
#define STEPS_LEAST 10000000ULL
#define STEPS_PER_BYTE 100

static int count_steps(void *context)
{
	struct trace *t = context;

	if (!t->steps)
		return 0;
	if (t->steps > STEPS_EACH)
		t->steps -= STEPS_EACH;
	return t->steps <= STEPS_EACH;
}

void trace_limit_steps(struct trace *t, bool bounded)
{
	t->steps = bounded && t->size ? STEPS_LEAST + STEPS_PER_BYTE * t->size : 0;
}

/* Minimum bytes of a row in a table of SQLite, which makes no cell of a page smaller. */
#define ROW_BYTES 4

uint64_t trace_rows_max(const struct trace *t)
{
	return t->size ? t->size / ROW_BYTES : UINT64_MAX;
}

uint64_t trace_text_max(const struct trace *t)
{
	return t->size ? t->size : UINT64_MAX;
}

#define STACKS_LEAST (1 << 20)
#define STACKS_PER_BYTE 4

uint64_t trace_stacks_max(const struct trace *t)
{
	return t->size ? STACKS_LEAST + STACKS_PER_BYTE * t->size : UINT64_MAX;
}

/* vfs: the name of one of SQLite's file systems; NULL: that of paths. */
static int open_trace_database(struct trace *t, const char *real, const char *vfs,
			       struct error *err)
{
	int rc, ret;

	rc = sqlite3_open_v2(
		real, &t->db,
		SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | (vfs ? 0 : SQLITE_OPEN_NOFOLLOW), vfs);
	if (rc != SQLITE_OK)
		return explain_trace_open(t->db, rc, t->path, err);
	restrict_connection(t);
	sqlite3_progress_handler(t->db, STEPS_EACH, count_steps, t);
	trace_limit_steps(t, true);
	ret = sql_exec(t->db, "PRAGMA cell_size_check=ON;PRAGMA mmap_size=0;", err);
	if (ret == 0)
		ret = read_trace_schema(t->db, t->path, err);
	if (ret == 0)
		ret = check_schema(t, err);
	if (ret == 0)
		ret = check_tables(t, err);
	if (ret < 0)
		return ret;
	rc = stream_tables_register(t->db, &t->damage);
	if (rc != SQLITE_OK)
		return sql_fail(t->db, rc, err, t->path);
	ret = connect_streams(t, err);
	sqlite3_set_authorizer(t->db, authorize, NULL);
	return ret;
}

int trace_open(struct trace **out, const char *path, struct error *err)
{
	struct trace *t = calloc(1, sizeof(*t));
	char *real = NULL;
	int fd = -1, ret = -ENOMEM;

	if (!t || !(t->path = strdup(path))) {
		error_set(err, ret, "out of memory");
		goto end;
	}
	ret = fd = open_regular_trace(path, err);
	if (ret < 0)
		goto end;
	real = realpath(path, NULL);
	ret = real ? roll_back(fd, real, path, err)
		   : error_errno(err, -errno, "cannot open %s", path);
	if (ret == 0)
		ret = check_trace_header(fd, t, path, err);
	/*
	 * Close before SQLite opens the file: closing any descriptor of a file drops the process's
	 * POSIX locks on that file.
	 */
	close(fd);
	if (ret == 0)
		ret = open_trace_database(t, real, NULL, err);
end:
	free(real);
	if (ret < 0)
		trace_close(t);
	else
		*out = t;
	return ret < 0 ? ret : 0;
}

int trace_open_fd(struct trace **out, int fd, const char *name, struct error *err)
{
	struct trace *t = calloc(1, sizeof(*t));
	char file[32];
	int ret = -ENOMEM;

	if (!t || !(t->path = strdup(name)))
		error_set(err, ret, "out of memory");
	else if (fd_vfs_register() != SQLITE_OK)
		ret = error_set(err, -EIO, "cannot open %s: SQLite", name);
	else
		ret = check_trace_header(fd, t, name, err);
	if (!ret) {
		fd_vfs_name(file, sizeof(file), fd);
		ret = open_trace_database(t, file, FD_VFS_NAME, err);
	}
	if (ret < 0)
		trace_close(t);
	else
		*out = t;
	return ret;
}

/*
 * Return whether the file has a table, or a column of the table. Rows can be found by "id" only if
 * SQLite takes this column for the number of the row, which it does for columns declared INTEGER
 * and no others: after one flipped bit in the declaration, every id would read as NULL.
 */
bool trace_has(const struct trace *t, const char *table, const char *column)
{
	const char *type = NULL;

	if (sqlite3_table_column_metadata(t->db, "main", table, column, &type, NULL, NULL, NULL,
					  NULL) != SQLITE_OK)
		return false;
	return !column || strcmp(column, "id") || (type && !sqlite3_stricmp(type, "INTEGER"));
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	sqlite3_close(t->db);
	trace_lanes_free(t->trace_lanes);
	free(t->path);
	free(t);
}
