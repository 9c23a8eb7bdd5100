// SPDX-License-Identifier: Apache-2.0
/* Read one stream chunk by chunk, between two checkpoints. */
#include "trace/render_stream.h"

#include <errno.h>

#define CHUNKS_SQL \
	"SELECT records, data FROM main.chunk" \
	" WHERE id > ?1 AND id <= ?2 AND kind = ?3 AND time < ?4 ORDER BY id"

static sqlite3_int64 signed_of(uint64_t v)
{
	return v > INT64_MAX ? INT64_MAX : (sqlite3_int64)v;
}

int render_stream_open(struct render_stream *l, struct trace *t, enum record_kind kind,
		       const struct render_range *range, struct error *err)
{
	int ret;

	l->trace = t;
	l->kind = kind;
	l->next = l->count = 0;
	l->end = !trace_has(t, "chunk", "data");
	if (l->end)
		return 0;
	if (!l->chunks) {
		ret = sql_prepare(t->db, &l->chunks, CHUNKS_SQL, err);
		if (ret < 0)
			return ret;
	}
	sqlite3_reset(l->chunks);
	sqlite3_bind_int64(l->chunks, 1, signed_of(range->after));
	sqlite3_bind_int64(l->chunks, 2, signed_of(range->last));
	sqlite3_bind_text(l->chunks, 3, kinds[kind].name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(l->chunks, 4, signed_of(range->end));
	return 0;
}

void render_stream_close(struct render_stream *l)
{
	sqlite3_finalize(l->chunks);
	codec_free(&l->codec);
	columns_free(&l->columns);
	sorter_free(&l->sorter);
	*l = (struct render_stream){0};
}

int render_stream_next_chunk(struct render_stream *l, uint64_t mask, struct error *err)
{
	int rc, ret = -EBADMSG;

	while (!l->end && ret == -EBADMSG) {
		rc = sqlite3_step(l->chunks);
		l->end = rc != SQLITE_ROW;
		l->trace->left_out += (uint64_t)sql_is_damage(rc);
		if (rc == SQLITE_DONE || sql_is_damage(rc))
			break;
		if (l->end)
			return sql_fail(l->trace->db, rc, err, l->trace->path);
		ret = codec_decode(&l->codec, sqlite3_column_blob(l->chunks, 1),
				   (size_t)sqlite3_column_bytes(l->chunks, 1),
				   (uint64_t)sqlite3_column_int64(l->chunks, 0),
				   kinds[l->kind].field_count, mask, &l->columns, err);
		l->trace->left_out += ret == -EBADMSG;
	}
	l->next = l->count = 0;
	if (l->end)
		return 0;
	if (ret == 0 && sorter_reserve(&l->sorter, l->columns.count) < 0)
		ret = error_set(err, -ENOMEM, "out of memory");
	return ret < 0 ? ret : 1;
}
