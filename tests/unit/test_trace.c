// SPDX-License-Identifier: Apache-2.0
/* The trace file: what is put comes back, under which names, and what SQL says of it. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "suite.h"
#include "synthetic.h"
#include "trace_file.h"

#define EACH 5 /* records of every kind in the round trip */

static void write_all_kinds(const char *path)
{
	char texts[16][64];
	uint64_t record[16];
	struct error err = {0};
	struct sink *w;

	ck_assert_msg(!trace_writer(&w, path, &err), "%s", err.text);
	for (int k = 0; k < KIND_COUNT; k++)
		for (uint64_t i = 1; i <= EACH; i++) {
			synthetic_record((enum record_kind)k, i, record, texts);
			ck_assert_msg(!sink_put(w, (enum record_kind)k, record, &err), "%s",
				      err.text);
		}
	ck_assert_msg(!w->ops->finish(w, &err), "%s", err.text);
	sink_free(w);
}

struct comparer {
	struct sink sink;
	uint64_t seen[KIND_COUNT];
};

/* Sums are made by the writer: sample i is alone with its event, thread and stack. */
static void expect(enum record_kind k, uint64_t i, uint64_t *record, char texts[16][64])
{
	synthetic_record(k, i, record, texts);
	if (k == KIND_SUM) {
		struct sample sample;
		char unused[16][64];

		synthetic_record(KIND_SAMPLE, i, &sample, unused);
		*(struct sum *)record =
			(struct sum){sample.event,  sample.thread,
				     sample.stack,  1,
				     sample.weight, sample.flags & SAMPLE_FLAGS_OF_RUNTIME,
				     sample.wait};
	}
}

static int compare_put(struct sink *sink, enum record_kind k, const void *record, struct error *err)
{
	struct comparer *c = (struct comparer *)sink;
	uint64_t wanted[16];
	char texts[16][64];

	(void)err;
	expect(k, ++c->seen[k], wanted, texts);
	for (unsigned int i = 0; i < kinds[k].field_count; i++) {
		const struct field *f = &kinds[k].fields[i];

		if (f->type == FIELD_TEXT)
			ck_assert_str_eq(field_text(f, record), field_text(f, wanted));
		else
			ck_assert_msg(field_int(f, record) == field_int(f, wanted), "%s.%s",
				      kinds[k].name, f->name);
	}
	return 0;
}

START_TEST(every_kind_comes_back)
{
	static const struct sink_ops ops = {.put = compare_put};
	struct comparer c = {.sink = {&ops, WANT_ALL}};
	struct error err = {0};
	struct trace *t;
	uint64_t count;

	write_all_kinds("all.skein");
	t = trace_file_open("all.skein");
	trace_file_put(t, &c.sink);
	for (int k = 0; k < KIND_COUNT; k++) {
		ck_assert_msg(c.seen[k] == EACH, "%s: %lu", kinds[k].name, c.seen[k]);
		ck_assert_int_eq(trace_count(t, (enum record_kind)k, &count, &err), 0);
		ck_assert_uint_eq(count, EACH);
	}
	trace_close(t);
}
END_TEST

START_TEST(later_replaces_earlier)
{
	struct error err = {0};
	struct scene s = {NULL, &err, 0};
	struct sink *w;
	struct trace *t;
	uint64_t count;

	ck_assert_msg(!trace_writer(&w, "later.skein", &err), "%s", err.text);
	s.to = w;
	scene_frame(&s, .id = 1, .address = 1);
	scene_frame(&s, .id = 1, .address = 2);
	scene_info(&s, .host = 1, .key = "a", .value = "1");
	ck_assert_int_eq(sink_tick(w, 0, &err), 0);
	scene_info(&s, .host = 1, .key = "a", .value = "2");
	scene_info(&s, .host = 1, .key = "b", .value = "3");
	scene_loss(&s, .host = 1, .count = 2);
	scene_loss(&s, .host = 1, .count = 3);
	ck_assert_int_eq(s.ret, 0);
	ck_assert_int_eq(w->ops->finish(w, &err), 0);
	sink_free(w);
	t = trace_file_open("later.skein");
	ck_assert_int_eq(trace_count(t, KIND_FRAME, &count, &err), 0);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(trace_count(t, KIND_INFO, &count, &err), 0);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(trace_count(t, KIND_LOSS, &count, &err), 0);
	ck_assert_uint_eq(count, 2);
	trace_close(t);
}
END_TEST

static void write_samples(const char *path, uint64_t seconds, uint64_t rate, uint64_t distinct)
{
	struct error err = {0};
	struct synthetic s;
	struct sink *w;

	ck_assert_msg(!trace_writer(&w, path, &err), "%s", err.text);
	ck_assert_int_eq(synthetic_begin(&s, w), 0);
	for (uint64_t i = 0; i < seconds; i++) {
		ck_assert_msg(!synthetic_samples(&s, rate, distinct), "%s", s.err.text);
		ck_assert_int_eq(sink_tick(w, s.time, &err), 0);
	}
	ck_assert_msg(!w->ops->finish(w, &err), "%s", err.text);
	sink_free(w);
}

START_TEST(sums_are_those_of_the_samples)
{
	struct tally tally;

	/* more stacks than the table of sums holds, and more samples than a chunk */
	write_samples("sums.skein", 2, 100000, 60000);
	tally_init(&tally);
	trace_file_read("sums.skein", &tally.sink);
	ck_assert_uint_eq(tally.disorder, 0);
	ck_assert_uint_eq(tally.counts[KIND_SAMPLE], 200000);
	ck_assert_uint_eq(tally.sum_count, 200000);
	ck_assert_uint_eq(tally.sum_weight, tally.weight);
	ck_assert_uint_eq(tally.counts[KIND_LOSS], 0);
}
END_TEST

START_TEST(old_trace_is_kept)
{
	struct error err = {0};
	struct stat st;
	struct sink *w, *second;
	struct trace *t;
	uint64_t count;

	write_samples("a.skein", 1, 10, 5);
	write_samples("a.skein", 1, 20, 5);
	ck_assert_int_eq(stat("a.skein", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(access("a.skein-journal", F_OK), -1);
	t = trace_file_open("a.skein.old");
	ck_assert_int_eq(trace_count(t, KIND_SAMPLE, &count, &err), 0);
	ck_assert_uint_eq(count, 10);
	trace_close(t);
	/* a recording that never began leaves everything as it was */
	ck_assert_int_eq(trace_writer(&w, "a.skein", &err), 0);
	ck_assert_int_eq(trace_writer(&second, "new.skein", &err), 0);
	sink_free(w);
	sink_free(second);
	ck_assert_int_eq(access("new.skein", F_OK), -1);
	t = trace_file_open("a.skein");
	ck_assert_int_eq(trace_count(t, KIND_SAMPLE, &count, &err), 0);
	ck_assert_uint_eq(count, 20);
	trace_close(t);
}
END_TEST

static void refuses(const char *path, int code, const char *says)
{
	struct error err = {0};
	struct sink *w;

	ck_assert_int_eq(trace_writer(&w, path, &err), code);
	ck_assert_msg(strstr(err.text, says) != NULL, "%s", err.text);
}

START_TEST(bad_targets)
{
	ck_assert_int_eq(symlink("target", "link.skein"), 0);
	refuses("link.skein", -ELOOP, "symbolic link");
	ck_assert_int_eq(access("target", F_OK), -1);
	ck_assert_int_eq(mkdir("dir.skein", 0700), 0);
	refuses("dir.skein", -EISDIR, "dir.skein");
	refuses("dir.skein/", -EISDIR, "dir.skein");
	refuses("none/x.skein", -ENOENT, "none/x.skein");
	refuses("", -EISDIR, "cannot write");
	ck_assert_int_eq(mkfifo("fifo.skein", 0600), 0);
	refuses("fifo.skein", -EINVAL, "not a regular file");
	/* a directory that is reached through a symlink is fine */
	ck_assert_int_eq(symlink("dir.skein", "linked"), 0);
	write_samples("linked/x.skein", 1, 1, 1);
	ck_assert_int_eq(access("dir.skein/x.skein", R_OK), 0);
}
END_TEST

static char *query(struct trace *t, const char *sql, enum query_format format, int code)
{
	struct error err = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int result = trace_query(t, sql, format, out, &err);

	fclose(out);
	ck_assert_msg(result == code, "%s: %d %s", sql, result, err.text);
	if (result < 0) {
		free(text);
		text = strdup(err.text);
	}
	return text;
}

static void ask(struct trace *t, const char *sql, enum query_format format, const char *answer)
{
	char *text = query(t, sql, format, 0);

	ck_assert_str_eq(text, answer);
	free(text);
}

START_TEST(queries)
{
	struct trace *t;

	write_samples("q.skein", 10, 1000, 50);
	t = trace_file_open("q.skein");
	ask(t, "SELECT count(*) AS n, sum(weight) AS w FROM sample", QUERY_TABLE,
	    "    n          w\n-----  ---------\n10000  500000000\n");
	ask(t, "SELECT 1 AS a, 'x,\"y' AS b; SELECT NULL AS c", QUERY_CSV,
	    "a,b\n1,\"x,\"\"y\"\nc\n\n");
	ask(t, "SELECT 1 AS a, 'x' || char(9) || 'y' || char(10) || '\\z' AS b; SELECT NULL AS c",
	    QUERY_TSV, "a\tb\n1\tx\\ty\\n\\\\z\nc\n\n");
	ask(t, "SELECT 1 AS a, 'x' AS b, 1.5 AS c, NULL AS d, x'00ff' AS e", QUERY_JSON,
	    "[{\"a\":1,\"b\":\"x\",\"c\":1.5,\"d\":null,\"e\":\"00ff\"}]\n");
	ask(t, "SELECT comm, samples, percent FROM busiest", QUERY_CSV,
	    "comm,samples,percent\nworker,10000,100.0\n");
	ask(t, "SELECT count(*), sum(samples) FROM hottest", QUERY_CSV,
	    "count(*),sum(samples)\n50,10000\n");
	ask(t, "SELECT 'a\x1b[31m' AS hostile", QUERY_TABLE, "hostile\n-------\na?[31m\n");
	trace_close(t);
}
END_TEST

/* Every bound on time gives what a full scan gives. */
START_TEST(time_bounds)
{
	static const char *const bounds[] = {
		"time = %s",
		"time > %s",
		"time >= %s",
		"time < %s",
		"time <= %s",
		"time > %s AND time < 1000200000000",
		"time < %s.5",
		"time >= %s.5",
		"time = NULL OR time = %s",
		"time BETWEEN 5 AND %s",
		"time > 'x%s'",
		"time = 1000100000000 AND time = %s",
	};
	static const char *const stamps[] = {
		"0", "1000000000000", "1000250000000", "1000499990000", "-5", "9999999999999"};
	struct trace *t;

	write_samples("t.skein", 10, 1000, 50);
	t = trace_file_open("t.skein");
	for (size_t b = 0; b < sizeof(bounds) / sizeof(bounds[0]); b++)
		for (size_t s = 0; s < sizeof(stamps) / sizeof(stamps[0]); s++) {
			char where[128], sql[512], *answer;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(where, sizeof(where), bounds[b], stamps[s]);
#pragma GCC diagnostic pop
			snprintf(sql, sizeof(sql),
				 "WITH every AS MATERIALIZED (SELECT * FROM sample)"
				 " SELECT (SELECT count(*) FROM sample WHERE %s) ="
				 " (SELECT count(*) FROM every WHERE %s)",
				 where, where);
			answer = query(t, sql, QUERY_CSV, 0);
			ck_assert_msg(!strcmp(strchr(answer, '\n'), "\n1\n"), "%s", where);
			free(answer);
		}
	trace_close(t);
}
END_TEST

START_TEST(only_reading)
{
	static const char *const forbidden[] = {
		"DELETE FROM frame",
		"UPDATE host SET \"end\" = 1",
		"CREATE TABLE x(a)",
		"ATTACH '/tmp/x' AS x",
		"PRAGMA writable_schema=ON",
		"PRAGMA journal_mode=WAL",
		"BEGIN",
		"VACUUM INTO '/tmp/skein-vacuum'",
		"SELECT 1; DROP TABLE frame",
	};
	struct trace *t;
	char *text;

	write_samples("r.skein", 1, 10, 5);
	t = trace_file_open("r.skein");
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
		free(query(t, forbidden[i], QUERY_CSV, -EPERM));
	text = query(t, "SELECT * FORM sum", QUERY_CSV, -EINVAL);
	ck_assert_str_eq(text, "SQL: near \"FORM\": syntax error, at: FORM sum");
	free(text);
	text = query(t, "SELECT readfile('/etc/passwd')", QUERY_CSV, -EINVAL);
	ck_assert_msg(strstr(text, "no such function: readfile") != NULL, "%s", text);
	free(text);
	free(query(t, "SELECT load_extension('x')", QUERY_CSV, -EINVAL));
	free(query(t, "SELECT \"typo\" FROM sum", QUERY_CSV, -EINVAL));
	free(query(t, " -- nothing", QUERY_CSV, -EINVAL));
	trace_close(t);
}
END_TEST

/* Rows behind the ones that were measured come out as well, and a full stream is an error. */
START_TEST(long_tables)
{
	static const char sql[] = "SELECT time, 'abc' AS b FROM sample";
	struct error err = {0};
	struct trace *t;
	FILE *full = fopen("/dev/full", "w");
	size_t lines = 0;
	char *text;

	write_samples("l.skein", 3, 1000, 5);
	t = trace_file_open("l.skein");
	text = query(t, sql, QUERY_TABLE, 0);
	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	ck_assert_uint_eq(lines, 3002);
	free(text);
	setbuf(full, NULL);
	ck_assert_int_eq(trace_query(t, sql, QUERY_TABLE, full, &err), -ENOSPC);
	ck_assert_int_eq(trace_query(t, sql, QUERY_CSV, full, &err), -ENOSPC);
	fclose(full);
	trace_close(t);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {every_kind_comes_back,
				      later_replaces_earlier,
				      sums_are_those_of_the_samples,
				      old_trace_is_kept,
				      bad_targets,
				      queries,
				      time_bounds,
				      only_reading,
				      long_tables};
	TCase *t = suite_case("trace", tests, sizeof(tests) / sizeof(tests[0]));

	tcase_add_unchecked_fixture(t, files_begin, NULL);
	return suite_run_case("trace", t);
}
