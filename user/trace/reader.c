// SPDX-License-Identifier: Apache-2.0
/*
 * Read a trace as a source: every table and stream in order, row by row. Where the file is damaged,
 * the reader searches the next readable id and continues there; the rows in between are put as a
 * loss at the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/chunks.h"
#include "trace/open.h"
#include "trace/schema.h"
#include "trace/sums.h"
#include "trace/trace_timeline.h"

#define ROWS 256 /* number of records put at once, which fit the CPU's first-level cache */
#define AHEAD 8 /* number of samples prefetched: about as many loads as a CPU has in flight */
#define LOSSES_MAX 64 /* maximum number of losses; further ones are added to the last one */

#define FILE_RECORD_MEMBER(kind, KIND, storage, summary) struct kind kind;
union file_record {
	RECORD_KINDS(FILE_RECORD_MEMBER)
	uint64_t words[CODEC_COLUMNS_MAX];
};

struct file_source {
	struct source source;
	struct trace *trace;
	struct sink *sink; /* the sink of the current run */
	struct sums sums;
	struct loss losses[LOSSES_MAX];
	unsigned int loss_count;
	uint64_t last_loss_id; /* largest loss.id put so far */
	uint64_t reported; /* streams that were read, whose losses have been noted: WANT() mask */
	uint64_t text; /* bytes of text in all rows so far */
	uint64_t stacks; /* number of stacks read so far */
};

static void add_file_loss(struct file_source *s, uint64_t time, uint64_t end, uint64_t count)
{
	struct loss *l;

	s->trace->left_out += count;
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

/* Return the stored kind from which a kind is made: itself, unless it is derived. */
static enum record_kind stored_as(enum record_kind kind)
{
	return kind == KIND_SUM ? KIND_SAMPLE : kind;
}

static bool is_stream(enum record_kind kind)
{
	return kinds[kind].storage == STORAGE_STREAM;
}

/*
 * Note a loss, but each only once: samples are read a second time for the sums, and a chunk of an
 * unknown kind is reported by the reader of every stream.
 */
static void lose_file_chunk(void *context, enum record_kind kind, uint64_t time, uint64_t end,
			    uint64_t records)
{
	struct file_source *f = context;

	if (kind == KIND_COUNT ? !f->reported : !(f->reported & 1ULL << kind))
		add_file_loss(f, time, end, records);
}

static struct chunk_losses file_chunk_losses(struct file_source *f)
{
	return (struct chunk_losses){.lost = lose_file_chunk, .context = f};
}

static int put_table_row(struct file_source *f, enum record_kind k, sqlite3_stmt *row,
			 struct error *err)
{
	const struct kind *kind = &kinds[k];
	union file_record r;

	for (unsigned int i = 0; i < kind->field_count; i++) {
		char *member = (char *)&r + kind->fields[i].offset;

		if (kind->fields[i].type == FIELD_TEXT) {
			*(const char **)member = (const char *)sqlite3_column_text(row, (int)i);
			f->text += (uint64_t)sqlite3_column_bytes(row, (int)i);
		} else {
			*(uint64_t *)member = (uint64_t)sqlite3_column_int64(row, (int)i);
		}
	}
	if (f->text > trace_text_max(f->trace)) { /* hostile file: many rows share one text */
		add_file_loss(f, 0, 0, 1);
		return 0;
	}
	if (k == KIND_LOSS && r.loss.id > f->last_loss_id)
		f->last_loss_id = r.loss.id;
	return sink_put(f->sink, k, &r, err);
}

static int put_file_sums(struct file_source *f, struct error *err)
{
	int ret = sink_put_many(f->sink, KIND_SUM, f->sums.items, f->sums.count, err);

	sums_clear(&f->sums);
	return ret;
}

static int add_sample(struct file_source *f, const struct sample *sample, struct error *err)
{
	int ret = 0;

	if (!sums_add(&f->sums, sample)) {
		ret = put_file_sums(f, err);
		sums_add(&f->sums, sample);
	}
	return ret;
}

static int put_chunk_records(struct file_source *f, enum record_kind k, const struct columns *c,
			     struct error *err)
{
	uint64_t rows[ROWS * CODEC_COLUMNS_MAX];
	int ret = 0;

	f->stacks += k == KIND_STACK ? c->count : 0;
	if (f->stacks > trace_stacks_max(f->trace)) {
		add_file_loss(f, 0, 0, c->count);
		return 0;
	}
	for (uint32_t i = 0; ret == 0 && i < c->count; i += ROWS) {
		uint32_t count = c->count - i < ROWS ? c->count - i : ROWS;

		columns_records(c, i, count, rows);
		ret = sink_put_many(f->sink, k, rows, count, err);
	}
	return ret;
}

static int add_samples_of_chunk(struct file_source *f, const struct columns *c, struct error *err)
{
	union file_record r;
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < c->count; i++) {
		if (i + AHEAD < c->count) {
			columns_record(c, i + AHEAD, r.words);
			sums_prefetch(&f->sums, &r.sample);
		}
		columns_record(c, i, r.words);
		ret = add_sample(f, &r.sample, err);
	}
	return ret;
}

/*
 * Return the SELECT of a table, to be freed by sqlite3_free(). A column that an older skein did not
 * write yet is 0 or ''.
 */
static char *select_sql(const struct trace *t, enum record_kind k)
{
	const struct kind *kind = &kinds[k];
	sqlite3_str *s = sqlite3_str_new(NULL);

	for (unsigned int i = 0; i < kind->field_count; i++) {
		sqlite3_str_appendall(s, i ? "," : "SELECT ");
		if (trace_has(t, kind->name, kind->fields[i].name))
			sqlite3_str_appendf(s, "\"%w\"", kind->fields[i].name);
		else
			sqlite3_str_appendall(s, kind->fields[i].type == FIELD_TEXT ? "''" : "0");
	}
	sqlite3_str_appendf(s, " FROM main.\"%w\" NOT INDEXED", kind->name);
	if (schema_key_fields(k) == 1)
		sqlite3_str_appendall(s, " WHERE id > ?1 ORDER BY id");
	return sqlite3_str_finish(s);
}

static int prepare_table(struct scan *s, struct trace *t, enum record_kind k, struct error *err)
{
	sqlite3_stmt *rows = NULL, *probe = NULL;
	char *sql = select_sql(t, k);
	int ret = sql_prepare(t->db, &rows, sql, err);

	sqlite3_free(sql);
	if (ret == 0 && schema_key_fields(k) == 1)
		ret = scan_probe(t->db, &probe, kinds[k].name, err);
	scan_open(s, t, rows, probe, UINT64_MAX);
	return ret;
}

static int read_file_table(struct file_source *f, enum record_kind k, struct error *err)
{
	struct scan s;
	uint64_t lost;
	int row, ret;

	if (!trace_has(f->trace, kinds[k].name, kinds[k].fields[0].name)) {
		if (schema_is_optional(k))
			return 0;
		/* Every version of the schema has this table, so the file is damaged. */
		add_file_loss(f, 0, 0, 1);
		return 0;
	}
	ret = prepare_table(&s, f->trace, k, err);
	while (ret == 0 && (row = ret = scan_next(&s, &lost, err)) >= 0) {
		if (lost)
			add_file_loss(f, 0, 0, lost);
		if (!row)
			break;
		ret = put_table_row(f, k, s.rows, err);
	}
	scan_close(&s);
	return ret;
}

/* The columns of samples from which sums are made, as a mask. */
#define COLUMN_OF_SUMS(field) (1ULL << offsetof(struct sample, field) / sizeof(uint64_t))
#define COLUMNS_OF_SUMS \
	(COLUMN_OF_SUMS(event) | COLUMN_OF_SUMS(thread) | COLUMN_OF_SUMS(stack) | \
	 COLUMN_OF_SUMS(flags) | COLUMN_OF_SUMS(weight) | COLUMN_OF_SUMS(wait))

static int read_file_stream(struct file_source *f, enum record_kind k, struct error *err)
{
	const struct chunk_query q = {.kind = stored_as(k),
				      .to = UINT64_MAX,
				      .columns = k == KIND_SUM ? COLUMNS_OF_SUMS : 0,
				      .losses = file_chunk_losses(f)};
	struct chunks c;
	int ret = chunks_open(&c, f->trace, &q, err);

	while (ret == 0 && (ret = chunks_next(&c, err)) > 0)
		ret = k == KIND_SUM ? add_samples_of_chunk(f, &c.columns, err)
				    : put_chunk_records(f, k, &c.columns, err);
	chunks_close(&c);
	if (ret == 0 && k == KIND_SUM)
		ret = put_file_sums(f, err);
	f->reported |= 1ULL << stored_as(k);
	return ret;
}

#define TIMELINE (WANT(SLICE) | WANT(EDGE))

/* Put slices and edges together, merged by time. */
static int read_file_timeline(struct file_source *f, struct error *err)
{
	const struct trace_timeline_query q = {.to = UINT64_MAX,
					       .kinds = f->sink->wants & TIMELINE,
					       .losses = file_chunk_losses(f)};
	struct trace_timeline *l = NULL;
	enum record_kind k;
	const void *record;
	int ret = trace_timeline_open(&l, f->trace, &q, err);

	while (ret == 0 && (ret = trace_timeline_next(l, &k, &record, err)) > 0)
		ret = sink_put(f->sink, k, record, err);
	trace_timeline_close(l);
	f->reported |= q.kinds;
	return ret;
}

static int read_file_kind(struct file_source *f, enum record_kind k, struct error *err)
{
	if (!is_stream(stored_as(k)))
		return read_file_table(f, k, err);
	if (!(TIMELINE & 1ULL << k))
		return read_file_stream(f, k, err);
	return f->reported & TIMELINE ? 0 : read_file_timeline(f, err);
}

/* Put the losses for unreadable parts, also to a sink that does not want losses. */
static int put_file_losses(struct file_source *f, struct error *err)
{
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < f->loss_count; i++) {
		f->losses[i].id = ++f->last_loss_id;
		ret = f->sink->ops->put(f->sink, KIND_LOSS, &f->losses[i], err);
	}
	return ret;
}

static int file_source_run(struct source *source, struct sink *sink, struct error *err)
{
	struct file_source *f = (struct file_source *)source;
	int ret = 0;

	f->sink = sink;
	f->loss_count = 0;
	f->last_loss_id = 0;
	f->reported = f->text = f->stacks = 0;
	trace_limit_steps(f->trace, true);
	sums_clear(&f->sums);
	for (int k = 0; ret == 0 && k < KIND_COUNT; k++)
		if (sink->wants & (1ULL << k))
			ret = read_file_kind(f, (enum record_kind)k, err);
	if (ret == 0)
		ret = put_file_losses(f, err);
	return ret;
}

static void file_source_free(struct source *source)
{
	struct file_source *f = (struct file_source *)source;

	sums_free(&f->sums);
	free(f);
}

static const struct source_ops file_source_ops = {.run = file_source_run, .free = file_source_free};

uint64_t trace_left_out(const struct trace *t)
{
	return t->left_out;
}

int trace_source(struct source **out, struct trace *t, struct error *err)
{
	struct file_source *f = calloc(1, sizeof(*f));

	if (!f)
		return error_set(err, -ENOMEM, "out of memory");
	f->source.ops = &file_source_ops;
	if (sums_init(&f->sums) < 0) {
		file_source_free(&f->source);
		return error_set(err, -ENOMEM, "out of memory");
	}
	f->trace = t;
	*out = &f->source;
	return 0;
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

int trace_count(struct trace *t, enum record_kind kind, uint64_t *out, struct error *err)
{
	sqlite3_int64 count = 0;
	char *sql;
	int ret;

	if (!trace_has(t, is_stream(stored_as(kind)) ? "chunk" : kinds[kind].name, NULL)) {
		*out = 0;
		return 0;
	}
	sql = count_sql(kind);
	ret = sql ? sql_int(t->db, sql, &count, err) : error_set(err, -ENOMEM, "out of memory");
	sqlite3_free(sql);
	if (ret == 0)
		*out = (uint64_t)count;
	return ret;
}
