// SPDX-License-Identifier: Apache-2.0
/*
 * The trace writer: a sink that collects streams in columns and, at every tick, writes them into
 * the file together with the rows put since the last tick, in one transaction. SQLite does not
 * touch the file in between, so a killed recorder leaves the state of the last commit.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/copy.h"
#include "trace/create.h"
#include "trace/held_samples.h"
#include "trace/pending_rows.h"
#include "trace/put_chunk.h"
#include "trace/retention.h"
#include "trace/schema.h"
#include "trace/shortage.h"
#include "trace/sql.h"
#include "trace/trace.h"
#include "trace/zoom.h"

/*
 * Maximum bytes of SQLite's cache. Uncommitted pages stay there (cache_spill is off), so a
 * transaction ends early when the cache is larger. Checked after rows are written.
 */
#define DIRTY_BYTES_MAX (8 << 20)

/*
 * locking_mode=EXCLUSIVE: no process can read an unfinished recording, and no reader's lock can
 * block the recorder. synchronous=OFF: the death of the process loses no commit, and a profile need
 * not survive a crash of the machine. page_size: each table and index takes at least one page, and
 * most have few rows; a commit writes every page that it changes twice, once into the journal.
 * Writing and reading take no longer than with pages of 4 KiB.
 */
#define PAGE_BYTES 1024
#define TEXT_OF(number) #number
#define AS_TEXT(number) TEXT_OF(number)
static const char pragmas[] =
	"PRAGMA page_size=" AS_TEXT(PAGE_BYTES) ";"
						"PRAGMA auto_vacuum=NONE;"
						"PRAGMA locking_mode=EXCLUSIVE;"
						"PRAGMA journal_mode=DELETE;"
						"PRAGMA synchronous=OFF;"
						"PRAGMA cache_spill=OFF;"
						"PRAGMA cache_size=-2048;"
						"PRAGMA secure_delete=OFF;"
						"PRAGMA temp_store=MEMORY;";

struct writer_stream {
	struct columns columns;
	uint64_t first, last; /* smallest time or id of the records; largest time, end or id */
};

struct writer_database {
	sqlite3 *handle;
	sqlite3_stmt *put[KIND_COUNT]; /* NULL unless the table exists */
	sqlite3_stmt *put_chunk, *begin, *commit;
	bool in_transaction;
	bool frozen; /* the file must not change: nothing is committed */
};

struct file_writer {
	struct sink sink;
	struct new_file file;
	struct writer_database db;
	struct writer_stream streams[KIND_COUNT];
	struct chunk_encoder encoder;
	struct pending_rows pending;
	struct zoom *zoom;
	struct trace_stats stats;
	struct retention *retention; /* NULL: keep everything */
	struct held_samples open_waits; /* samples of waits that have not ended, if they are held */
	/* start of the part that was kept at the last commit, ns; 0: nothing was deleted */
	uint64_t kept_start;
	struct shortage shortage;
	uint64_t limit; /* bytes of the file; 0: no limit */
	uint64_t last_stack; /* largest stack.id so far */
	uint64_t last_chunk; /* largest chunk.id so far */
	uint64_t committed; /* bytes of the file at the last commit, if there is a limit */
	bool ended; /* the recording has ended: nothing is deleted any more */
	bool used; /* something besides the empty schema was committed, or the trace finished */
	int failed; /* sticky: negative errno after which nothing is written any more */
	struct error failure;
};

static int run_statement_once(struct file_writer *w, sqlite3_stmt *stmt, struct error *err)
{
	int rc = sqlite3_step(stmt), ret = 0;

	if (rc != SQLITE_DONE)
		ret = sql_fail(w->db.handle, rc, err, "cannot write the trace");
	sqlite3_reset(stmt);
	return ret;
}

static int begin_transaction(struct file_writer *w, struct error *err)
{
	int ret;

	if (w->db.in_transaction)
		return 0;
	ret = run_statement_once(w, w->db.begin, err);
	w->db.in_transaction = ret == 0;
	return ret;
}

/*
 * Roll back, and discard pending records. The rollback also undoes a commit that stopped halfway.
 */
static void abandon_transaction(struct file_writer *w)
{
	sqlite3_exec(w->db.handle, "ROLLBACK", NULL, NULL, NULL);
	w->db.in_transaction = false;
	pending_rows_free(&w->pending);
	for (int k = 0; k < KIND_COUNT; k++)
		w->streams[k].columns.count = 0;
}

/*
 * Keep the committed part and refuse further records; return code. If there is no room on the disk
 * and the recorder has reserved some for the end of the trace, count further records as not stored
 * instead and return 0.
 */
static int fail_writer(struct file_writer *w, int code, struct error *err)
{
	struct error cause = {0};

	if (err)
		cause = *err;
	abandon_transaction(w);
	if (shortage_begin(&w->shortage, code)) {
		if (err)
			err->text[0] = '\0';
		return 0;
	}
	w->failed = code;
	if (code == -ENOSPC || code == -EDQUOT)
		error_errno(&w->failure, code, "the recording stopped, %s keeps it so far",
			    w->file.path);
	else
		error_set(&w->failure, code, "%s keeps the recording so far: %s", w->file.path,
			  cause.text);
	if (err)
		*err = w->failure;
	return code;
}

static int still_failed(const struct file_writer *w, struct error *err)
{
	if (err)
		*err = w->failure;
	return w->failed;
}

/* Insert the records of s as a chunk with that chunk.id, or with the next free one if id is 0. */
static int insert_chunk(struct file_writer *w, enum record_kind kind, uint64_t id,
			const struct writer_stream *s, struct error *err)
{
	const struct new_chunk chunk = {
		.kind = kind,
		.id = id,
		.first = s->first,
		.last = s->last,
		.columns = &s->columns,
	};
	int ret = begin_transaction(w, err);

	return ret < 0 ? ret
		       : put_chunk(w->db.put_chunk, &w->encoder, &chunk, &w->stats.chunk_bytes,
				   err);
}

static int write_chunk(struct file_writer *w, enum record_kind kind, struct error *err)
{
	struct writer_stream *s = &w->streams[kind];
	int ret;

	if (!s->columns.count)
		return 0;
	ret = insert_chunk(w, kind, 0, s, err);
	if (ret < 0)
		return ret;
	w->last_chunk = (uint64_t)sqlite3_last_insert_rowid(w->db.handle);
	if (w->retention)
		retention_add_chunk(w->retention,
				    (uint64_t)sqlite3_last_insert_rowid(w->db.handle));
	w->stats.records += s->columns.count;
	s->columns.count = 0;
	return 0;
}

static int prepare_put(struct file_writer *w, enum record_kind k, struct error *err)
{
	char *sql = schema_put_sql(k);
	int ret = sql_prepare(w->db.handle, &w->db.put[k], sql, err);

	sqlite3_free(sql);
	return ret;
}

/* Make an optional table when its first row is put. */
static int add_optional_table(struct file_writer *w, enum record_kind k, struct error *err)
{
	int ret = schema_add(w->db.handle, k, err);

	return ret < 0 ? ret : prepare_put(w, k, err);
}

static int insert_row(struct file_writer *w, enum record_kind k, const void *record,
		      struct error *err)
{
	const struct kind *kind = &kinds[k];
	sqlite3_stmt *stmt;
	int ret = begin_transaction(w, err);

	if (ret == 0 && !w->db.put[k])
		ret = add_optional_table(w, k, err);
	if (ret < 0)
		return ret;
	stmt = w->db.put[k];
	for (unsigned int i = 0; i < kind->field_count; i++) {
		const struct field *f = &kind->fields[i];

		if (i == 0 && schema_key_fields(k) == 1 && !field_int(f, record))
			sqlite3_bind_null(stmt, 1);
		else if (f->type == FIELD_TEXT)
			sqlite3_bind_text(stmt, (int)i + 1, field_text(f, record), -1,
					  SQLITE_STATIC);
		else
			sqlite3_bind_int64(stmt, (int)i + 1, (sqlite3_int64)field_int(f, record));
	}
	return run_statement_once(w, stmt, err);
}

static int insert_any_row(void *context, enum record_kind kind, const void *record,
			  struct error *err)
{
	return insert_row(context, kind, record, err);
}

/* Write a checkpoint if one is due, after all slices and edges put so far. */
static int write_checkpoint(struct file_writer *w, struct error *err)
{
	int ret;

	if (!zoom_is_due(w->zoom))
		return 0;
	ret = write_chunk(w, KIND_SLICE, err);
	if (ret == 0)
		ret = write_chunk(w, KIND_EDGE, err);
	return ret < 0 ? ret : zoom_checkpoint(w->zoom, w->last_chunk, err);
}

/* Set stats.full if one more transaction as large as the last would exceed the limit. */
static void check_size_limit(struct file_writer *w)
{
	sqlite3_int64 pages = 0;
	uint64_t bytes;

	if (!w->limit || sql_int(w->db.handle, "PRAGMA page_count", &pages, NULL) < 0)
		return;
	bytes = (uint64_t)pages * PAGE_BYTES;
	w->stats.full = w->stats.full || 2 * bytes > w->limit + w->committed;
	w->committed = bytes;
}

static int delete_old_records(struct file_writer *w, uint64_t now, struct error *err)
{
	uint64_t start = retention_start(w->retention);
	int ret = retention_delete_old(w->retention, now, err);

	if (retention_start(w->retention) != start)
		zoom_forget_base(w->zoom);
	return ret;
}

/*
 * Fail with -EFBIG before the kernel enforces RLIMIT_FSIZE, while there is room for the end of the
 * trace.
 */
static int check_room(struct file_writer *w, struct error *err)
{
	sqlite3_int64 pages = 0;
	int ret;

	if (!w->shortage.file_limit)
		return 0;
	ret = sql_int(w->db.handle, "PRAGMA page_count", &pages, err);
	if (ret == 0 && !shortage_fits(&w->shortage, (uint64_t)pages * PAGE_BYTES))
		ret = error_errno(err, -EFBIG, "cannot write the trace");
	return ret;
}

/*
 * Write everything put so far, so that samples are committed together with the entities that they
 * refer to. now: the current time, ns, to delete the records that are older than the time to keep;
 * 0: delete nothing. Return 0, also if a shortage begins, or a negative errno.
 */
static int commit(struct file_writer *w, uint64_t now, struct error *err)
{
	int ret = pending_rows_write(&w->pending, insert_any_row, w, err);

	for (int k = 0; ret == 0 && k < KIND_COUNT; k++)
		ret = write_chunk(w, (enum record_kind)k, err);
	if (ret == 0)
		ret = write_checkpoint(w, err);
	if (ret == 0 && w->retention)
		ret = retention_end_batch(w->retention, err);
	if (ret == 0 && w->retention && now && w->db.in_transaction)
		ret = delete_old_records(w, now, err);
	if (ret == 0 && w->db.in_transaction)
		ret = check_room(w, err);
	if (ret == 0 && w->db.in_transaction) {
		ret = run_statement_once(w, w->db.commit, err);
		w->db.in_transaction = false;
		w->used = w->used || ret == 0;
		check_size_limit(w);
	}
	if (ret < 0)
		return fail_writer(w, ret, err);
	shortage_committed(&w->shortage);
	w->kept_start = w->retention ? retention_start(w->retention) : 0;
	return 0;
}

static int limit_dirty(struct file_writer *w, struct error *err)
{
	int bytes = 0, highest;

	sqlite3_db_status(w->db.handle, SQLITE_DBSTATUS_CACHE_USED, &bytes, &highest, 0);
	return bytes > DIRTY_BYTES_MAX && !w->db.frozen ? commit(w, 0, err) : 0;
}

/* Check that a record has an id. info and loss need none: 0 becomes the next free id. */
static int check_id(enum record_kind k, const void *record, struct error *err)
{
	if (schema_key_fields(k) > 1 || k == KIND_INFO || k == KIND_LOSS ||
	    field_int(&kinds[k].fields[0], record))
		return 0;
	return error_set(err, -EINVAL, "a %s without an id", kinds[k].name);
}

/*
 * Write the pending rows, and commit if SQLite's cache is too large. This bounds the memory between
 * ticks.
 */
static int flush_pending_rows(struct file_writer *w, struct error *err)
{
	int ret = pending_rows_write(&w->pending, insert_any_row, w, err);

	return ret < 0 ? ret : limit_dirty(w, err);
}

static int write_entity(struct file_writer *w, enum record_kind k, const void *record,
			struct error *err)
{
	int ret = check_id(k, record, err);

	if (ret == 0)
		ret = pending_rows_can_hold(k) ? pending_rows_put(&w->pending, k, record, err)
					       : insert_row(w, k, record, err);
	if (ret > 0)
		ret = flush_pending_rows(w, err);
	if (ret == 0)
		ret = zoom_put(w->zoom, k, record, err);
	return ret < 0 ? fail_writer(w, ret, err) : 0;
}

/* Return the end of a record, which is the second word in all kinds that have an end. */
static uint64_t record_end(enum record_kind kind, const void *record)
{
	const uint64_t *words = record;

	return kind == KIND_SLICE || kind == KIND_EDGE || kind == KIND_SPAN ? words[1] : 0;
}

#define FIRST(kind, field) _Static_assert(offsetof(struct kind, field) == 0, #kind)
#define END_SECOND(kind) _Static_assert(offsetof(struct kind, end) == sizeof(uint64_t), #kind)
FIRST(stack, id);
FIRST(sample, time);
FIRST(slice, time);
FIRST(edge, time);
FIRST(span, time);
FIRST(counter, time);
END_SECOND(slice);
END_SECOND(edge);
END_SECOND(span);

static int start_chunk(struct writer_stream *s, const struct kind *kind, struct error *err)
{
	s->first = UINT64_MAX;
	s->last = 0;
	if (columns_reserve(&s->columns, kind->field_count, CODEC_RECORDS_MAX) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

/*
 * Check that ids of stacks grow: readers find a stack by binary search, first its chunk, then its
 * row.
 */
static int check_growth(struct file_writer *w, const struct stack *s, struct error *err)
{
	if (s->id <= w->last_stack)
		return error_set(err, -EINVAL, "stack %llu comes after stack %llu: ids must grow",
				 (unsigned long long)s->id, (unsigned long long)w->last_stack);
	w->last_stack = s->id;
	return 0;
}

static int put_stream(struct file_writer *w, enum record_kind k, const void *record,
		      struct error *err)
{
	struct writer_stream *s = &w->streams[k];
	uint64_t first = *(const uint64_t *)record, end = record_end(k, record);
	int ret = k == KIND_STACK ? check_growth(w, record, err) : 0;

	if (ret == 0 && !s->columns.count)
		ret = start_chunk(s, &kinds[k], err);
	if (ret < 0)
		return fail_writer(w, ret, err);
	if (first < s->first)
		s->first = first;
	if (first > s->last)
		s->last = first;
	if (end > s->last)
		s->last = end;
	columns_push(&s->columns, record);
	ret = zoom_put(w->zoom, k, record, err);
	if (ret == 0 && s->columns.count < CODEC_RECORDS_MAX)
		return 0;
	if (ret == 0)
		ret = write_chunk(w, k, err);
	if (ret == 0)
		ret = write_checkpoint(w, err);
	return ret < 0 ? fail_writer(w, ret, err) : limit_dirty(w, err);
}

/* Put the host, with the start of the kept part as its start. */
static int put_kept_host(struct file_writer *w, const struct host *h, struct error *err)
{
	struct host kept = *h;

	if (kept.start < retention_start(w->retention))
		kept.start = retention_start(w->retention);
	return write_entity(w, KIND_HOST, &kept, err);
}

static int writer_put(struct sink *sink, enum record_kind kind, const void *record,
		      struct error *err);

/* Put the samples held, at the end of the recording. Later, retention moves its start no more. */
static int put_held_samples(struct file_writer *w, struct error *err)
{
	uint64_t start = w->retention ? retention_start(w->retention) : 0;
	int ret = 0;

	w->ended = true;
	w->open_waits.wanted = false;
	for (size_t i = 0; i < w->open_waits.list.count && ret == 0; i++) {
		struct sample s = w->open_waits.list.items[i];

		held_sample_clip(&s, start, s.time);
		ret = writer_put(&w->sink, KIND_SAMPLE, &s, err);
	}
	w->open_waits.list.count = 0;
	return ret;
}

static int hold_sample(struct file_writer *w, const struct sample *s, struct error *err)
{
	if (w->retention)
		retention_hold_stack(w->retention, s->stack);
	if (vector_push(&w->open_waits.list, *s) < 0)
		return fail_writer(w, error_set(err, -ENOMEM, "out of memory"), err);
	return 0;
}

static int writer_put(struct sink *sink, enum record_kind kind, const void *record,
		      struct error *err)
{
	struct file_writer *w = (struct file_writer *)sink;
	int ret = 0;

	if (w->failed)
		return still_failed(w, err);
	if (held_samples_take(&w->open_waits, kind, record))
		return hold_sample(w, record, err);
	if (kind == KIND_HOST && w->open_waits.wanted && ((const struct host *)record)->end)
		ret = put_held_samples(w, err);
	if (ret < 0)
		return ret;
	ret = shortage_put(&w->shortage, kind, record);
	if (ret == 0 && w->shortage.code)
		return 0;
	if (ret == 0 && w->retention)
		ret = retention_put(w->retention, kind, record, err);
	if (ret < 0)
		return fail_writer(w, ret, err);
	if (w->retention && kind == KIND_HOST)
		return put_kept_host(w, record, err);
	return kinds[kind].storage == STORAGE_STREAM ? put_stream(w, kind, record, err)
						     : write_entity(w, kind, record, err);
}

static int writer_tick(struct sink *sink, uint64_t time, struct error *err)
{
	struct file_writer *w = (struct file_writer *)sink;

	if (w->failed)
		return still_failed(w, err);
	if (w->shortage.code)
		return 0;
	shortage_tick(&w->shortage, time);
	return commit(w, w->ended ? 0 : time, err);
}

static int writer_forget(struct sink *sink, struct error *err)
{
	struct file_writer *w = (struct file_writer *)sink;

	int ret;

	if (!w->retention || w->shortage.code)
		return 0;
	ret = pending_rows_write(&w->pending, insert_any_row, w, err);
	if (ret < 0)
		return fail_writer(w, ret, err);
	return retention_end_epoch(w->retention, err);
}

static void measure_file(struct file_writer *w)
{
	struct stat st;

	if (w->file.path && !stat(w->file.path, &st))
		w->stats.file_bytes = (uint64_t)st.st_size;
}

static void close_database(struct file_writer *w)
{
	struct writer_database *db = &w->db;

	for (int k = 0; k < KIND_COUNT; k++)
		sqlite3_finalize(db->put[k]);
	zoom_free(w->zoom);
	w->zoom = NULL;
	retention_free(w->retention);
	w->retention = NULL;
	sqlite3_finalize(db->put_chunk);
	sqlite3_finalize(db->begin);
	sqlite3_finalize(db->commit);
	/* Leave the exclusive mode, in which a commit keeps the journal: now it is removed. */
	if (db->handle) {
		sqlite3_exec(db->handle, "PRAGMA locking_mode=NORMAL", NULL, NULL, NULL);
		sqlite3_exec(db->handle, "SELECT 1 FROM chunk", NULL, NULL, NULL);
	}
	sqlite3_close(db->handle);
	*db = (struct writer_database){0};
}

static int end_zoom(struct file_writer *w, struct error *err)
{
	int ret = zoom_finish(w->zoom, err);

	return ret < 0 ? fail_writer(w, ret, err) : 0;
}

/* Write to the trace that the recording ran out of room. Return the cause, reported in err. */
static int end_short(struct file_writer *w, struct error *err)
{
	int result = shortage_rows(&w->shortage, w->kept_start, insert_any_row, w, err);

	if (result == 0)
		result = run_statement_once(w, w->db.commit, err);
	if (result < 0)
		abandon_transaction(w);
	w->db.in_transaction = false;
	w->used = w->used || result == 0;
	shortage_report(&w->shortage, w->file.path, err);
	if (result < 0)
		error_hint(err, "the trace does not say so: there was no room for the mark");
	return w->shortage.code;
}

static int writer_finish(struct sink *sink, struct error *err)
{
	struct file_writer *w = (struct file_writer *)sink;
	int ret = w->failed ? still_failed(w, err) : 0;

	if (ret == 0 && !w->shortage.code)
		ret = end_zoom(w, err);
	if (ret == 0 && !w->shortage.code)
		ret = commit(w, 0, err);
	if (ret == 0 && w->shortage.code)
		ret = end_short(w, err);
	w->used = w->used || ret == 0;
	close_database(w);
	measure_file(w);
	return ret;
}

static uint64_t writer_unstored(const struct sink *sink, enum record_kind kind, uint64_t place)
{
	return unstored_count(&((const struct file_writer *)sink)->shortage.unstored, kind, place);
}

static void writer_free(struct sink *sink)
{
	struct file_writer *w = (struct file_writer *)sink;

	shortage_free(&w->shortage);
	close_database(w);
	if (w->file.path && !w->used)
		undo_trace_file(&w->file);
	for (int k = 0; k < KIND_COUNT; k++)
		columns_free(&w->streams[k].columns);
	chunk_encoder_free(&w->encoder);
	vector_free(&w->open_waits.list);
	pending_rows_free(&w->pending);
	free_trace_file(&w->file);
	free(w);
}

static const struct sink_ops writer_ops = {
	.put = writer_put,
	.tick = writer_tick,
	.forget = writer_forget,
	.unstored = writer_unstored,
	.finish = writer_finish,
	.free = writer_free,
};

static int begin_zoom(void *context, struct error *err)
{
	return begin_transaction(context, err);
}

static int prepare_all(struct file_writer *w, struct error *err)
{
	const struct zoom_events zoom = {begin_zoom, w};
	int ret = 0;

	for (int k = 0; ret == 0 && k < KIND_COUNT; k++)
		if (kinds[k].storage == STORAGE_TABLE && !schema_is_optional((enum record_kind)k))
			ret = prepare_put(w, (enum record_kind)k, err);
	if (ret == 0)
		ret = sql_prepare(w->db.handle, &w->db.put_chunk, PUT_CHUNK_SQL, err);
	if (ret == 0)
		ret = sql_prepare(w->db.handle, &w->db.begin, "BEGIN IMMEDIATE", err);
	if (ret == 0)
		ret = sql_prepare(w->db.handle, &w->db.commit, "COMMIT", err);
	return ret < 0 ? ret : zoom_new(&w->zoom, w->db.handle, &zoom, err);
}

static int create_database(struct file_writer *w, struct error *err)
{
	int rc = sqlite3_open_v2(w->file.path, &w->db.handle,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
				 NULL);
	int ret;

	if (rc != SQLITE_OK)
		return sql_fail(w->db.handle, rc, err, "SQLite");
	sqlite3_extended_result_codes(w->db.handle, 1);
	ret = sql_exec(w->db.handle, pragmas, err);
	if (ret == 0)
		ret = sql_exec(w->db.handle, "BEGIN IMMEDIATE", err);
	if (ret == 0)
		ret = schema_create(w->db.handle, err);
	if (ret == 0)
		ret = sql_exec(w->db.handle, "COMMIT", err);
	return ret < 0 ? ret : prepare_all(w, err);
}

int trace_writer(struct sink **out, const char *path, struct error *err)
{
	struct file_writer *w = calloc(1, sizeof(*w));
	int ret;

	if (!w)
		return error_set(err, -ENOMEM, "out of memory");
	w->sink = (struct sink){&writer_ops, WANTS(WANT_ALL & ~WANT(SUM))};
	pending_rows_init(&w->pending);
	ret = create_trace_file(&w->file, path, err);
	if (ret < 0)
		goto end;
	ret = create_database(w, err);
	if (ret < 0)
		error_wrap(err, ret, "cannot write %s", path);
end:
	if (ret < 0)
		writer_free(&w->sink);
	else
		*out = &w->sink;
	return ret;
}

void trace_writer_stats(const struct sink *s, struct trace_stats *out)
{
	struct file_writer *w = (struct file_writer *)s;

	measure_file(w);
	*out = w->stats;
	for (int k = 0; k < KIND_COUNT; k++)
		out->records += w->streams[k].columns.count;
}

struct zoom *trace_writer_zoom(struct sink *s)
{
	return ((struct file_writer *)s)->zoom;
}

static int write_open_slices_chunk(void *context, uint64_t id, const struct columns *slices,
				   struct error *err)
{
	const struct writer_stream s = {
		.columns = *slices,
		.first = columns_at(slices, 0)[0],
		.last = columns_at(slices, 0)[0],
	};

	return insert_chunk(context, KIND_SLICE, id, &s, err);
}

int trace_writer_retain(struct sink *s, uint64_t time, struct error *err)
{
	struct file_writer *w = (struct file_writer *)s;
	const struct retention_events events = {write_open_slices_chunk, w};

	return retention_new(&w->retention, w->db.handle, time, &events, err);
}

void trace_writer_retain_at_most(struct sink *s, uint64_t bytes)
{
	retention_limit(((struct file_writer *)s)->retention, bytes);
}

uint64_t trace_writer_kept_start(const struct sink *s)
{
	return ((const struct file_writer *)s)->kept_start;
}

void trace_writer_limit(struct sink *s, uint64_t bytes)
{
	((struct file_writer *)s)->limit = bytes;
}

void trace_writer_hold_open_waits(struct sink *s)
{
	((struct file_writer *)s)->open_waits.wanted = true;
}

int trace_writer_reserve(struct sink *s, struct error *err)
{
	struct file_writer *w = (struct file_writer *)s;

	return shortage_arm(&w->shortage, w->file.path, err);
}

bool trace_writer_is_short(const struct sink *s)
{
	return ((const struct file_writer *)s)->shortage.code != 0;
}

int trace_writer_freeze(struct sink *s, uint64_t now, struct frozen_trace *out, struct error *err)
{
	struct file_writer *w = (struct file_writer *)s;
	int ret = 0;

	if (w->shortage.code)
		ret = shortage_report(&w->shortage, w->file.path, err);
	if (ret == 0)
		ret = w->failed ? still_failed(w, err) : commit(w, 0, err);
	w->open_waits.end = now;
	w->open_waits.start = w->kept_start;
	*out = (struct frozen_trace){.path = w->file.path, .held = w->open_waits};
	memset(&w->open_waits.list, 0, sizeof(w->open_waits.list));
	w->db.frozen = ret == 0;
	if (ret < 0)
		frozen_trace_free(out);
	return ret;
}

void trace_writer_thaw(struct sink *s)
{
	((struct file_writer *)s)->db.frozen = false;
}
