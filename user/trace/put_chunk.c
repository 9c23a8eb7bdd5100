// SPDX-License-Identifier: Apache-2.0
/* Insert the records of a stream into a trace, as a chunk. */
#include "trace/put_chunk.h"

#include <errno.h>
#include <stddef.h>

#include "base/record.h"
#include "trace/sql.h"

void chunk_encoder_free(struct chunk_encoder *e)
{
	codec_free(&e->codec);
	sorter_free(&e->sorter);
	columns_free(&e->sorted);
}

#define COLUMN(kind, field) ((int)(offsetof(struct kind, field) / sizeof(uint64_t)))

/*
 * Return the column by which a chunk is sorted: chunks are smaller when the records of one lane are
 * adjacent. -1: keep the order of the records.
 */
static int lane_column(enum record_kind kind)
{
	switch (kind) {
	case KIND_SLICE:
		return COLUMN(slice, lane);
	case KIND_EDGE:
		return COLUMN(edge, from);
	default:
		return -1;
	}
}

static int encode_stream(struct chunk_encoder *e, enum record_kind kind,
			 const struct columns *columns, struct codec_blob *out, struct error *err)
{
	int lane = lane_column(kind);

	if (lane >= 0) {
		if (sort_columns(&e->sorter, columns, (unsigned int)lane, &e->sorted) < 0)
			return error_set(err, -ENOMEM, "out of memory");
		columns = &e->sorted;
	}
	return codec_encode(&e->codec, kind, columns, out, err);
}

int put_chunk(sqlite3_stmt *stmt, struct chunk_encoder *e, const struct new_chunk *chunk,
	      uint64_t *bytes, struct error *err)
{
	struct codec_blob blob;
	int ret = encode_stream(e, chunk->kind, chunk->columns, &blob, err), rc;

	if (ret < 0)
		return ret;
	sqlite3_bind_text(stmt, 1, kinds[chunk->kind].name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)chunk->first);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)chunk->last);
	sqlite3_bind_int64(stmt, 4, chunk->columns->count);
	sqlite3_bind_int64(stmt, 5, (sqlite3_int64)blob.raw_size);
	sqlite3_bind_blob64(stmt, 6, blob.data, blob.size, SQLITE_STATIC);
	if (chunk->id)
		sqlite3_bind_int64(stmt, 7, (sqlite3_int64)chunk->id);
	else
		sqlite3_bind_null(stmt, 7);
	*bytes += blob.size;
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_DONE)
		ret = sql_fail(sqlite3_db_handle(stmt), rc, err, "cannot write the trace");
	sqlite3_reset(stmt);
	return ret;
}
