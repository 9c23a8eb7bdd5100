// SPDX-License-Identifier: Apache-2.0
/* Write samples of waits that have not ended into a copy of a trace. */
#include "trace/held_samples.h"

#include <errno.h>

#include "trace/put_chunk.h"
#include "trace/sql.h"

void held_sample_clip(struct sample *s, uint64_t start, uint64_t end)
{
	uint64_t begin = s->time - s->length;

	if (begin < start)
		begin = start;
	s->time = end;
	s->length = s->weight = end > begin ? end - begin : 0;
}

/* Memory and statement for writing chunks. */
struct chunk_writer {
	struct columns columns;
	struct chunk_encoder encoder;
	sqlite3_stmt *stmt;
};

/* Write at most as many samples as fit into a chunk, from index at on. */
static int write_part(const struct held_samples *h, size_t at, struct chunk_writer *w,
		      struct error *err)
{
	struct columns *columns = &w->columns;
	const struct new_chunk chunk = {
		.kind = KIND_SAMPLE, .first = h->end, .last = h->end, .columns = columns};
	uint64_t bytes = 0;

	if (columns_reserve(columns, kinds[KIND_SAMPLE].field_count, CODEC_RECORDS_MAX) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	for (; at < h->list.count && columns->count < CODEC_RECORDS_MAX; at++) {
		struct sample s = h->list.items[at];

		held_sample_clip(&s, h->start, h->end);
		columns_push(columns, &s);
	}
	return put_chunk(w->stmt, &w->encoder, &chunk, &bytes, err);
}

int held_samples_write(const struct held_samples *h, sqlite3 *to, struct error *err)
{
	struct chunk_writer w = {0};
	int ret = h->list.count ? sql_prepare(to, &w.stmt, PUT_CHUNK_SQL, err) : 0;

	for (size_t at = 0; at < h->list.count && ret == 0; at += CODEC_RECORDS_MAX)
		ret = write_part(h, at, &w, err);
	sqlite3_finalize(w.stmt);
	chunk_encoder_free(&w.encoder);
	columns_free(&w.columns);
	return ret;
}
