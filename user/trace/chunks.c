// SPDX-License-Identifier: Apache-2.0
/*
 * Read the chunks of one stream. A full read goes through the table itself, row by row, so that
 * every missing row is noticed; chunks of a time range are looked up in the index.
 */
#include "trace/chunks.h"

#include <errno.h>
#include <string.h>

#include "trace/schema.h"

#define COLUMNS_SQL "SELECT id, time, \"end\", records, kind FROM main.chunk"

static void report_lost_records(struct chunks *c, enum record_kind kind, uint64_t time,
				uint64_t end, uint64_t records)
{
	if (c->query.losses.lost && records &&
	    (kind != KIND_COUNT || !c->query.losses.reported_elsewhere))
		c->query.losses.lost(c->query.losses.context, kind, time, end, records);
}

/*
 * Return whether the trace has the table chunk with all its columns. Every column is checked,
 * because the column names in the file may be damaged, too.
 */
static bool has_chunks(const struct trace *t)
{
	for (const struct chunk_column *c = chunk_columns; c->name; c++)
		if (!trace_has(t, "chunk", c->name))
			return false;
	return true;
}

/*
 * Return the chunk.id up to which the recorder may have deleted chunks on purpose, so that missing
 * chunks are no damage; 0 if it deleted none.
 */
static uint64_t dense_from(struct trace *t)
{
	sqlite3_int64 dropped = 0;

	if (!t->dense &&
	    sql_int(t->db,
		    "SELECT coalesce(max(CAST(value AS INTEGER)), 0) FROM main.info"
		    " WHERE key = '" CHUNKS_DROPPED "'",
		    &dropped, NULL) == 0 &&
	    dropped > 0)
		t->dense = (uint64_t)dropped;
	return t->dense;
}

static int prepare_chunk_rows(struct chunks *c, struct error *err)
{
	sqlite3_stmt *rows = NULL, *probe = NULL;
	int ret = sql_prepare(c->trace->db, &rows,
			      c->indexed ? COLUMNS_SQL " WHERE id > ?1 AND id <= ?5 AND kind = ?2"
						       " AND time <= ?3 AND \"end\" >= ?4"
						       " ORDER BY id"
					 : COLUMNS_SQL " NOT INDEXED WHERE id > ?1 ORDER BY id",
			      err);

	if (ret == 0 && !c->indexed)
		ret = scan_probe(c->trace->db, &probe, "chunk", err);
	if (ret == 0 && c->indexed) {
		sqlite3_bind_int64(rows, 1, (sqlite3_int64)c->query.after);
		sqlite3_bind_text(rows, 2, kinds[c->query.kind].name, -1, SQLITE_STATIC);
		sqlite3_bind_int64(rows, 3, (sqlite3_int64)c->query.to);
		sqlite3_bind_int64(rows, 4, (sqlite3_int64)c->query.from);
		sqlite3_bind_int64(rows, 5, (sqlite3_int64)c->query.until);
	}
	scan_open(&c->scan, c->trace, rows, probe, c->indexed ? UINT64_MAX : dense_from(c->trace));
	c->scan.after = c->query.after;
	return ret;
}

int chunks_open(struct chunks *c, struct trace *t, const struct chunk_query *q, struct error *err)
{
	int ret;

	*c = (struct chunks){.trace = t, .query = *q};
	if (!q->columns)
		c->query.columns = UINT64_MAX;
	if (q->to > INT64_MAX)
		c->query.to = INT64_MAX;
	if (q->from > INT64_MAX)
		c->query.from = INT64_MAX;
	if (!q->until || q->until > INT64_MAX)
		c->query.until = INT64_MAX;
	c->indexed = c->query.from || c->query.to < INT64_MAX;
	if (!has_chunks(t)) {
		/* Every version of the schema has this table, so the file is damaged. */
		report_lost_records(c, KIND_COUNT, 0, 0, 1);
		return 0;
	}
	ret = sql_prepare(t->db, &c->data, "SELECT data FROM main.chunk WHERE id = ?1", err);
	return ret < 0 ? ret : prepare_chunk_rows(c, err);
}

void chunks_close(struct chunks *c)
{
	scan_close(&c->scan);
	sqlite3_finalize(c->data);
	codec_free(&c->codec);
	columns_free(&c->columns);
	*c = (struct chunks){0};
}

static uint64_t chunk_row_number(const struct chunks *c, int column)
{
	return (uint64_t)sqlite3_column_int64(c->scan.rows, column);
}

static bool names_stream(const char *name)
{
	for (int k = 0; name && k < KIND_COUNT; k++)
		if (kinds[k].storage == STORAGE_STREAM && !strcmp(name, kinds[k].name))
			return true;
	return false;
}

/*
 * Return whether the current row is of this stream and, with the index, touches the range. A row of
 * an unknown stream is reported as lost.
 */
static bool is_wanted_chunk(struct chunks *c)
{
	const char *kind = (const char *)sqlite3_column_text(c->scan.rows, 4);

	if (!names_stream(kind))
		report_lost_records(c, KIND_COUNT, 0, 0, 1);
	if (!kind || strcmp(kind, kinds[c->query.kind].name))
		return false;
	/* Without the index, take all chunks, since the times of a row may be damaged. */
	if (!c->indexed)
		return true;
	return sqlite3_column_int64(c->scan.rows, 1) <= (sqlite3_int64)c->query.to &&
	       sqlite3_column_int64(c->scan.rows, 2) >= (sqlite3_int64)c->query.from;
}

/* Decode the current chunk. Return 0, -EBADMSG if the chunk is damaged, or another error. */
static int load_chunk(struct chunks *c, struct error *err)
{
	struct codec_choice choice = {kinds[c->query.kind].field_count, c->query.columns};
	struct codec_blob blob = {.records = chunk_row_number(c, 3)};
	int rc, ret = -EBADMSG;

	sqlite3_bind_int64(c->data, 1, (sqlite3_int64)c->id);
	rc = sqlite3_step(c->data);
	if (rc == SQLITE_ROW) {
		blob.data = sqlite3_column_blob(c->data, 0);
		blob.size = (size_t)sqlite3_column_bytes(c->data, 0);
		ret = codec_decode(&c->codec, &blob, choice, &c->columns, err);
	} else if (rc != SQLITE_DONE) {
		ret = sql_fail(c->trace->db, rc, err, c->trace->path);
	}
	sqlite3_reset(c->data);
	return ret;
}

/* Report the records of the current chunk as lost, without a time if they are stacks. */
static void report_lost_chunk(struct chunks *c)
{
	bool timed = c->query.kind != KIND_STACK;
	uint64_t records = chunk_row_number(c, 3);

	report_lost_records(c, c->query.kind, timed ? chunk_row_number(c, 1) : 0,
			    timed ? chunk_row_number(c, 2) : 0,
			    records && records <= CODEC_RECORDS_MAX ? records : 1);
}

/* Go on by reading the whole table after the current chunk, because the index is damaged. */
static int leave_chunk_index(struct chunks *c, struct error *err)
{
	if (c->id > c->query.after)
		c->query.after = c->id;
	c->indexed = false;
	scan_close(&c->scan);
	return prepare_chunk_rows(c, err);
}

/*
 * Move to the next row. Return 1, 0 at the end, or a negative errno. Rows that are missing in the
 * index are not reported as lost, since the table may still have them.
 */
static int next_chunk_row(struct chunks *c, struct error *err)
{
	uint64_t lost;
	int ret = scan_next(&c->scan, &lost, err);

	if (ret >= 0 && lost && c->indexed) {
		ret = leave_chunk_index(c, err);
		return ret < 0 ? ret : next_chunk_row(c, err);
	}
	if (ret >= 0)
		report_lost_records(c, KIND_COUNT, 0, 0, lost);
	return ret;
}

int chunks_next(struct chunks *c, struct error *err)
{
	int ret;

	while ((ret = next_chunk_row(c, err)) > 0) {
		if (chunk_row_number(c, 0) > c->query.until)
			return 0;
		if (!is_wanted_chunk(c))
			continue;
		c->id = chunk_row_number(c, 0);
		ret = load_chunk(c, err);
		if (ret == 0)
			return 1;
		if (ret != -EBADMSG)
			return ret;
		report_lost_chunk(c);
	}
	return ret;
}
