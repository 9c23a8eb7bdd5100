// SPDX-License-Identifier: Apache-2.0
/*
 * Eponymous virtual tables over the chunks of a stream. Bounds on the first column (time, or the id
 * of stacks) select chunks through their index; only the columns that a query uses are decoded. A
 * condition on the id of a stack leads directly to its row. SQLite checks every condition again, so
 * bounds may be too wide. A hidden last column names the trace, for connections with several
 * traces.
 */
#include "trace/vtab.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/attached.h"
#include "trace/finder.h"

/*
 * Bits of idxNum: which constraints are in argv, in this order: the name of the trace, then bounds
 * on the first column. FIND_ROW: the id of a stack comes instead of bounds.
 */
enum { NAMED_TRACE = 1, BOUND_EQUAL = 2, BOUND_LOW = 4, BOUND_HIGH = 8, FIND_ROW = 16 };

/* estimated rows of a stream; SQLite only needs to know that there are many */
#define ROWS_UNKNOWN 1e7
#define FIND_ROW_COST 10

struct stream_module {
	sqlite3 *db;
	const struct kind *kind;
	struct stream_damage *damage;
};

/* A trace of the connection that queries of this table have read. */
struct used_trace {
	struct used_trace *next;
	struct finder *finder; /* finder of the trace's stacks; NULL until needed */
	char name[];
};

struct stream_table {
	sqlite3_vtab base;
	const struct stream_module *module;
	struct used_trace *used;
	size_t cursors; /* number of open cursors */
};

struct stream_cursor {
	sqlite3_vtab_cursor base;
	const struct used_trace *of; /* the trace that is read */
	sqlite3_stmt *chunks; /* reads the chunks within the bounds */
	struct codec codec;
	struct columns columns;
	uint64_t mask; /* mask of the columns in use */
	sqlite3_int64 chunk; /* chunk.id of the current chunk */
	uint32_t row; /* row number of the current record in columns */
	uint32_t row_base; /* row number in the chunk of the first record in columns */
	bool single; /* the cursor returns only one row (look-up by id) */
	bool end;
};

void stream_damage_add(struct stream_damage *d, sqlite3_int64 records)
{
	d->chunks++;
	d->records += records > 0 && records <= CODEC_RECORDS_MAX ? records : 1;
}

static int new_stream_table(const struct stream_module *m, sqlite3_vtab **out)
{
	struct stream_table *t = calloc(1, sizeof(*t));

	if (!t)
		return SQLITE_NOMEM;
	t->module = m;
	*out = &t->base;
	return SQLITE_OK;
}

static int stream_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			  sqlite3_vtab **out, char **message)
{
	const struct stream_module *m = aux;
	sqlite3_str *s = sqlite3_str_new(db);
	char *sql;
	int ret;

	(void)argc;
	(void)argv;
	(void)message;
	for (unsigned int i = 0; i < m->kind->field_count; i++)
		sqlite3_str_appendf(s, "%s\"%w\" INTEGER", i ? "," : "CREATE TABLE x(",
				    m->kind->fields[i].name);
	sqlite3_str_appendall(s, ",trace HIDDEN)");
	sql = sqlite3_str_finish(s);
	ret = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
	sqlite3_free(sql);
	if (ret != SQLITE_OK)
		return ret;
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	return new_stream_table(m, out);
}

static void free_used_traces(struct stream_table *t)
{
	struct used_trace *next;

	for (struct used_trace *m = t->used; m; m = next) {
		next = m->next;
		finder_free(m->finder);
		free(m);
	}
	t->used = NULL;
}

static int stream_disconnect(sqlite3_vtab *base)
{
	free_used_traces((struct stream_table *)base);
	free(base);
	return SQLITE_OK;
}

static int bound_bit(unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return BOUND_EQUAL;
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
		return BOUND_LOW;
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		return BOUND_HIGH;
	default:
		return 0;
	}
}

/*
 * If the query has a constraint for this bound, let SQLite pass its value to stream_filter() as the
 * next argument. The caller passes the bounds one by one in the order of their bits, in which
 * stream_filter() expects the arguments.
 */
static void take_bound(sqlite3_index_info *info, int bound, int *argv)
{
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];

		if (!c->usable || c->iColumn != 0 || bound_bit(c->op) != bound)
			continue;
		info->aConstraintUsage[i].argvIndex = ++*argv;
		info->idxNum |= bound;
		info->estimatedCost /= 16;
		info->estimatedRows /= 16;
		return;
	}
}

/*
 * If the query names a trace, let SQLite pass the name to stream_filter() as the next argument.
 * Return false if the name would not be known yet in this query plan, which rules the plan out.
 */
static bool take_trace(sqlite3_index_info *info, int column, int *argv)
{
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];

		if (c->iColumn != column || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (!c->usable)
			return false;
		info->aConstraintUsage[i].argvIndex = ++*argv;
		info->aConstraintUsage[i].omit = 1;
		info->idxNum |= NAMED_TRACE;
		break;
	}
	return true;
}

static void choose_find_row(sqlite3_index_info *info)
{
	info->idxNum = (info->idxNum & NAMED_TRACE) | FIND_ROW;
	info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	info->estimatedCost = FIND_ROW_COST;
	info->estimatedRows = 1;
}

static int stream_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct kind *kind = ((struct stream_table *)base)->module->kind;
	int argv = 0;

	info->estimatedCost = ROWS_UNKNOWN;
	info->estimatedRows = (sqlite3_int64)ROWS_UNKNOWN;
	if (!take_trace(info, (int)kind->field_count, &argv))
		return SQLITE_CONSTRAINT;
	take_bound(info, BOUND_EQUAL, &argv);
	if (kind == &kinds[KIND_STACK] && (info->idxNum & BOUND_EQUAL)) {
		choose_find_row(info);
		return SQLITE_OK;
	}
	take_bound(info, BOUND_LOW, &argv);
	take_bound(info, BOUND_HIGH, &argv);
	info->idxStr = sqlite3_mprintf("%llx", info->colUsed);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int stream_cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct stream_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	((struct stream_table *)base)->cursors++;
	*out = &c->base;
	return SQLITE_OK;
}

/*
 * Return whether queries have read a database other than "main": it may be detached, and another
 * one attached under the same name.
 */
static bool may_change(const struct stream_table *t)
{
	return t->used && (t->used->next || sqlite3_stricmp(t->used->name, "main"));
}

static int stream_cursor_close(sqlite3_vtab_cursor *base)
{
	struct stream_cursor *c = (struct stream_cursor *)base;
	struct stream_table *t = (struct stream_table *)base->pVtab;

	sqlite3_finalize(c->chunks);
	codec_free(&c->codec);
	columns_free(&c->columns);
	free(c);
	if (!--t->cursors && may_change(t))
		free_used_traces(t);
	return SQLITE_OK;
}

static struct stream_table *cursor_table(const struct stream_cursor *c)
{
	return (struct stream_table *)c->base.pVtab;
}

/*
 * Set the error message, which the user sees, and return ret. The table owns message, which
 * sqlite3_mprintf() made.
 */
static int fail_table(struct stream_table *t, int ret, char *message)
{
	sqlite3_free(t->base.zErrMsg);
	t->base.zErrMsg = message;
	return ret;
}

static int fail_damaged_table(struct stream_table *t)
{
	return fail_table(t, SQLITE_CORRUPT_VTAB,
			  sqlite3_mprintf("%s: a chunk of the trace is damaged; after "
					  "'SELECT skein_skip_damage(1)' such are left out",
					  t->module->kind->name));
}

static int find_used_trace(struct stream_table *t, const char *name, struct used_trace **out)
{
	size_t size = strlen(name) + 1;
	struct used_trace *m;

	for (m = t->used; m && sqlite3_stricmp(m->name, name); m = m->next)
		;
	if (!m) {
		m = calloc(1, sizeof(*m) + size);
		if (!m)
			return SQLITE_NOMEM;
		memcpy(m->name, name, size);
		m->next = t->used;
		t->used = m;
	}
	*out = m;
	return SQLITE_OK;
}

/* Find the trace that the query reads. name is NULL if the query names no trace. */
static int choose_cursor_trace(struct stream_cursor *c, sqlite3_value *name,
			       struct used_trace **out)
{
	struct stream_table *t = cursor_table(c);
	const char *wanted = name ? (const char *)sqlite3_value_text(name) : NULL, *found;
	char *message = NULL;
	int ret = attached_trace(t->module->db, name && !wanted ? "" : wanted, &found, &message);

	if (ret == SQLITE_OK)
		ret = find_used_trace(t, found, out);
	if (ret == SQLITE_OK && c->of != *out) {
		sqlite3_finalize(c->chunks);
		c->chunks = NULL;
		c->of = *out;
	}
	return message ? fail_table(t, ret, message) : ret;
}

static int decode_cursor_chunk(struct stream_cursor *c)
{
	const struct stream_module *m = cursor_table(c)->module;
	sqlite3_int64 records = sqlite3_column_int64(c->chunks, 1);
	const struct codec_blob blob = {.data = sqlite3_column_blob(c->chunks, 2),
					.size = (size_t)sqlite3_column_bytes(c->chunks, 2),
					.records = (uint64_t)records};
	int ret;

	c->chunk = sqlite3_column_int64(c->chunks, 0);
	c->row = 0;
	ret = codec_decode(&c->codec, &blob, (struct codec_choice){m->kind->field_count, c->mask},
			   &c->columns, NULL);
	if (ret == -EBADMSG && !m->damage->refuse)
		stream_damage_add(m->damage, records);
	return ret;
}

static int next_cursor_chunk(struct stream_cursor *c)
{
	int rc, ret;

	do {
		rc = sqlite3_step(c->chunks);
		if (rc != SQLITE_ROW) {
			c->end = true;
			sqlite3_reset(c->chunks);
			return rc == SQLITE_DONE ? SQLITE_OK : rc;
		}
		ret = decode_cursor_chunk(c);
		if (ret == -EBADMSG && cursor_table(c)->module->damage->refuse)
			return fail_damaged_table(cursor_table(c));
	} while (ret == -EBADMSG);
	return ret < 0 ? SQLITE_NOMEM : SQLITE_OK;
}

/*
 * Bind a value to a bound. A real number is rounded, by adding round, so that the bound selects
 * rather more rows; another value leaves the bound as it is. SQLite checks the rows again.
 */
static void bind_bound(sqlite3_stmt *stmt, int index, sqlite3_value *value, int round)
{
	double real;

	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_INTEGER:
		sqlite3_bind_int64(stmt, index, sqlite3_value_int64(value));
		break;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(value);
		if (real > -9e18 && real < 9e18)
			sqlite3_bind_int64(stmt, index, (sqlite3_int64)real + round);
		break;
	default:
		break;
	}
}

/* Convert a value to an id, which may be rounded. Return false if the value is no number. */
static bool integer_of(sqlite3_value *value, sqlite3_int64 *out)
{
	double real;

	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_INTEGER:
		*out = sqlite3_value_int64(value);
		return true;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(value);
		*out = real > -9e18 && real < 9e18 ? (sqlite3_int64)real : 0;
		return true;
	default:
		return false;
	}
}

static int find_cursor_row(struct stream_cursor *c, struct used_trace *of, sqlite3_value *value)
{
	const struct stream_module *m = cursor_table(c)->module;
	struct found_row p = {0};
	sqlite3_int64 id;
	int ret = SQLITE_OK;

	if (!of->finder)
		of->finder = finder_new(m->db, of->name, m->kind, m->damage);
	if (!of->finder)
		return SQLITE_NOMEM;
	c->single = c->end = true;
	if (integer_of(value, &id))
		ret = finder_find(of->finder, id, &p);
	if (ret == SQLITE_CORRUPT_VTAB)
		return fail_damaged_table(cursor_table(c));
	if (ret != SQLITE_OK || !p.columns)
		return ret;
	/* Copy the row: the lookup of another cursor may evict this chunk from the cache. */
	if (columns_reserve(&c->columns, p.columns->width, 1) < 0)
		return SQLITE_NOMEM;
	columns_copy(&c->columns, p.columns, p.row);
	c->mask = UINT64_MAX;
	c->chunk = p.chunk;
	c->row_base = p.row;
	c->row = 0;
	c->end = false;
	return SQLITE_OK;
}

static int prepare_cursor_chunks(struct stream_cursor *c)
{
	const struct stream_module *m = cursor_table(c)->module;
	char *sql = sqlite3_mprintf("SELECT id, records, data FROM \"%w\".chunk WHERE kind = ?1"
				    " AND \"end\" >= ?2 AND time <= ?3 ORDER BY time",
				    c->of->name);
	int ret = sql ? sqlite3_prepare_v3(m->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &c->chunks,
					   NULL)
		      : SQLITE_NOMEM;

	sqlite3_free(sql);
	return ret == SQLITE_ERROR ? fail_table(cursor_table(c), ret,
						sqlite3_mprintf("%s", sqlite3_errmsg(m->db)))
				   : ret;
}

static int stream_filter(sqlite3_vtab_cursor *base, int bounds, const char *mask, int argc,
			 sqlite3_value **argv)
{
	struct stream_cursor *c = (struct stream_cursor *)base;
	const struct stream_module *m = cursor_table(c)->module;
	struct used_trace *of;
	int ret = choose_cursor_trace(c, bounds & NAMED_TRACE ? *argv : NULL, &of);

	(void)argc;
	if (bounds & NAMED_TRACE)
		argv++;
	if (ret == SQLITE_OK && (bounds & FIND_ROW))
		return find_cursor_row(c, of, argv[0]);
	if (ret == SQLITE_OK && !c->chunks)
		ret = prepare_cursor_chunks(c);
	if (ret != SQLITE_OK)
		return ret;
	sqlite3_reset(c->chunks);
	sqlite3_bind_text(c->chunks, 1, m->kind->name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(c->chunks, 2, INT64_MIN);
	sqlite3_bind_int64(c->chunks, 3, INT64_MAX);
	if (bounds & BOUND_EQUAL) {
		bind_bound(c->chunks, 2, *argv, -1);
		bind_bound(c->chunks, 3, *argv++, 1);
	}
	if (bounds & BOUND_LOW)
		bind_bound(c->chunks, 2, *argv++, -1);
	if (bounds & BOUND_HIGH)
		bind_bound(c->chunks, 3, *argv, 1);
	c->mask = strtoull(mask, NULL, 16);
	c->row_base = 0;
	c->single = c->end = false;
	return next_cursor_chunk(c);
}

static int stream_next(sqlite3_vtab_cursor *base)
{
	struct stream_cursor *c = (struct stream_cursor *)base;

	if (++c->row < c->columns.count)
		return SQLITE_OK;
	c->end = c->single;
	return c->end ? SQLITE_OK : next_cursor_chunk(c);
}

static int stream_eof(sqlite3_vtab_cursor *base)
{
	return ((struct stream_cursor *)base)->end;
}

static int stream_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct stream_cursor *c = (struct stream_cursor *)base;

	if (column == (int)cursor_table(c)->module->kind->field_count)
		sqlite3_result_text(context, c->of->name, -1, SQLITE_TRANSIENT);
	else if (c->mask & (1ULL << column))
		sqlite3_result_int64(context, (sqlite3_int64)columns_at(
						      &c->columns, (unsigned int)column)[c->row]);
	return SQLITE_OK;
}

_Static_assert(CODEC_RECORDS_MAX <= 1 << 16, "a row's number in its chunk takes 16 bits");

static int stream_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	const struct stream_cursor *c = (struct stream_cursor *)base;

	*out = (sqlite3_int64)((uint64_t)c->chunk << 16 | (c->row_base + c->row));
	return SQLITE_OK;
}

/*
 * A module without xCreate is eponymous only: in every connection with the module, there is a table
 * of the module's name, without CREATE VIRTUAL TABLE.
 */
static const sqlite3_module stream_functions = {
	.iVersion = 1,
	.xConnect = stream_connect,
	.xDisconnect = stream_disconnect,
	.xBestIndex = stream_best_index,
	.xOpen = stream_cursor_open,
	.xClose = stream_cursor_close,
	.xFilter = stream_filter,
	.xNext = stream_next,
	.xEof = stream_eof,
	.xColumn = stream_column,
	.xRowid = stream_rowid,
};

int stream_tables_register(sqlite3 *db, struct stream_damage *damage)
{
	struct stream_module *m;
	int ret = SQLITE_OK;

	for (int k = 0; ret == SQLITE_OK && k < KIND_COUNT; k++) {
		if (kinds[k].storage != STORAGE_STREAM)
			continue;
		m = sqlite3_malloc(sizeof(*m));
		if (!m)
			return SQLITE_NOMEM;
		*m = (struct stream_module){db, &kinds[k], damage};
		ret = sqlite3_create_module_v2(db, kinds[k].name, &stream_functions, m,
					       sqlite3_free);
	}
	return ret;
}
