// SPDX-License-Identifier: Apache-2.0
/*
 * Run report, export, diff, merge and query on hostile or damaged traces: they must report the
 * damage or show the readable part, and end within bounds of CPU time and memory. A real recording
 * with -e cpu,sched is changed at random (mutate.h), and every command is run on it.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "cmd/commands.h"
#include "export/export.h"
#include "mutate.h"
#include "suite.h"
#include "synthetic.h"
#include "trace_file.h"

#define ROUNDS (getenv("SKEIN_LONG") ? 3000 : 60)
#define MUTATIONS_MAX 4

/*
 * Limits for all commands together on one trace of 63 KiB; undamaged, they need 0.1 s and 14 MiB.
 */
#ifdef __SANITIZE_ADDRESS__
#define CPU_SECONDS 60
#define MEMORY_KIB (2048L << 10)
#else
#define CPU_SECONDS 20
#define MEMORY_KIB (512L << 10)
#endif

static char directory[] = "/tmp/skein-mutated-XXXXXX";
static char path[64], good[64], out[64];
static struct mutate_base bases[2];

static void run_command(const struct command *c, char **words)
{
	char *argv[16];
	int argc = 0;

	for (; words[argc]; argc++)
		argv[argc] = words[argc];
	argv[argc] = NULL;
	unlink(out);
	c->run(argc, argv);
	fflush(stdout);
}

#define RUN(command, ...) run_command(&command, (char *[]){__VA_ARGS__, NULL})

static void run_all(void)
{
	RUN(report_command, "report", path);
	RUN(report_command, "report", "--tree", "--lines", path);
	RUN(report_command, "report", "--json", "--tree", path);
	RUN(report_command, "report", "--sched", "--by", "thread", path);
	RUN(report_command, "report", "--timeline", path);
	RUN(report_command, "report", "--timeline", "--from", "100ms", "--to", "101ms", path);
	for (const struct export_format *f = export_formats; f->name; f++)
		RUN(export_command, "export", "-f", (char *)f->name, "-o", out, path);
	RUN(diff_command, "diff", good, path);
	RUN(merge_command, "merge", "-o", out, good, path);
	RUN(query_command, "query", path,
	    "SELECT count(*) FROM sample LEFT JOIN stack ON stack.id = sample.stack");
	RUN(query_command, "query", path, "SELECT count(*), max(\"end\") FROM slice, edge LIMIT 9");
}

/* Run all commands in a child, which may crash, loop, or exceed its memory. */
static pid_t run_child(void)
{
	const struct rlimit cpu = {CPU_SECONDS, CPU_SECONDS + 5};
	pid_t child = fork();

	if (child)
		return child;
	setrlimit(RLIMIT_CPU, &cpu);
	if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
		_exit(99);
	run_all();
	_exit(0);
}

static struct rusage most; /* largest use of all traces so far */

static void note_most(const struct rusage *used)
{
	if (used->ru_maxrss > most.ru_maxrss)
		most.ru_maxrss = used->ru_maxrss;
	if (timercmp(&used->ru_utime, &most.ru_utime, >))
		most.ru_utime = used->ru_utime;
}

/*
 * Run all commands on the trace at path, and check the limits. what describes the trace in
 * messages.
 */
static void judge(const char *what)
{
	struct rusage used;
	int status;
	pid_t child = run_child();

	ck_assert_int_eq(wait4(child, &status, 0, &used), child);
	note_most(&used);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		      "%s: status %#x after %ld s of CPU; the trace is kept as %s", what, status,
		      (long)used.ru_utime.tv_sec, path);
	ck_assert_msg(used.ru_maxrss <= MEMORY_KIB, "%s: %ld KiB; the trace is kept as %s", what,
		      used.ru_maxrss, path);
}

static void write_bases(void)
{
	mutate_bases(path, bases);
	mutate_store(good, bases[0].data, bases[0].size);
}

START_TEST(unchanged)
{
	for (int i = 0; i < 2; i++) {
		mutate(path, &bases[i], NULL, 0);
		judge(i ? "the trace with a pyramid" : "the trace as it was recorded");
	}
}
END_TEST

START_TEST(changed_at_random)
{
	const char *only = getenv("SKEIN_SEED");
	uint64_t first = only ? strtoull(only, NULL, 10) : 1;

	for (uint64_t seed = first; seed < first + (only ? 1 : (uint64_t)ROUNDS); seed++) {
		uint64_t random = seed * 0x9E3779B97F4A7C15ULL;
		uint8_t changes[MUTATIONS_MAX * MUTATION_BYTES];
		char what[64];

		for (size_t i = 0; i < sizeof(changes); i++)
			changes[i] = (uint8_t)(synthetic_random(&random) >> 56);
		mutate(path, &bases[seed & 1], changes,
		       (1 + synthetic_random(&random) % MUTATIONS_MAX) * MUTATION_BYTES);
		snprintf(what, sizeof(what), "SKEIN_SEED=%llu", (unsigned long long)seed);
		judge(what);
	}
	printf("one trace took at most %ld.%02ld s of CPU, one %ld KiB\n",
	       (long)most.ru_utime.tv_sec, (long)most.ru_utime.tv_usec / 10000, most.ru_maxrss);
}
END_TEST

static void change(const char *sql)
{
	char *message = NULL;
	sqlite3 *db;

	mutate(path, &bases[0], NULL, 0);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, MUTATE_PRAGMAS, NULL, NULL, NULL), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s", message);
	sqlite3_close(db);
}

/* Changes that once made a command take forever, or gigabytes. */
START_TEST(known_traps)
{
	static const char *const traps[] = {
		"DELETE FROM host",
		"UPDATE host SET start = 0, \"end\" = 9223372036854775807",
		"UPDATE host SET start = -1, \"end\" = -1",
		"UPDATE host SET cpus = -1",
		"UPDATE lane SET number = -1",
		"UPDATE event SET period = -1, frequency = -1",
		"UPDATE frame SET mapping = id, function = id",
		"UPDATE process SET pid = 4711, parent = 4711",
	};

	for (size_t i = 0; i < sizeof(traps) / sizeof(*traps); i++) {
		change(traps[i]);
		judge(traps[i]);
	}
}
END_TEST

/* Run a command; return its exit status, and its stderr in text. */
static int said(const struct command *c, char **words, char *text, size_t size)
{
	struct mutate_base heard;
	int status;
	pid_t child = fork();

	if (!child) {
		int argc = 0;

		while (words[argc])
			argc++;
		if (!freopen("/dev/null", "w", stdout) || !freopen(out, "w", stderr))
			_exit(99);
		status = c->run(argc, words);
		fflush(stderr);
		_exit(status);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	mutate_load(out, &heard);
	snprintf(text, size, "%.*s", (int)heard.size, (char *)heard.data);
	free(heard.data);
	return WEXITSTATUS(status);
}

/* report and export show the readable part, warn, and succeed. */
START_TEST(damage_is_told)
{
	static const char *const damages[] = {"DELETE FROM chunk WHERE id = 2", "DROP TABLE lane"};
	char text[1024];

	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		change(damages[i]);
		ck_assert_int_eq(
			said(&report_command, (char *[]){"report", path, NULL}, text, sizeof(text)),
			0);
		ck_assert_msg(strstr(text, "is damaged") != NULL, "report: %s", text);
		ck_assert_int_eq(said(&export_command,
				      (char *[]){"export", "-f", "folded", path, NULL}, text,
				      sizeof(text)),
				 0);
		ck_assert_msg(strstr(text, "is damaged") != NULL, "export: %s", text);
	}
	change("DELETE FROM host");
	ck_assert_int_eq(
		said(&report_command, (char *[]){"report", path, NULL}, text, sizeof(text)), 0);
	ck_assert_msg(strstr(text, "does not say which machine") != NULL, "%s", text);
	mutate(path, &bases[0], NULL, 0);
	ck_assert_int_eq(
		said(&report_command, (char *[]){"report", path, NULL}, text, sizeof(text)), 0);
	ck_assert_str_eq(text, "");
}
END_TEST

static void refused(const char *sql, const char *says)
{
	struct error err = {""};
	struct trace *t;

	change(sql);
	ck_assert_int_eq(trace_open(&t, path, &err), -EBADMSG);
	ck_assert_msg(strstr(err.text, says) && strstr(err.text, path), "%s", err.text);
}

START_TEST(computed_columns)
{
	refused(MUTATE_COLUMN("info", "value", "TEXT AS (printf('%.*c', 60000000, 'x'))"),
		"'info' has a column that is computed");
	refused("CREATE TABLE other(a, b AS (a * 2) STORED)", "'other' has a column");
}
END_TEST

/* Read the trace by a source; return how many records were left out. */
static uint64_t left_out(void)
{
	struct trace *t = trace_file_open(path);
	struct tally tally;
	uint64_t ret;

	tally_init(&tally);
	trace_file_put(t, &tally.sink);
	ret = trace_left_out(t);
	trace_close(t);
	return ret;
}

/* A long text in the schema, as the default of a column, appears in every row. */
START_TEST(a_text_for_every_row)
{
	char sql[100000];
	int used = snprintf(sql, sizeof(sql), "%s", MUTATE_COLUMN("function", "name", "DEFAULT '"));

	memset(sql + used, 'x', 90000);
	snprintf(sql + used + 90000, sizeof(sql) - (size_t)used - 90000, "'");
	change(sql);
	ck_assert_uint_gt(left_out(), 10);
	judge("a long default");
}
END_TEST

/* Write an interior page of a table, with so many cells that all refer to one page. */
static void write_interior(uint8_t *page, uint32_t child, unsigned int cells, uint32_t key)
{
	memset(page, 0, 1024);
	page[0] = 5; /* https://sqlite.org/fileformat2.html, section 1.6 */
	page[3] = (uint8_t)(cells >> 8);
	page[4] = (uint8_t)cells;
	for (unsigned int i = 0; i < cells; i++) {
		unsigned int at = 1024 - 8 * (i + 1);

		page[12 + 2 * i] = (uint8_t)(at >> 8);
		page[13 + 2 * i] = (uint8_t)at;
		for (int b = 0; b < 4; b++)
			page[at + (unsigned int)b] = (uint8_t)(child >> (24 - 8 * b));
		page[at + 4] = 0x80 | (key >> 14 & 0x7f);
		page[at + 5] = 0x80 | (key >> 7 & 0x7f);
		page[at + 6] = key & 0x7f;
	}
	page[5] = (uint8_t)((1024 - 8 * cells) >> 8);
	page[6] = (uint8_t)(1024 - 8 * cells);
	for (int b = 0; b < 4; b++)
		page[8 + b] = (uint8_t)(child >> (24 - 8 * b));
}

/* Return the page that the first cell of an interior page refers to. */
static uint32_t first_child(const uint8_t *page)
{
	const uint8_t *cell = page + ((unsigned int)page[12] << 8 | page[13]);

	return (uint32_t)cell[0] << 24 | (uint32_t)cell[1] << 16 | (uint32_t)cell[2] << 8 | cell[3];
}

/*
 * One page of rows occurs 91^5 times in the table of frames: six billion pages, in a file of 64
 * KiB.
 */
START_TEST(pages_that_stand_in_a_table_many_times)
{
	static const char root_sql[] = "SELECT rootpage FROM sqlite_schema WHERE name = 'frame'";
	struct mutate_base file;
	uint32_t root = 0, pages, leaf;
	sqlite3_stmt *stmt;
	sqlite3 *db;

	mutate(path, &bases[0], NULL, 0);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(db, root_sql, -1, &stmt, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	root = (uint32_t)sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	mutate_load(path, &file);
	pages = (uint32_t)(file.size / 1024);
	file.data = realloc(file.data, file.size + 4 * 1024);
	ck_assert_int_eq(file.data[(root - 1) * 1024], 5); /* the table has more than one page */
	leaf = first_child(file.data + (root - 1) * 1024);
	for (uint32_t i = 0; i < 4; i++)
		write_interior(file.data + (pages + i) * 1024, i == 3 ? leaf : pages + i + 2, 90,
			       2000000);
	write_interior(file.data + (root - 1) * 1024, pages + 1, 90, 2000000);
	file.size += 4 * 1024;
	for (int b = 0; b < 4; b++) /* the size in the file header */
		file.data[28 + b] = (uint8_t)((file.size / 1024) >> (24 - 8 * b));
	mutate_store(path, file.data, file.size);
	free(file.data);
	ck_assert_uint_gt(left_out(), 10);
	judge("pages that stand in a table many times");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		unchanged,	   damage_is_told,	 known_traps,
		computed_columns,  a_text_for_every_row, pages_that_stand_in_a_table_many_times,
		changed_at_random,
	};
	TCase *t = suite_case("trace-mutated", tests, sizeof(tests) / sizeof(tests[0]));
	int failed;

	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof(path), "%s/bad.skein", directory);
	snprintf(good, sizeof(good), "%s/good.skein", directory);
	snprintf(out, sizeof(out), "%s/out", directory);
	tcase_set_timeout(t, getenv("SKEIN_LONG") ? 7200 : 600);
	tcase_add_unchecked_fixture(t, write_bases, NULL);
	failed = suite_run_case("trace-mutated", t);
	unlink(good);
	unlink(out);
	if (!failed) { /* a trace that failed is kept */
		unlink(path);
		rmdir(directory);
	}
	return failed;
}
