// SPDX-License-Identifier: Apache-2.0
/*
 * A trace as a source: every table and stream in order, row by row. Where the
 * file is damaged, the reader searches the next id that can be read and goes
 * on there; what lies between is put as a loss.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/codec.h"
#include "trace/open.h"
#include "trace/schema.h"
#include "trace/sums.h"

#define LOSSES_MAX 64  /* kept apart; what comes behind is added to the last */
#define SKIPS_MAX 4096 /* damaged places in one table, before the rest is given up */

#define ANY_MEMBER(kind, KIND, storage, summary) struct kind kind;
union any_record {
	RECORD_KINDS(ANY_MEMBER)
	uint64_t words[CODEC_COLUMNS_MAX];
};

struct file_source {
	struct source source;
	struct trace *trace;
	struct sink *sink; /* while it runs */
	struct codec codec;
	struct columns columns;
	sqlite3_stmt *data; /* of one chunk */
	struct sums sums;
	struct loss losses[LOSSES_MAX];
	unsigned int loss_count;
	uint64_t last_loss_id; /* of the file */
	uint64_t told;	       /* streams whose losses are known: mask of WANT() */
};

/* One table as it is read. */
struct scan {
	struct file_source *source;
	enum record_kind kind;	 /* that is put */
	enum record_kind stored; /* that it is made from */
	sqlite3_stmt *rows;	 /* with ids above ?1, in their order, the id first */
	sqlite3_stmt *probe;	 /* the first id from ?1 on; NULL: this table has no ids */
	int (*row)(struct scan *s, struct error *err);
	uint64_t after; /* the last id delivered */
};

static void add_loss(struct file_source *s, uint64_t time, uint64_t end, uint64_t count)
{
	struct loss *l;

	if (s->loss_count == LOSSES_MAX) {
		l = &s->losses[LOSSES_MAX - 1];
		l->time = time < l->time ? time : l->time;
		l->end = end > l->end ? end : l->end;
		l->count += count;
		return;
	}
	s->losses[s->loss_count++] = (struct loss){
		.reason = LOSS_UNREADABLE_CHUNK, .time = time, .end = end, .count = count};
}

static int scan_failed(const struct scan *s, int rc, struct error *err)
{
	return sql_fail(s->source->trace->db, rc, err, s->source->trace->path);
}

/* Deliver rows until there is no more or the file is damaged: *rc tells which. */
static int deliver(struct scan *s, int *rc, struct error *err)
{
	int result = 0;

	sqlite3_reset(s->rows);
	if (s->probe)
		sqlite3_bind_int64(s->rows, 1, (sqlite3_int64)s->after);
	while ((*rc = sqlite3_step(s->rows)) == SQLITE_ROW) {
		result = s->row(s, err);
		if (result < 0)
			return result;
		if (s->probe)
			s->after = (uint64_t)sqlite3_column_int64(s->rows, 0);
	}
	return *rc == SQLITE_DONE || sql_is_damage(*rc) ? 0 : scan_failed(s, *rc, err);
}

/* The first id at or behind from: SQLITE_ROW and *ret, or SQLITE_DONE, or damage. */
static int probe(struct scan *s, uint64_t from, uint64_t *ret)
{
	int rc;

	sqlite3_bind_int64(s->probe, 1, (sqlite3_int64)from);
	rc = sqlite3_step(s->probe);
	if (rc == SQLITE_ROW)
		*ret = (uint64_t)sqlite3_column_int64(s->probe, 0);
	sqlite3_reset(s->probe);
	return rc;
}

/*
 * From an id that cannot be read: take ever longer steps until something can,
 * then halve the last step until its edge is found. True and the id in *ret.
 */
static bool skip_damage(struct scan *s, uint64_t *ret)
{
	uint64_t bad = s->after + 1, good = 0, middle, id = 0;
	int rc = SQLITE_CORRUPT;

	for (uint64_t stride = 1; sql_is_damage(rc) && stride < INT64_MAX - bad; stride *= 2) {
		good = bad + stride;
		rc = probe(s, good, &id);
		if (sql_is_damage(rc))
			bad = good;
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return false;
	*ret = rc == SQLITE_ROW ? id : 0;
	while (good - bad > 1) {
		middle = bad + (good - bad) / 2;
		rc = probe(s, middle, &id);
		if (rc == SQLITE_ROW || rc == SQLITE_DONE)
			good = middle;
		else
			bad = middle;
		if (rc == SQLITE_ROW)
			*ret = id;
	}
	return *ret > s->after;
}

/* What a kind is made from: itself, unless it is derived. */
static enum record_kind stored_as(enum record_kind kind)
{
	return kind == KIND_SUM ? KIND_SAMPLE : kind;
}

static bool is_stream(enum record_kind kind)
{
	return kinds[kind].storage == STORAGE_STREAM;
}

/* Rows that are missing. A chunk without a kind concerns all streams and is told by the first. */
static void lose_gap(struct scan *s, uint64_t rows)
{
	if (rows && (!is_stream(s->stored) || !s->source->told))
		add_loss(s->source, 0, 0, rows);
}

static int run_scan(struct scan *s, struct error *err)
{
	uint64_t next;
	int rc, result;

	for (int skips = 0;; skips++) {
		result = deliver(s, &rc, err);
		if (result < 0 || rc == SQLITE_DONE)
			return result;
		if (!s->probe || skips == SKIPS_MAX || !skip_damage(s, &next)) {
			lose_gap(s, 1);
			return 0;
		}
		lose_gap(s, next - s->after - 1);
		s->after = next - 1;
	}
}

static int row_entity(struct scan *s, struct error *err)
{
	const struct kind *kind = &kinds[s->kind];
	union any_record r;

	for (unsigned int i = 0; i < kind->field_count; i++) {
		char *member = (char *)&r + kind->fields[i].offset;

		if (kind->fields[i].type == FIELD_TEXT)
			*(const char **)member = (const char *)sqlite3_column_text(s->rows, (int)i);
		else
			*(uint64_t *)member = (uint64_t)sqlite3_column_int64(s->rows, (int)i);
	}
	if (s->kind == KIND_LOSS && r.loss.id > s->source->last_loss_id)
		s->source->last_loss_id = r.loss.id;
	return sink_put(s->source->sink, s->kind, &r, err);
}

/* 0, -EBADMSG when the chunk is damaged, or another error. */
static int load_chunk(struct scan *s, uint64_t id, uint64_t records, struct error *err)
{
	struct file_source *f = s->source;
	int rc, result;

	sqlite3_bind_int64(f->data, 1, (sqlite3_int64)id);
	rc = sqlite3_step(f->data);
	if (rc != SQLITE_ROW)
		result = rc == SQLITE_DONE ? -EBADMSG : scan_failed(s, rc, err);
	else
		result = codec_decode(&f->codec, sqlite3_column_blob(f->data, 0),
				      (size_t)sqlite3_column_bytes(f->data, 0), records,
				      kinds[s->stored].field_count, UINT64_MAX, &f->columns, err);
	sqlite3_reset(f->data);
	return result;
}

/* Samples that are read and added up as well are missed once. Stacks have no time. */
static void lose_chunk(struct scan *s, uint64_t records)
{
	bool timed = s->stored != KIND_STACK;

	if (s->source->told & (1ULL << s->stored))
		return;
	add_loss(s->source, timed ? (uint64_t)sqlite3_column_int64(s->rows, 1) : 0,
		 timed ? (uint64_t)sqlite3_column_int64(s->rows, 2) : 0,
		 records && records <= CODEC_RECORDS_MAX ? records : 1);
}

static int put_sums(struct file_source *f, struct error *err)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < f->sums.count; i++)
		result = put_sum(f->sink, sums_at(&f->sums, i), err);
	sums_clear(&f->sums);
	return result;
}

static int add_up(struct file_source *f, const struct sample *sample, struct error *err)
{
	int result = 0;

	if (!sums_add(&f->sums, sample)) {
		result = put_sums(f, err);
		sums_add(&f->sums, sample);
	}
	return result;
}

static bool names_stream(const char *name)
{
	for (int k = 0; name && k < KIND_COUNT; k++)
		if (is_stream((enum record_kind)k) && !strcmp(name, kinds[k].name))
			return true;
	return false;
}

static int row_chunk(struct scan *s, struct error *err)
{
	struct file_source *f = s->source;
	uint64_t id = (uint64_t)sqlite3_column_int64(s->rows, 0);
	const char *kind = (const char *)sqlite3_column_text(s->rows, 4);
	uint64_t records = (uint64_t)sqlite3_column_int64(s->rows, 3);
	union any_record r;
	int result;

	lose_gap(s, id - s->after - 1); /* the writer leaves none out */
	if (!names_stream(kind))
		lose_gap(s, 1);
	if (!kind || strcmp(kind, kinds[s->stored].name))
		return 0;
	result = load_chunk(s, id, records, err);
	if (result == -EBADMSG) {
		lose_chunk(s, records);
		return 0;
	}
	for (uint32_t i = 0; result == 0 && i < f->columns.count; i++) {
		columns_record(&f->columns, i, r.words);
		result = s->kind == KIND_SUM ? add_up(f, &r.sample, err)
					     : sink_put(f->sink, s->kind, &r, err);
	}
	return result;
}

static bool has(const struct trace *t, const char *table, const char *column)
{
	return sqlite3_table_column_metadata(t->db, "main", table, column, NULL, NULL, NULL, NULL,
					     NULL) == SQLITE_OK;
}

/* A column that an older skein did not write yet is 0 or "". */
static char *select_sql(const struct trace *t, enum record_kind k)
{
	const struct kind *kind = &kinds[k];
	sqlite3_str *s = sqlite3_str_new(NULL);

	for (unsigned int i = 0; i < kind->field_count; i++) {
		sqlite3_str_appendall(s, i ? "," : "SELECT ");
		if (has(t, kind->name, kind->fields[i].name))
			sqlite3_str_appendf(s, "\"%w\"", kind->fields[i].name);
		else
			sqlite3_str_appendall(s, kind->fields[i].type == FIELD_TEXT ? "''" : "0");
	}
	sqlite3_str_appendf(s, " FROM main.\"%w\" NOT INDEXED", kind->name);
	if (schema_key_fields(k) == 1)
		sqlite3_str_appendall(s, " WHERE id > ?1 ORDER BY id");
	return sqlite3_str_finish(s);
}

static int prepare_free(sqlite3 *db, sqlite3_stmt **ret, char *sql, struct error *err)
{
	int result = sql_prepare(db, ret, sql, err);

	sqlite3_free(sql);
	return result;
}

static const char *table_of(enum record_kind stored)
{
	return is_stream(stored) ? "chunk" : kinds[stored].name;
}

static int prepare_scan(struct scan *s, struct error *err)
{
	const struct trace *t = s->source->trace;
	bool stream = is_stream(s->stored);
	int result;

	s->row = stream ? row_chunk : row_entity;
	result = prepare_free(t->db, &s->rows,
			      stream ? sqlite3_mprintf("SELECT id, time, \"end\", records, kind"
						       " FROM main.chunk NOT INDEXED"
						       " WHERE id > ?1 ORDER BY id")
				     : select_sql(t, s->kind),
			      err);
	if (result == 0 && (stream || schema_key_fields(s->kind) == 1))
		result = prepare_free(t->db, &s->probe,
				      sqlite3_mprintf("SELECT id FROM main.\"%w\" NOT INDEXED"
						      " WHERE id >= ?1 ORDER BY id LIMIT 1",
						      table_of(s->stored)),
				      err);
	return result;
}

static int read_kind(struct file_source *f, enum record_kind k, struct error *err)
{
	struct scan s = {.source = f, .kind = k, .stored = stored_as(k)};
	int result = 0;

	if (has(f->trace, table_of(s.stored), NULL))
		result = prepare_scan(&s, err);
	else
		lose_gap(&s, 1); /* every schema so far has all of them */
	if (result == 0 && s.rows)
		result = run_scan(&s, err);
	if (result == 0 && k == KIND_SUM)
		result = put_sums(f, err);
	if (is_stream(s.stored))
		f->told |= 1ULL << s.stored;
	sqlite3_finalize(s.rows);
	sqlite3_finalize(s.probe);
	return result;
}

static int put_losses(struct file_source *f, struct error *err)
{
	int result = 0;

	for (unsigned int i = 0; result == 0 && i < f->loss_count; i++) {
		f->losses[i].id = ++f->last_loss_id;
		result = put_loss(f->sink, &f->losses[i], err);
	}
	return result;
}

static int file_run(struct source *source, struct sink *sink, struct error *err)
{
	struct file_source *f = (struct file_source *)source;
	int result = 0;

	f->sink = sink;
	f->loss_count = 0;
	f->last_loss_id = 0;
	f->told = 0;
	sums_clear(&f->sums);
	for (int k = 0; result == 0 && k < KIND_COUNT; k++)
		if (sink->wants & (1ULL << k))
			result = read_kind(f, (enum record_kind)k, err);
	if (result == 0)
		result = put_losses(f, err);
	return result;
}

static void file_free(struct source *source)
{
	struct file_source *f = (struct file_source *)source;

	sqlite3_finalize(f->data);
	codec_free(&f->codec);
	columns_free(&f->columns);
	sums_free(&f->sums);
	free(f);
}

static const struct source_ops file_ops = {.run = file_run, .free = file_free};

int trace_source(struct source **ret, struct trace *t, struct error *err)
{
	struct file_source *f = calloc(1, sizeof(*f));
	int result = 0;

	if (!f)
		return error_set(err, -ENOMEM, "out of memory");
	f->source.ops = &file_ops;
	f->trace = t;
	if (sums_init(&f->sums) < 0)
		result = error_set(err, -ENOMEM, "out of memory");
	else if (has(t, "chunk", NULL))
		result = sql_prepare(t->db, &f->data, "SELECT data FROM main.chunk WHERE id = ?1",
				     err);
	if (result < 0)
		file_free(&f->source);
	else
		*ret = &f->source;
	return result;
}

static char *count_sql(enum record_kind kind)
{
	switch (kinds[kind].storage) {
	case STORAGE_STREAM:
		return sqlite3_mprintf("SELECT coalesce(sum(records), 0) FROM main.chunk"
				       " WHERE kind = %Q",
				       kinds[kind].name);
	case STORAGE_DERIVED:
		return sqlite3_mprintf("SELECT count(*) FROM (%s)", schema_derived_sql(kind));
	default:
		return sqlite3_mprintf("SELECT count(*) FROM main.\"%w\"", kinds[kind].name);
	}
}

int trace_count(struct trace *t, enum record_kind kind, uint64_t *ret, struct error *err)
{
	sqlite3_int64 count = 0;
	char *sql;
	int result;

	if (!has(t, table_of(stored_as(kind)), NULL)) {
		*ret = 0;
		return 0;
	}
	sql = count_sql(kind);
	result = sql ? sql_int(t->db, sql, &count, err) : error_set(err, -ENOMEM, "out of memory");
	sqlite3_free(sql);
	if (result == 0)
		*ret = (uint64_t)count;
	return result;
}
