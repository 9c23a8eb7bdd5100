/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Make hostile or damaged traces from a real one: a list of changes of 12 bytes each (kind of
 * change, table, column, row or value, and a word of 8 bytes) is applied by SQL, to words inside
 * compressed chunks, or to the bytes of the file. The unit test chooses the changes at random; the
 * fuzz target takes them as its input.
 */
#ifndef SKEIN_TESTS_MUTATE_H
#define SKEIN_TESTS_MUTATE_H

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/codec.h"
#include "trace/pack.h"
#include "trace/trace.h"
#include "trace/zoom.h"

/* A recording with -e cpu,sched of a shell, gzip and Python with threads; see tests/fuzz/README.md.
 */
#define MUTATE_REAL "tests/fuzz/real.skein.zst"
#define MUTATE_BYTES_MAX (1 << 20)
#define MUTATION_BYTES 12

#define MUTATE_PRAGMAS "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY"

/*
 * SQL that puts another column in the place of one, which is renamed to "moved". It changes the
 * text of the schema, because ALTER TABLE RENAME checks the views, which read tables that only
 * skein provides. SQLite reads the schema again at the next statement.
 */
#define MUTATE_COLUMN(table, column, definition) \
	"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '\"" column \
	"\"', '\"moved\"') WHERE name = '" table "'; PRAGMA writable_schema = RESET;" \
	"ALTER TABLE \"" table "\" ADD COLUMN \"" column "\" " definition

struct mutation {
	uint8_t what, table, column, row;
	uint64_t word;
};

/* A trace in memory. */
struct mutate_base {
	uint8_t *data;
	size_t size;
};

static inline void mutate_check(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	abort();
}

static inline void mutate_store(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	mutate_check(fd >= 0 && write(fd, data, size) == (ssize_t)size, path);
	close(fd);
}

static inline void mutate_load(const char *path, struct mutate_base *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	mutate_check(fd >= 0 && fstat(fd, &st) == 0, path);
	ret->size = (size_t)st.st_size;
	ret->data = malloc(ret->size ? ret->size : 1);
	mutate_check(ret->data && read(fd, ret->data, ret->size) == st.st_size, path);
	close(fd);
}

/* Load the real trace, and the same trace written with such small blocks that it has a pyramid. */
static inline void mutate_bases(const char *path, struct mutate_base ret[2])
{
	struct mutate_base packed;
	struct source *source = NULL;
	struct trace *t = NULL;
	struct sink *sink = NULL;
	struct error err = {""};
	char *other = NULL;

	mutate_load(MUTATE_REAL, &packed);
	ret[0].data = malloc(MUTATE_BYTES_MAX);
	ret[0].size = ZSTD_decompress(ret[0].data, MUTATE_BYTES_MAX, packed.data, packed.size);
	mutate_check(!ZSTD_isError(ret[0].size), MUTATE_REAL);
	free(packed.data);
	mutate_store(path, ret[0].data, ret[0].size);
	mutate_check(asprintf(&other, "%s.zoomed", path) > 0 && !trace_open(&t, path, &err) &&
			     !trace_source(&source, t, &err) && !trace_writer(&sink, other, &err),
		     err.text);
	zoom_set(trace_writer_zoom(sink), &(struct pyramid_options){.records = 50});
	mutate_check(!pipe_join(source, sink, &err), err.text);
	source_free(source);
	sink_free(sink);
	trace_close(t);
	mutate_load(other, &ret[1]);
	unlink(other);
	unlink(path);
	free(other);
}

/* Find the table and column of a mutation; false if the trace has no table any more. */
static inline bool mutate_place(sqlite3 *db, const struct mutation *m, char table[64],
				char column[64])
{
	sqlite3_stmt *stmt = NULL;
	int tables = 0;
	bool found = false;

	sqlite3_prepare_v2(db,
			   "SELECT m.name, c.name, (SELECT count(*) FROM sqlite_schema WHERE type"
			   " = 'table') FROM (SELECT name FROM sqlite_schema WHERE type = 'table'"
			   " ORDER BY rowid LIMIT 1 OFFSET ?1 % (SELECT max(1, count(*)) FROM"
			   " sqlite_schema WHERE type = 'table')) m, pragma_table_info(m.name) c"
			   " ORDER BY (c.cid + ?2) % 16 LIMIT 1",
			   -1, &stmt, NULL);
	sqlite3_bind_int(stmt, 1, m->table);
	sqlite3_bind_int(stmt, 2, m->column % 16);
	if (stmt && sqlite3_step(stmt) == SQLITE_ROW) {
		snprintf(table, 64, "%s", (const char *)sqlite3_column_text(stmt, 0));
		snprintf(column, 64, "%s", (const char *)sqlite3_column_text(stmt, 1));
		tables = sqlite3_column_int(stmt, 2);
		found = tables > 0;
	}
	sqlite3_finalize(stmt);
	return found;
}

/* Choose a value, as SQL: limits of types, changed values of the trace, large and wrong values. */
static inline void mutate_value(const struct mutation *m, const char *column, char *buf,
				size_t size)
{
	static const char *const values[] = {
		"0",
		"1",
		"-1",
		"9223372036854775807",
		"-9223372036854775808",
		"4294967296",
		"2147483648",
		"65536",
		"NULL",
		"''",
		"'text'",
		"1e300",
		"x'ff00ff'",
		"zeroblob(100000)",
		"replace(hex(zeroblob(50000)), '0', 'long ')",
		"char(27) || '[31m' || char(10) || '</script>'",
	};
	unsigned int at = (unsigned int)(m->word >> 56) % 20;

	if (at < sizeof(values) / sizeof(*values))
		snprintf(buf, size, "%s", values[at]);
	else if (at == 16)
		snprintf(buf, size, "%lld", (long long)m->word);
	else if (at == 17)
		snprintf(buf, size, "\"%s\" + %d", column, (int)(m->word % 2001) - 1000);
	else
		snprintf(buf, size, "\"%s\" * %d", column, (int)(m->word % 1000));
}

/* Make the SQL of a mutation; "" if it is not one by SQL. */
static inline void mutate_sql(sqlite3 *db, const struct mutation *m, char *sql, size_t size)
{
	char table[64], column[64], value[256];

	*sql = '\0';
	if (!mutate_place(db, m, table, column))
		return;
	mutate_value(m, column, value, sizeof(value));
	switch (m->what % 16) {
	case 0:
	case 1:
	case 2: /* a cell */
		snprintf(sql, size,
			 "UPDATE OR IGNORE \"%s\" SET \"%s\" = %s WHERE \"%s\" = (SELECT \"%s\""
			 " FROM \"%s\" LIMIT 1 OFFSET %u %% (SELECT max(1, count(*)) FROM \"%s\"))",
			 table, column, value, column, column, table, m->row, table);
		break;
	case 3: /* a column */
		snprintf(sql, size, "UPDATE OR IGNORE \"%s\" SET \"%s\" = %s", table, column,
			 value);
		break;
	case 4: /* a row */
		snprintf(sql, size,
			 "DELETE FROM \"%s\" WHERE \"%s\" = (SELECT \"%s\" FROM \"%s\" LIMIT 1"
			 " OFFSET %u %% (SELECT max(1, count(*)) FROM \"%s\"))",
			 table, column, column, table, m->row, table);
		break;
	case 5:
		snprintf(sql, size, m->row & 1 ? "DELETE FROM \"%s\"" : "DROP TABLE \"%s\"", table);
		break;
	case 6: /* a column renamed, and a computed one with a large text in its place */
		snprintf(sql, size, MUTATE_COLUMN("%s", "%s", "%s"), column, table, table, column,
			 m->row & 1 ? "AS (printf('%.*c', 30000000, 'x'))"
				    : "TEXT NOT NULL DEFAULT 'a text that every row has'");
		break;
	case 7: /* the text of the schema */
		snprintf(
			sql, size,
			"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = substr(sql, 1,"
			" %u) || char(%u) || substr(sql, %u) WHERE name = '%s'",
			m->row, (unsigned int)(m->word % 127), m->row + 2, table);
		break;
	case 8: /* rows duplicated */
		snprintf(
			sql, size,
			"CREATE TEMP TABLE again AS SELECT * FROM \"%s\"; UPDATE again SET \"%s\" ="
			" \"%s\" + %u; INSERT OR IGNORE INTO \"%s\" SELECT * FROM again;"
			"DROP TABLE again",
			table, column, column, m->row + 1, table);
		break;
	case 9: /* a chunk's data in place of other chunks' or blocks' data */
		snprintf(
			sql, size,
			"UPDATE OR IGNORE %s SET data = (SELECT data FROM chunk ORDER BY id LIMIT 1"
			" OFFSET %u %% (SELECT max(1, count(*)) FROM chunk)) WHERE id %% %u = 0",
			m->table & 1 ? "chunk" : "pyramid", m->row, m->column % 5 + 1);
		break;
	default:
		break;
	}
}

/* Change words inside a chunk, and pack it again, so that its checksum is right. */
static inline void mutate_chunk(sqlite3 *db, const struct mutation *m)
{
	sqlite3_stmt *get = NULL, *put = NULL;
	struct codec codec = {0};
	struct columns c = {0};
	struct error err;
	struct codec_blob blob = {0};
	int kind = 0;

	sqlite3_prepare_v2(db,
			   "SELECT id, kind, records, data FROM chunk ORDER BY id LIMIT 1 OFFSET ?1"
			   " % (SELECT max(1, count(*)) FROM chunk)",
			   -1, &get, NULL);
	sqlite3_bind_int(get, 1, m->table);
	if (!get || sqlite3_step(get) != SQLITE_ROW || !sqlite3_column_text(get, 1))
		goto out;
	while (kind < KIND_COUNT &&
	       strcmp(kinds[kind].name, (const char *)sqlite3_column_text(get, 1)))
		kind++;
	blob.data = sqlite3_column_blob(get, 3);
	blob.size = (size_t)sqlite3_column_bytes(get, 3);
	blob.records = (uint64_t)sqlite3_column_int64(get, 2);
	if (kind == KIND_COUNT ||
	    codec_decode(&codec, &blob, (struct codec_choice){kinds[kind].field_count, ~0ull}, &c,
			 &err) < 0 ||
	    !c.count)
		goto out;
	for (uint32_t row = m->row; row < c.count; row += m->what & 0x40 ? 1 : c.count) {
		uint64_t *words = columns_at(&c, m->column % c.width);

		words[row] = m->what & 0x80 ? words[row] + m->word : m->word >> (m->word % 61);
	}
	if (codec_encode(&codec, (enum record_kind)kind, &c, &blob, &err) < 0 ||
	    sqlite3_prepare_v2(db, "UPDATE chunk SET data = ? WHERE id = ?", -1, &put, NULL))
		goto out;
	sqlite3_bind_blob64(put, 1, blob.data, blob.size, SQLITE_STATIC);
	sqlite3_bind_int64(put, 2, sqlite3_column_int64(get, 0));
	sqlite3_step(put);
out:
	sqlite3_finalize(get);
	sqlite3_finalize(put);
	columns_free(&c);
	codec_free(&codec);
}

/* Change a byte inside the blob of a checkpoint or block, and pack it again. */
static inline void mutate_blob(sqlite3 *db, const struct mutation *m)
{
	static const char *const places[][2] = {
		{"pyramid", "data"}, {"checkpoint", "lanes"}, {"checkpoint", "slices"}};
	const char *const *place = places[m->column % 3];
	struct bytes content = {0}, packed = {0};
	sqlite3_stmt *get = NULL, *put = NULL;
	struct packer p = {0};
	struct blob_reader in;
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "SELECT id, \"%s\" FROM %s ORDER BY id LIMIT 1 OFFSET %u %% "
		 "(SELECT max(1, count(*)) FROM %s)",
		 place[1], place[0], m->table, place[0]);
	sqlite3_prepare_v2(db, sql, -1, &get, NULL);
	snprintf(sql, sizeof(sql), "UPDATE %s SET \"%s\" = ? WHERE id = ?", place[0], place[1]);
	sqlite3_prepare_v2(db, sql, -1, &put, NULL);
	if (!get || !put || sqlite3_step(get) != SQLITE_ROW ||
	    unpack_bytes(&p, sqlite3_column_blob(get, 1), (size_t)sqlite3_column_bytes(get, 1),
			 MUTATE_BYTES_MAX, &in) < 0)
		goto out;
	bytes_add(&content, in.at, (size_t)(in.end - in.at));
	if (content.size)
		content.data[(m->row | m->word << 8) % content.size] = (uint8_t)(m->word >> 40);
	if (pack_bytes(&p, &content, &packed, NULL) < 0)
		goto out;
	sqlite3_bind_blob64(put, 1, packed.data, packed.size, SQLITE_STATIC);
	sqlite3_bind_int64(put, 2, sqlite3_column_int64(get, 0));
	sqlite3_step(put);
out:
	sqlite3_finalize(get);
	sqlite3_finalize(put);
	bytes_free(&content);
	bytes_free(&packed);
	packer_free(&p);
}

/* Change the file itself: overwrite some bytes, copy a page over another, or cut off its end. */
static inline void mutate_bytes(const char *path, const struct mutation *m)
{
	struct mutate_base file;
	size_t at, from, page = 1024;

	mutate_load(path, &file);
	if (file.size <= 2 * page)
		goto out;
	at = (m->table | (size_t)m->column << 8 | (size_t)m->row << 16) % (file.size - 8);
	from = m->word % (file.size / page) * page;
	if (m->what % 16 == 13)
		memcpy(file.data + at, &m->word, m->word % 8 + 1);
	else if (m->what % 16 == 14)
		memcpy(file.data + at / page % (file.size / page) * page, file.data + from, page);
	mutate_store(path, file.data, m->what % 16 == 15 ? at : file.size);
out:
	free(file.data);
}

static inline void mutate_once(const char *path, const struct mutation *m)
{
	unsigned int what = m->what % 16;
	sqlite3 *db = NULL;
	char sql[1024];

	if (what >= 13) {
		mutate_bytes(path, m);
		return;
	}
	if (sqlite3_open(path, &db) == SQLITE_OK) {
		sqlite3_exec(db, MUTATE_PRAGMAS, NULL, NULL, NULL);
		sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MUTATE_BYTES_MAX);
		mutate_sql(db, m, sql, sizeof(sql));
		if (what == 10 || what == 11)
			mutate_chunk(db, m);
		else if (what == 12)
			mutate_blob(db, m);
		else
			sqlite3_exec(db, sql, NULL, NULL, NULL);
	}
	sqlite3_close(db);
}

/* Write the base to path and apply the changes. The file stays below about MUTATE_BYTES_MAX. */
static inline void mutate(const char *path, const struct mutate_base *base, const uint8_t *data,
			  size_t size)
{
	struct mutation m;

	mutate_store(path, base->data, base->size);
	for (; size >= MUTATION_BYTES; data += MUTATION_BYTES, size -= MUTATION_BYTES) {
		m = (struct mutation){data[0], data[1], data[2], data[3], 0};
		memcpy(&m.word, data + 4, sizeof(m.word));
		mutate_once(path, &m);
	}
}

#endif
