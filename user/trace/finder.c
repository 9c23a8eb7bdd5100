// SPDX-License-Identifier: Apache-2.0
/*
 * Find a record by two binary searches: for the chunk by its time and end (ids of stacks), and for
 * the row in the chunk's first column. In a file with wrong bounds or unsorted ids, the worst case
 * is that a record is not found.
 */
#include "trace/finder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/vector.h"

#define DECODED_BYTES_MAX (256u << 20) /* bytes; 11 million stacks */

struct finder_chunk {
	sqlite3_int64 chunk, first, last; /* ids */
	struct columns columns; /* capacity 0: not decoded */
	/* used since the last pass of the clock algorithm (see evict_finder_chunks()) */
	bool recently_used;
	bool bad; /* the chunk cannot be decoded */
	sqlite3_int64 records; /* records that a bad chunk claims to have */
	/* the last query for which the damaged chunk was counted */
	uint64_t damage_query;
};

struct finder {
	sqlite3 *db;
	char *database; /* name of the database in the connection */
	const struct kind *kind;
	struct stream_damage *damage;
	sqlite3_stmt *data; /* reads one chunk; NULL until the first use */
	struct codec codec;
	VECTOR(struct finder_chunk) chunks; /* in order of first */
	size_t bytes; /* bytes of decoded columns */
	size_t hand;
};

struct finder *finder_new(sqlite3 *db, const char *database, const struct kind *kind,
			  struct stream_damage *damage)
{
	struct finder *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->db = db;
	f->database = sqlite3_mprintf("%s", database);
	f->kind = kind;
	f->damage = damage;
	if (f->database)
		return f;
	free(f);
	return NULL;
}

void finder_free(struct finder *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->chunks.count; i++)
		columns_free(&f->chunks.items[i].columns);
	vector_free(&f->chunks);
	sqlite3_finalize(f->data);
	codec_free(&f->codec);
	sqlite3_free(f->database);
	free(f);
}

/* Prepare a statement. format has one %w, for the name of the database. */
static int prepare_finder_sql(struct finder *f, const char *format, sqlite3_stmt **out)
{
	char *sql = sqlite3_mprintf(format, f->database);
	int ret = sql ? sqlite3_prepare_v3(f->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL)
		      : SQLITE_NOMEM;

	sqlite3_free(sql);
	return ret;
}

static int list_finder_chunks(struct finder *f)
{
	sqlite3_stmt *stmt = NULL;
	int ret = prepare_finder_sql(f,
				     "SELECT id, time, \"end\" FROM \"%w\".chunk WHERE kind = ?1"
				     " ORDER BY time",
				     &stmt);

	sqlite3_bind_text(stmt, 1, f->kind->name, -1, SQLITE_STATIC);
	f->chunks.count = 0;
	while (ret == SQLITE_OK && (ret = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct finder_chunk p = {.chunk = sqlite3_column_int64(stmt, 0),
					 .first = sqlite3_column_int64(stmt, 1),
					 .last = sqlite3_column_int64(stmt, 2)};

		ret = vector_push(&f->chunks, p) < 0 ? SQLITE_NOMEM : SQLITE_OK;
	}
	sqlite3_finalize(stmt);
	return ret == SQLITE_DONE ? SQLITE_OK : ret;
}

static int prepare_finder(struct finder *f)
{
	int ret = f->data ? SQLITE_OK : list_finder_chunks(f);

	if (ret != SQLITE_OK || f->data)
		return ret;
	return prepare_finder_sql(f, "SELECT records, data FROM \"%w\".chunk WHERE id = ?1",
				  &f->data);
}

static size_t decoded_bytes(const struct finder_chunk *p)
{
	return sizeof(*p->columns.words) * p->columns.width * p->columns.capacity;
}

/*
 * Evict decoded chunks by the clock algorithm: chunks that were not used since the last pass over
 * all chunks.
 */
static void evict_finder_chunks(struct finder *f)
{
	while (f->bytes > DECODED_BYTES_MAX) {
		struct finder_chunk *p = &f->chunks.items[f->hand++ % f->chunks.count];

		if (!p->recently_used) {
			f->bytes -= decoded_bytes(p);
			columns_free(&p->columns);
		}
		p->recently_used = false;
	}
}

/* Count a damaged chunk once per query, or return an error if damage is refused. */
static int report_chunk_damage(struct finder *f, struct finder_chunk *p)
{
	if (f->damage->refuse)
		return SQLITE_CORRUPT_VTAB;
	if (p->damage_query != f->damage->query)
		stream_damage_add(f->damage, p->records);
	p->damage_query = f->damage->query;
	return SQLITE_OK;
}

static int decode_finder_chunk(struct finder *f, struct finder_chunk *p)
{
	const struct codec_choice choice = {f->kind->field_count, UINT64_MAX};
	struct codec_blob blob = {0};
	int rc, result = -EBADMSG;

	evict_finder_chunks(f);
	sqlite3_bind_int64(f->data, 1, p->chunk);
	rc = sqlite3_step(f->data);
	if (rc == SQLITE_ROW) {
		blob = (struct codec_blob){
			.data = sqlite3_column_blob(f->data, 1),
			.size = (size_t)sqlite3_column_bytes(f->data, 1),
			.records = (uint64_t)sqlite3_column_int64(f->data, 0),
		};
		result = codec_decode(&f->codec, &blob, choice, &p->columns, NULL);
		rc = SQLITE_DONE;
	}
	sqlite3_reset(f->data);
	if (rc != SQLITE_DONE)
		return rc;
	if (result == -ENOMEM)
		return SQLITE_NOMEM;
	if (result < 0) {
		columns_free(&p->columns);
		p->bad = true;
		p->records = (sqlite3_int64)blob.records;
	}
	f->bytes += decoded_bytes(p);
	return SQLITE_OK;
}

/* Return the chunk whose range of ids contains id, or NULL. */
static struct finder_chunk *find_chunk_of_id(struct finder *f, sqlite3_int64 id)
{
	size_t low = 0, high = f->chunks.count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (f->chunks.items[middle].first <= id)
			low = middle + 1;
		else
			high = middle;
	}
	return low && f->chunks.items[low - 1].last >= id ? &f->chunks.items[low - 1] : NULL;
}

static bool find_row_of_id(const struct columns *c, uint64_t id, uint32_t *out)
{
	const uint64_t *ids = columns_at(c, 0);
	uint32_t low = 0, high = c->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (ids[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	*out = low;
	return low < c->count && ids[low] == id;
}

int finder_find(struct finder *f, sqlite3_int64 id, struct found_row *out)
{
	int ret = prepare_finder(f);
	struct finder_chunk *p;
	uint32_t row;

	*out = (struct found_row){0};
	if (ret != SQLITE_OK)
		return ret;
	p = find_chunk_of_id(f, id);
	if (p && !p->bad && !p->columns.capacity)
		ret = decode_finder_chunk(f, p);
	if (ret != SQLITE_OK || !p)
		return ret;
	p->recently_used = true;
	if (p->bad)
		return report_chunk_damage(f, p);
	if (find_row_of_id(&p->columns, (uint64_t)id, &row))
		*out = (struct found_row){&p->columns, row, p->chunk};
	return SQLITE_OK;
}
