// SPDX-License-Identifier: Apache-2.0
/*
 * Read traces that are damaged, foreign, newer or hostile: the reader must report so, and read as
 * much as possible.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "suite.h"
#include "synthetic.h"
#include "trace/merge.h"
#include "trace/trace.h"

static const char path[] = "bad.skein", good[] = "good.skein";

#define SCHEMA_PAGES 10 /* most pages that the list of tables takes */
#define FIRST_DATA (64 * 4096) /* after the list of tables and the empty tables */

static const uint64_t seconds = 4, rate = 1500;

static void write_trace(void)
{
	struct error err = {0};
	struct synthetic s;
	struct sink *w;

	ck_assert_msg(!trace_writer(&w, good, &err), "%s", err.text);
	ck_assert_int_eq(synthetic_begin(&s, w), 0);
	for (uint64_t i = 0; i < seconds; i++) {
		ck_assert_int_eq(synthetic_samples(&s, rate, 400), 0);
		ck_assert_int_eq(sink_tick(w, s.time, &err), 0);
	}
	ck_assert_msg(!w->ops->finish(w, &err), "%s", err.text);
	sink_free(w);
}

static char *load(const char *name, size_t *size)
{
	struct stat st;
	int fd = open(name, O_RDONLY);
	char *data;

	ck_assert_int_eq(fstat(fd, &st), 0);
	*size = (size_t)st.st_size;
	data = malloc(*size);
	ck_assert_int_eq(read(fd, data, *size), (ssize_t)*size);
	close(fd);
	return data;
}

static void store(const char *name, const void *data, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_eq(write(fd, data, size), (ssize_t)size);
	close(fd);
}

/* Read everything, by the source and by SQL: 0 or the error of trace_open(). */
static int read_all(struct tally *tally)
{
	struct error err = {0};
	struct source *source;
	struct trace *t;
	FILE *null;
	int result = trace_open(&t, path, &err);

	if (result < 0) {
		ck_assert_msg(strstr(err.text, path) != NULL, "%s", err.text);
		return result;
	}
	tally_init(tally);
	if (trace_source(&source, t, &err) == 0) {
		if (pipe_join(source, &tally->sink, &err) < 0)
			ck_assert_str_ne(err.text, "");
		source_free(source);
	}
	null = fopen("/dev/null", "w");
	trace_query(t,
		    "SELECT count(*), sum(weight) FROM sample; SELECT * FROM hottest;"
		    "SELECT * FROM busiest; SELECT * FROM lost; SELECT * FROM host",
		    QUERY_TABLE, null, &err);
	fclose(null);
	trace_close(t);
	return 0;
}

START_TEST(flipped_bytes)
{
	size_t size, step = getenv("SKEIN_LONG") ? 1 : 997;
	uint64_t random = 1, opened = 0;
	char *data = load(good, &size);
	struct tally tally;

	for (size_t i = 0; i < size; i += i < 200 ? 1 : step) {
		char flip = (char)(1 << (synthetic_random(&random) >> 61));

		data[i] ^= flip;
		store(path, data, size);
		data[i] ^= flip;
		if (read_all(&tally) < 0)
			continue;
		opened++;
		/* All samples are present, or a loss is reported. */
		ck_assert_msg(tally.counts[KIND_SAMPLE] == seconds * rate || tally.lost,
			      "byte %zu: silent", i);
	}
	ck_assert_uint_gt(opened, 0);
	free(data);
}
END_TEST

/*
 * Flip one bit of the words "id" INTEGER in a table's declaration: SQLite then no longer takes the
 * column for the number of the row, and a search by it would find nothing.
 */
START_TEST(flipped_type_of_id)
{
	static const char *const tables[] = {"chunk", "host", "process", "thread", "frame"};
	struct tally tally;
	size_t size;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		char words[64];
		size_t length =
			(size_t)snprintf(words, sizeof(words), "\"%s\"(\"id\" INTEGER", tables[i]);
		char *data = load(good, &size), *at = data;

		/* a copy that SQLite has moved elsewhere may still stand in the same page */
		while ((at = memmem(at, size - (size_t)(at - data), words, length))) {
			at += length;
			at[-7] ^= (char)0x80;
		}
		store(path, data, size);
		free(data);
		ck_assert_int_eq(read_all(&tally), 0);
		ck_assert_msg(tally.lost > 0, "%s: silent", tables[i]);
	}
}
END_TEST

/* A page of garbage anywhere costs no more than its own contents, and is reported. */
START_TEST(garbage_pages)
{
	size_t size, page = 4096;
	struct tally tally;
	char *data = load(good, &size), *copy = malloc(size);
	unsigned int given = 0, pages = 0, unopened = 0;

	for (size_t at = page; at + page <= size; at += page) {
		memcpy(copy, data, size);
		memset(copy + at, 0x5a, page);
		store(path, copy, size);
		pages++;
		if (read_all(&tally) < 0) {
			unopened++; /* the page held the list of tables */
			continue;
		}
		ck_assert_msg(tally.counts[KIND_SAMPLE] == seconds * rate || tally.lost,
			      "page %zu: silent", at / page);
		given += tally.lost > 0;
	}
	ck_assert_uint_le(unopened, SCHEMA_PAGES);
	ck_assert_uint_gt(given, pages / 3); /* tables of words have pages of their own */
	free(copy);
	free(data);
}
END_TEST

START_TEST(truncated)
{
	size_t size;
	struct tally tally;
	char *data = load(good, &size);
	uint64_t most = 0;

	for (size_t left = 0; left < size; left += left < 4096 ? 512 : 4096) {
		store(path, data, left);
		if (read_all(&tally) < 0) {
			ck_assert_uint_lt(left, FIRST_DATA);
			continue;
		}
		ck_assert_msg(tally.lost > 0, "%zu of %zu bytes: silent", left, size);
		if (tally.counts[KIND_SAMPLE] > most)
			most = tally.counts[KIND_SAMPLE];
	}
	ck_assert_uint_ge(most, rate); /* the undamaged part is read */
	free(data);
}
END_TEST

static void refused(int code, const char *says)
{
	struct error err = {0};
	struct trace *t;

	ck_assert_int_eq(trace_open(&t, path, &err), code);
	ck_assert_msg(strstr(err.text, says) != NULL, "%s", err.text);
	ck_assert_msg(strstr(err.text, path) != NULL, "%s", err.text);
}

static void run_sql(const char *sql)
{
	sqlite3 *db;
	char *message = NULL;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s: %s", sql,
		      message);
	sqlite3_close(db);
}

static void fresh(void)
{
	size_t size;
	char *data = load(good, &size);

	store(path, data, size);
	free(data);
}

START_TEST(not_a_trace)
{
	unlink(path);
	refused(-ENOENT, "No such file");
	store(path, "", 0);
	refused(-EBADMSG, "is empty");
	store(path, "#!/bin/sh\n", 10);
	refused(-EBADMSG, "not a skein trace");
	unlink(path);
	run_sql("CREATE TABLE host(id INTEGER)");
	refused(-EBADMSG, "another database");
	fresh();
	run_sql("PRAGMA user_version=7");
	refused(-EPROTONOSUPPORT, "newer skein (schema 7, this one reads 2)");
	unlink(path);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	refused(-EISDIR, "directory");
	rmdir(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	refused(-EINVAL, "not a regular file");
	unlink(path);
}
END_TEST

START_TEST(hostile_schema)
{
	static const char *const swaps[] = {
		"DROP TABLE frame; CREATE VIEW frame AS SELECT 1 AS id",
		"DROP TABLE loss; CREATE VIRTUAL TABLE loss USING fts5(id)",
		"CREATE TABLE sample(time)",
		"CREATE VIEW Slice AS SELECT load_extension('x')",
		"CREATE TABLE stack(id INTEGER PRIMARY KEY, parent, frame)",
		"DROP VIEW sum; CREATE TABLE sum(event, thread, stack, count, weight)",
	};

	for (size_t i = 0; i < sizeof(swaps) / sizeof(swaps[0]); i++) {
		fresh();
		run_sql(swaps[i]);
		refused(-EBADMSG, "is not a table of skein");
	}
}
END_TEST

/*
 * Forbidden functions and modules of a schema are refused when they are used, and harm nothing
 * else.
 */
START_TEST(hostile_functions)
{
	static const char *const traps[] = {
		"SELECT * FROM trap1",
		"SELECT * FROM trap2",
		"SELECT writefile('/tmp/skein-trap', 'x')",
		"SELECT fts3_tokenizer('simple')",
	};
	struct error err = {0};
	struct trace *t;
	uint64_t count;

	fresh();
	run_sql("CREATE VIEW trap1 AS SELECT load_extension('x');"
		"CREATE VIRTUAL TABLE trap2 USING fts5(a)");
	ck_assert_msg(!trace_open(&t, path, &err), "%s", err.text);
	for (size_t i = 0; i < sizeof(traps) / sizeof(traps[0]); i++)
		ck_assert_int_lt(trace_query(t, traps[i], QUERY_CSV, stdout, &err), 0);
	ck_assert_int_eq(trace_count(t, KIND_SAMPLE, &count, &err), 0);
	ck_assert_uint_eq(count, seconds * rate);
	trace_close(t);
}
END_TEST

/* A trace of an older skein lacks columns. */
START_TEST(older_schema)
{
	struct tally tally;

	fresh();
	run_sql("DROP VIEW wakeup; DROP VIEW running; DROP VIEW busiest; DROP VIEW hottest;"
		"DROP VIEW frame_name; DROP VIEW sum; DROP VIEW waits; DROP VIEW spans;"
		"DROP VIEW counters; DROP VIEW hottest_waits; DROP VIEW locks;"
		"ALTER TABLE process DROP COLUMN container;"
		"ALTER TABLE frame DROP COLUMN line; PRAGMA user_version=1");
	ck_assert_int_eq(read_all(&tally), 0);
	ck_assert_uint_eq(tally.counts[KIND_SAMPLE], seconds * rate);
	ck_assert_uint_eq(tally.counts[KIND_PROCESS], 1);
	ck_assert_uint_eq(tally.counts[KIND_FRAME], 100);
	ck_assert_uint_eq(tally.lost, 0);
}
END_TEST

/* The reader notices missing parts that SQLite does not. */
START_TEST(missing_parts)
{
	static const char *const gaps[] = {
		"DELETE FROM chunk WHERE id = 2",
		"UPDATE chunk SET kind = 'samplf' WHERE id = 2",
		"DROP TABLE chunk",
		"DROP TABLE lane",
	};
	struct tally tally;

	for (size_t i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
		fresh();
		run_sql(gaps[i]);
		ck_assert_int_eq(read_all(&tally), 0);
		ck_assert_uint_eq(tally.lost, 1);
	}
}
END_TEST

/* A merge reads a trace kind by kind; a damaged table is one loss all the same. */
START_TEST(merged_parts)
{
	static const char *const gaps[] = {"DROP TABLE loss", "DROP TABLE lane",
					   "DELETE FROM chunk WHERE id = 2"};
	struct error err = {0};
	struct source *source;
	struct tally tally;
	struct trace *t;

	for (size_t i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
		fresh();
		run_sql(gaps[i]);
		ck_assert_msg(!trace_open(&t, path, &err), "%s", err.text);
		ck_assert_int_eq(
			merge_source(&source, &(struct merge_part){t, path}, 1, NULL, &err), 0);
		tally_init(&tally);
		ck_assert_msg(!pipe_join(source, &tally.sink, &err), "%s", err.text);
		ck_assert_uint_eq(merge_unreadable(source, 0), 1);
		ck_assert_uint_eq(tally.lost, 1);
		source_free(source);
		trace_close(t);
	}
}
END_TEST

/* The times of a chunk's row say where to look for it; whoever reads all finds it without them. */
START_TEST(lying_times)
{
	static const char *const lies[] = {
		"UPDATE chunk SET time = -1, \"end\" = -101704809043456 WHERE id = 2",
		"UPDATE chunk SET time = \"end\", \"end\" = time WHERE id = 2",
		"UPDATE chunk SET time = 1 << 62, \"end\" = 1 WHERE id = 2",
	};
	struct tally tally;

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		fresh();
		run_sql(lies[i]);
		ck_assert_int_eq(read_all(&tally), 0);
		ck_assert_uint_eq(tally.counts[KIND_SAMPLE], seconds * rate);
		ck_assert_uint_eq(tally.lost, 0);
	}
}
END_TEST

/* Rows of chunks with wrong values. */
START_TEST(lying_chunks)
{
	static const char *const lies[] = {
		"UPDATE chunk SET records = records + 1 WHERE id = 2",
		"UPDATE chunk SET records = -1 WHERE id = 2",
		"UPDATE chunk SET records = 1 << 62 WHERE id = 2",
		"UPDATE chunk SET data = 'text' WHERE id = 2",
		"UPDATE chunk SET data = zeroblob(1000000) WHERE id = 2",
		"UPDATE chunk SET data = (SELECT substr(data, 1, 100) FROM chunk WHERE id = 1)"
		" WHERE id = 2",
	};
	struct error err = {0};
	struct tally tally;
	struct trace *t;
	FILE *null = fopen("/dev/null", "w");

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		fresh();
		run_sql(lies[i]);
		ck_assert_int_eq(read_all(&tally), 0);
		ck_assert_uint_eq(tally.counts[KIND_SAMPLE], (seconds - 1) * rate);
		ck_assert_uint_gt(tally.lost, 0);
		ck_assert_int_eq(trace_open(&t, path, &err), 0);
		ck_assert_int_eq(
			trace_query(t, "SELECT count(*) FROM sample", QUERY_CSV, null, &err),
			-EBADMSG);
		ck_assert_msg(strstr(err.text, "missing above") != NULL, "%s", err.text);
		trace_close(t);
	}
	fclose(null);
}
END_TEST

/* SQLite would read the file that such a journal names at its end, and delete it. */
START_TEST(hostile_journal)
{
	static const char magic[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
	char journal[300], victim[300], bytes[2048] = {0};
	struct error err = {0};
	struct trace *t;

	snprintf(journal, sizeof(journal), "%s-journal", path);
	snprintf(victim, sizeof(victim), "%s/victim", files_dir);
	store(victim, "x", 1);
	fresh();
	memcpy(bytes, magic, 8);
	memcpy(bytes + 1024, victim, strlen(victim));
	memcpy(bytes + sizeof(bytes) - 8, magic, 8);
	store(journal, bytes, sizeof(bytes));
	ck_assert_int_eq(trace_open(&t, path, &err), -EBADMSG);
	ck_assert_msg(strstr(err.text, "not written by skein") != NULL, "%s", err.text);
	ck_assert_int_eq(access(victim, F_OK), 0);
	unlink(journal);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		flipped_bytes,	flipped_type_of_id, garbage_pages,  truncated,	   not_a_trace,
		hostile_schema, hostile_functions,  older_schema,   missing_parts, merged_parts,
		lying_times,	lying_chunks,	    hostile_journal};
	TCase *t = suite_case("trace-damage", tests, sizeof(tests) / sizeof(tests[0]));

	tcase_add_unchecked_fixture(t, files_begin, NULL);
	tcase_set_timeout(t, getenv("SKEIN_LONG") ? 3600 : 300);
	tcase_add_unchecked_fixture(t, write_trace, NULL);
	return suite_run_case("trace-damage", t);
}