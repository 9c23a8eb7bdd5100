// SPDX-License-Identifier: Apache-2.0
/*
 * Delete records that are older than the time to keep. Records refer to the same stacks, frames,
 * functions and names again and again, so these are deleted by epochs: sink_forget() ends an epoch,
 * after which no record refers to the stacks and names put before. The stacks, frames, functions
 * and names of the epoch are deleted when the last batch that refers to them has been deleted.
 */
#include "trace/retention.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/open_slices.h"
#include "base/vector.h"
#include "trace/old_rows.h"
#include "trace/open.h"
#include "trace/sql.h"
#include "trace/trace_timeline.h"

#define LEAST_TIME 1000000000ULL /* ns that stay even if they take more than the limit */

/* All records put between two commits. */
struct retention_batch {
	uint64_t chunk; /* chunk.id of the last chunk */
	uint64_t until; /* largest time of all records so far (slice_order(), span_order()), ns */
	uint64_t end; /* largest time or end of the batch's records, ns */
	uint64_t stack; /* smallest stack.id to which its records refer; UINT64_MAX: none */
	uint64_t name; /* the same of name.id */
};

/* The largest ids put before the source began a new epoch. */
struct retention_epoch {
	uint64_t stack, frame, function, name;
};

struct retention {
	sqlite3 *db;
	struct retention_events events;
	uint64_t time; /* time to keep, ns */
	uint64_t limit; /* bytes in use beyond which less is kept; 0: none */
	uint64_t less; /* by so many ns is the time to keep shorter now, for the limit */
	uint64_t start; /* start of the kept part, ns; 0: nothing was deleted */
	uint64_t dropped; /* chunks up to this chunk.id were deleted, except those of stacks */
	struct retention_batch batch; /* the current batch */
	struct retention_epoch last; /* largest ids put so far */
	VECTOR(struct retention_batch) batches; /* ended batches that are not deleted, in order */
	VECTOR(struct retention_epoch) epochs; /* ended epochs that are not deleted, in order */
	struct open_slices *opens; /* open states of threads at the end of the deleted part */
	struct old_rows *rows;
	struct columns slices;
};

static const struct retention_batch no_batch = {.stack = UINT64_MAX, .name = UINT64_MAX};

int retention_new(struct retention **out, sqlite3 *db, uint64_t time,
		  const struct retention_events *events, struct error *err)
{
	struct retention *k = calloc(1, sizeof(*k));
	int ret;

	if (!k)
		return error_set(err, -ENOMEM, "out of memory");
	k->db = db;
	k->time = time;
	k->events = *events;
	k->batch = no_batch;
	ret = open_slices_new(&k->opens, err);
	if (ret == 0)
		ret = old_rows_new(&k->rows, db, err);
	if (ret < 0)
		retention_free(k);
	else
		*out = k;
	return ret;
}

void retention_limit(struct retention *k, uint64_t bytes)
{
	k->limit = bytes;
}

void retention_free(struct retention *k)
{
	if (!k)
		return;
	open_slices_free(k->opens);
	old_rows_free(k->rows);
	vector_free(&k->batches);
	vector_free(&k->epochs);
	columns_free(&k->slices);
	free(k);
}

uint64_t retention_start(const struct retention *k)
{
	return k->start;
}

static void note_record_time(struct retention *k, uint64_t order, uint64_t end)
{
	end = end > order ? end : order;
	if (order > k->batch.until)
		k->batch.until = order;
	if (end > k->batch.end)
		k->batch.end = end;
}

static void note_largest_id(uint64_t *last, uint64_t id)
{
	if (id > *last)
		*last = id;
}

static void note_stack(struct retention *k, uint64_t stack)
{
	if (stack && stack < k->batch.stack)
		k->batch.stack = stack;
}

static void note_name(struct retention *k, uint64_t name)
{
	if (name && name < k->batch.name)
		k->batch.name = name;
}

static void note_record(struct retention *k, enum record_kind kind, const void *record)
{
	const struct sample *sample = record;
	const struct slice *slice = record;
	const struct edge *edge = record;
	const struct span *span = record;
	const struct counter *counter = record;

	switch (kind) {
	case KIND_SAMPLE:
		note_record_time(k, sample->time, sample->time);
		note_stack(k, sample->stack);
		break;
	case KIND_SLICE:
		note_record_time(k, slice_order(slice), slice->end);
		break;
	case KIND_EDGE:
		note_record_time(k, edge->time, edge->end);
		note_stack(k, edge->stack);
		break;
	case KIND_SPAN:
		note_record_time(k, span_order(span), span->end);
		note_name(k, span->name);
		note_name(k, span->args);
		break;
	case KIND_COUNTER:
		note_record_time(k, counter->time, 0);
		note_name(k, counter->name);
		break;
	default:
		break;
	}
}

int retention_put(struct retention *k, enum record_kind kind, const void *record, struct error *err)
{
	switch (kind) {
	case KIND_STACK:
		note_largest_id(&k->last.stack, ((const struct stack *)record)->id);
		return 0;
	case KIND_FRAME:
		note_largest_id(&k->last.frame, ((const struct frame *)record)->id);
		return 0;
	case KIND_FUNCTION:
		note_largest_id(&k->last.function, ((const struct function *)record)->id);
		return 0;
	case KIND_NAME:
		note_largest_id(&k->last.name, ((const struct name *)record)->id);
		return 0;
	case KIND_INLINED:
	case KIND_PROCESS:
	case KIND_LOSS:
		old_rows_put(k->rows, kind, record);
		return 0;
	case KIND_LANE:
	case KIND_THREAD:
		old_rows_put(k->rows, kind, record);
		return open_slices_put(k->opens, kind, record, err);
	default:
		note_record(k, kind, record);
		return 0;
	}
}

void retention_hold_stack(struct retention *k, uint64_t stack)
{
	note_stack(k, stack);
}

int retention_end_epoch(struct retention *k, struct error *err)
{
	return vector_push(&k->epochs, k->last) < 0 ? error_set(err, -ENOMEM, "out of memory") : 0;
}

void retention_add_chunk(struct retention *k, uint64_t id)
{
	k->batch.chunk = id;
}

int retention_end_batch(struct retention *k, struct error *err)
{
	struct retention_batch b = k->batch;

	if (!b.chunk)
		return 0;
	if (k->batches.count && k->batches.items[k->batches.count - 1].until > b.until)
		b.until = k->batches.items[k->batches.count - 1].until;
	if (vector_push(&k->batches, b) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	k->batch = no_batch;
	return 0;
}

/*
 * Return how many of the first batches are too old to be kept. A batch with a record that ends long
 * after the others, such as a gap, is kept longer, but at most for twice the time to keep, because
 * a wrong clock may set any end. The last batch is always kept.
 */
static size_t count_old_batches(const struct retention *k, uint64_t now)
{
	uint64_t time = k->time - k->less, before = now > time ? now - time : 0;
	uint64_t long_before = before > time ? before - time : 0;
	size_t count = 0;

	while (count + 1 < k->batches.count && (k->batches.items[count].end < before ||
						k->batches.items[count].until < long_before))
		count++;
	return count;
}

static int delete_chunks(struct retention *k, uint64_t until, struct error *err)
{
	char *sql = sqlite3_mprintf("DELETE FROM chunk WHERE id <= %lld AND kind <> %Q",
				    (sqlite3_int64)until, kinds[KIND_STACK].name);
	int ret = sql ? sql_exec(k->db, sql, err) : error_set(err, -ENOMEM, "out of memory");

	sqlite3_free(sql);
	return ret;
}

/*
 * Set *id to the greatest unused chunk.id below *id; the remaining chunks of stacks still use some.
 * Return 0 or a negative errno.
 */
static int find_free_chunk_id(struct retention *k, uint64_t *id, struct error *err)
{
	sqlite3_int64 taken = 1;
	int ret = 0;

	while (taken && ret == 0) {
		char *sql;

		if (!--*id)
			return error_set(err, -EOVERFLOW,
					 "more threads than the trace has room for");
		sql = sqlite3_mprintf("SELECT count(*) FROM chunk WHERE id = %lld",
				      (sqlite3_int64)*id);
		ret = sql ? sql_int(k->db, sql, &taken, err)
			  : error_set(err, -ENOMEM, "out of memory");
		sqlite3_free(sql);
	}
	return ret;
}

/*
 * Write the open slices of threads in place of the deleted slices, in chunks with ids up to last,
 * so that they come before the slices that are kept.
 */
static int write_open_slices(struct retention *k, const struct slice *opens, size_t count,
			     uint64_t last, struct error *err)
{
	uint64_t id = last + 1;
	int ret = 0;

	for (size_t i = 0, part; i < count && ret == 0; i += part) {
		part = count - i < CODEC_RECORDS_MAX ? count - i : CODEC_RECORDS_MAX;
		if (columns_reserve(&k->slices, kinds[KIND_SLICE].field_count, CODEC_RECORDS_MAX) <
		    0)
			return error_set(err, -ENOMEM, "out of memory");
		for (size_t n = i; n < i + part; n++)
			columns_push(&k->slices, &opens[n]);
		ret = find_free_chunk_id(k, &id, err);
		if (ret == 0)
			ret = k->events.write(k->events.context, id, &k->slices, err);
	}
	return ret;
}

/*
 * Read the slices and edges of the chunks up to chunk.id until, which will be deleted, into
 * k->opens: the states of threads after them.
 */
static int replay_old_slices(struct retention *k, uint64_t until, struct error *err)
{
	struct trace view = {.db = k->db, .path = "the trace", .dense = UINT64_MAX};
	const struct trace_timeline_query q = {
		.to = UINT64_MAX,
		.after = k->dropped,
		.until = until,
		.kinds = WANT(SLICE) | WANT(EDGE),
	};
	struct trace_timeline *l = NULL;
	enum record_kind kind;
	const void *record;
	int ret = trace_timeline_open(&l, &view, &q, err);

	while (ret == 0 && (ret = trace_timeline_next(l, &kind, &record, err)) > 0)
		ret = open_slices_put(k->opens, kind, record, err);
	trace_timeline_close(l);
	return ret;
}

static int replace_slices(struct retention *k, const struct retention_batch *last,
			  struct error *err)
{
	const struct slice *opens;
	size_t count = 0;
	int ret = replay_old_slices(k, last->chunk, err);

	if (ret < 0)
		return ret;
	opens = open_slices_at(k->opens, last->until, &count);
	if (!opens)
		return error_set(err, -ENOMEM, "out of memory");
	ret = delete_chunks(k, last->chunk, err);
	return ret < 0 ? ret : write_open_slices(k, opens, count, last->chunk, err);
}

/* Return how many of the first epochs have no stack and no name to which a kept record refers. */
static size_t count_unused_epochs(const struct retention *k)
{
	uint64_t stack = k->batch.stack, name = k->batch.name;
	size_t count = 0;

	for (size_t i = 0; i < k->batches.count; i++) {
		const struct retention_batch *b = &k->batches.items[i];

		stack = b->stack < stack ? b->stack : stack;
		name = b->name < name ? b->name : name;
	}
	while (count < k->epochs.count && k->epochs.items[count].stack < stack &&
	       k->epochs.items[count].name < name)
		count++;
	return count;
}

static int delete_stacks(struct retention *k, struct error *err)
{
	size_t over = count_unused_epochs(k), left = k->epochs.count - over;
	struct retention_epoch last;

	if (!over)
		return 0;
	last = k->epochs.items[over - 1];
	for (size_t i = 0; i < left; i++)
		k->epochs.items[i] = k->epochs.items[i + over];
	k->epochs.count = left;
	return old_rows_stacks(
		k->rows, &(struct old_ids){last.stack, last.frame, last.function, last.name}, err);
}

/* Shorten the time to keep while too much is in use, or lengthen it again. */
static int follow_limit(struct retention *k, struct error *err)
{
	const uint64_t step = k->time / 8, most = k->time > LEAST_TIME ? k->time - LEAST_TIME : 0;
	sqlite3_int64 pages = 0, unused = 0, size = 0;
	int ret = k->limit ? sql_int(k->db, "PRAGMA page_count", &pages, err) : 0;

	if (!k->limit || ret)
		return ret;
	ret = sql_int(k->db, "PRAGMA freelist_count", &unused, err);
	if (!ret)
		ret = sql_int(k->db, "PRAGMA page_size", &size, err);
	if (ret)
		return ret;
	if ((uint64_t)((pages - unused) * size) > k->limit)
		k->less = k->less + step < most ? k->less + step : most;
	else if ((uint64_t)((pages - unused) * size) < k->limit / 2)
		k->less -= k->less < step ? k->less : step;
	return 0;
}

int retention_delete_old(struct retention *k, uint64_t now, struct error *err)
{
	size_t old, left;
	struct retention_batch last;
	int ret = follow_limit(k, err);

	if (ret)
		return ret;
	old = count_old_batches(k, now);
	left = k->batches.count - old;
	if (!old)
		return 0;
	last = k->batches.items[old - 1];
	ret = replace_slices(k, &last, err);
	for (size_t i = 0; i < left; i++)
		k->batches.items[i] = k->batches.items[i + old];
	k->batches.count = left;
	k->dropped = last.chunk;
	k->start = last.until > k->start ? last.until : k->start;
	if (ret == 0)
		ret = delete_stacks(k, err);
	if (ret == 0)
		ret = old_rows_delete(k->rows, k->start, k->time, k->dropped, err);
	return ret;
}
