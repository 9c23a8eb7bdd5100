// SPDX-License-Identifier: Apache-2.0
/*
 * window_sink.c and sequence.c: a capture without an end, divided into windows, of which each is
 * complete, and which together are what was put.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/profile.h"
#include "files.h"
#include "serve/window_list.h"
#include "serve/window_sink.h"
#include "suite.h"
#include "totals.h"
#include "trace/sequence.h"
#include "trace/trace.h"
#include "window_paths.h"

#define SECOND 1000000000ULL
#define START (1000 * SECOND)
#define LENGTH (10 * SECOND)
#define PERIOD (SECOND / 100)

static struct sink *s;
static struct error err;
static uint64_t last_stack;

#define PUT(kind, ...) ck_assert_int_eq(put_##kind(s, &(struct kind){__VA_ARGS__}, &err), 0)

static void tick_windows(uint64_t time)
{
	ck_assert_int_eq(sink_tick(s, time, &err), 0);
}

static void put_named_frame(uint64_t id, const char *name)
{
	PUT(function, .id = id, .mapping = 1, .name = name);
	PUT(frame, .id = id, .kind = FRAME_NATIVE, .mapping = 1, .address = id, .function = id);
}

/* Put a process with one thread, both with the same id. */
static void put_task(uint64_t id, const char *comm, uint64_t end)
{
	PUT(process, .id = id, .host = 1, .pid = id + 100, .born = id, .comm = comm, .end = end);
	PUT(thread, .id = id, .process = id, .tid = id + 100, .comm = comm, .end = end);
}

/* The wall clock of tests: it is set by clock_set ns. */
static int64_t clock_set;

static uint64_t test_utc(uint64_t boot)
{
	return 1795772700 * SECOND + boot + (uint64_t)clock_set;
}

static void begin_windows(const char *folder)
{
	const struct window_options o = {.folder = folder, .length = LENGTH, .utc = test_utc};

	clock_set = 0;

	ck_assert_int_eq(window_sink(&s, &o, &err), 0);
	PUT(host, .id = 1, .hostname = "machine", .machine_id = "m", .boot_id = "b", .cpus = 2,
	    .start = START);
	PUT(event, .id = 1, .host = 1, .name = "cpu-clock", .unit = "ns", .period = PERIOD);
	PUT(info, .id = 1, .host = 1, .key = "skein.version", .value = "1");
	put_task(1, "worker", 0);
	put_task(2, "other", 0);
	PUT(mapping, .id = 1, .host = 1, .kind = MAPPING_FILE, .path = "/bin/worker");
	put_named_frame(1, "main");
	put_named_frame(2, "outer");
	put_named_frame(3, "inner");
	put_named_frame(4, "never");
	for (last_stack = 0; last_stack < 4; last_stack++)
		PUT(stack, .id = last_stack + 1, .parent = last_stack, .frame = last_stack + 1);
}

static void put_sample_at(uint64_t time, uint64_t thread, uint64_t stack)
{
	PUT(sample, .time = time, .event = 1, .thread = thread, .stack = stack, .weight = PERIOD);
}

static void end_windows(uint64_t time)
{
	tick_windows(time);
	PUT(host, .id = 1, .hostname = "machine", .machine_id = "m", .boot_id = "b", .cpus = 2,
	    .start = START, .end = time);
	ck_assert_int_eq(s->ops->finish(s, &err), 0);
}

/* Return the rows of a query of a trace, as CSV without its header. */
static char *rows_of(const char *path, const char *sql)
{
	struct trace *t;
	size_t size;
	char *text, *rows;
	FILE *out = open_memstream(&text, &size);

	ck_assert_msg(trace_open(&t, path, &err) == 0, "%s", err.text);
	ck_assert_msg(trace_query(t, sql, QUERY_CSV, out, &err) == 0, "%s", err.text);
	fclose(out);
	trace_close(t);
	rows = strdup(strchr(text, '\n') + 1);
	free(text);
	rows[strcspn(rows, "\r\n")] = '\0';
	return rows;
}

#define ASSERT_ROW(path, sql, row) \
	do { \
		char *shown = rows_of(path, sql); \
		ck_assert_str_eq(shown, row); \
		free(shown); \
	} while (0)

static void free_paths(char **paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(paths[i]);
}

/* What a trace refers to and has not. */
#define DANGLING \
	"SELECT (SELECT count(*) FROM sample WHERE stack NOT IN (SELECT id FROM stack)) +" \
	" (SELECT count(*) FROM sample WHERE thread NOT IN (SELECT id FROM thread)) +" \
	" (SELECT count(*) FROM sample WHERE event NOT IN (SELECT id FROM event)) +" \
	" (SELECT count(*) FROM thread WHERE process NOT IN (SELECT id FROM process)) +" \
	" (SELECT count(*) FROM process WHERE host NOT IN (SELECT id FROM host)) +" \
	" (SELECT count(*) FROM stack WHERE parent AND parent NOT IN (SELECT id FROM stack)) +" \
	" (SELECT count(*) FROM stack WHERE frame NOT IN (SELECT id FROM frame)) +" \
	" (SELECT count(*) FROM frame WHERE function NOT IN (SELECT id FROM function)) +" \
	" (SELECT count(*) FROM frame WHERE mapping NOT IN (SELECT id FROM mapping))"
#define BALANCE \
	"SELECT sum(due) - sum(written) - sum(filtered) - sum(idle) - sum(cut_off) -" \
	" (SELECT coalesce(sum(count), 0) FROM loss) FROM account"

START_TEST(windows_are_complete)
{
	char *paths[WINDOWS_MAX];
	size_t count;

	files_begin();
	begin_windows(".");
	/* stacks in falling order of their ids: a window numbers them by itself */
	for (uint64_t i = 0; i < 35; i++) {
		uint64_t time = START + i * SECOND;

		put_sample_at(time + 1, 1 + i % 2, 3 - i % 3);
		PUT(account, .event = 1, .cpu = 0, .due = i + 2, .written = i + 1);
		tick_windows(time + SECOND);
	}
	PUT(account, .event = 1, .cpu = 0, .due = 35, .written = 35);
	end_windows(START + 35 * SECOND);
	sink_free(s);
	count = list_windows(".", paths);
	ck_assert_uint_eq(count, 4);
	for (size_t i = 0; i < count; i++) {
		ASSERT_ROW(paths[i], DANGLING, "0");
		ASSERT_ROW(paths[i], BALANCE, "0");
		ASSERT_ROW(paths[i],
			   "SELECT count(*) = (SELECT sum(written) FROM account) FROM sample", "1");
		ASSERT_ROW(paths[i], "SELECT value FROM info WHERE key = 'skein.version'", "1");
		/* what no sample refers to is in none */
		ASSERT_ROW(paths[i], "SELECT count(*) FROM function WHERE name = 'never'", "0");
		ASSERT_ROW(paths[i],
			   "SELECT count(*) FROM sample, host WHERE time < start OR time > end",
			   "0");
	}
	ASSERT_ROW(paths[0], "SELECT start FROM host", "1000000000000");
	free_paths(paths, count);
}
END_TEST

/* Put samples of 35 s and end. Return the number of windows, with their paths. */
static size_t record_windows(char **paths)
{
	begin_windows(".");
	for (uint64_t i = 0; i < 35; i++) {
		put_sample_at(START + i * SECOND + 1, i < 21 ? 1 + i % 2 : 1, 1 + i % 3);
		PUT(account, .event = 1, .cpu = 0, .due = i + 1, .written = i + 1);
		if (i == 21)
			put_task(2, "other", START + 21 * SECOND);
		tick_windows(START + (i + 1) * SECOND);
	}
	end_windows(START + 35 * SECOND);
	sink_free(s);
	return list_windows(".", paths);
}

START_TEST(windows_add_up)
{
	char *paths[WINDOWS_MAX];
	struct source *source;
	size_t count;

	files_begin();
	count = record_windows(paths);
	ck_assert_int_eq(sequence_source(&source, (const char *const *)paths, count, &err), 0);
	ck_assert_int_eq(trace_writer(&s, "all.skein", &err), 0);
	ck_assert_msg(pipe_join(source, s, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(sequence_count(source), count);
	source_free(source);
	sink_free(s);
	ASSERT_ROW("all.skein", DANGLING, "0");
	ASSERT_ROW("all.skein", BALANCE, "0");
	ASSERT_ROW("all.skein", "SELECT count(*), sum(weight) FROM sample", "35,350000000");
	ASSERT_ROW("all.skein", "SELECT count(*), sum(due) FROM account", "1,35");
	ASSERT_ROW("all.skein", "SELECT start, end FROM host", "1000000000000,1035000000000");
	/* each process, function and stack once; the process that ended has its end */
	ASSERT_ROW("all.skein", "SELECT count(*), count(DISTINCT id) FROM process", "2,2");
	ASSERT_ROW("all.skein", "SELECT end FROM process WHERE comm = 'other'", "1021000000000");
	ASSERT_ROW("all.skein", "SELECT count(*) FROM function", "3");
	ASSERT_ROW("all.skein", "SELECT count(*) FROM stack", "3");
	ASSERT_ROW("all.skein", "SELECT count(*) FROM sample GROUP BY stack ORDER BY stack", "12");
	free_paths(paths, count);
}
END_TEST

START_TEST(removed_windows_are_left_out)
{
	char *paths[WINDOWS_MAX];
	struct source *source;
	size_t count;

	files_begin();
	count = record_windows(paths);
	ck_assert_int_eq(unlink(paths[1]), 0);
	ck_assert_int_eq(sequence_source(&source, (const char *const *)paths, count, &err), 0);
	ck_assert_int_eq(unlink(paths[2]), 0); /* between the plan and the run */
	ck_assert_int_eq(trace_writer(&s, "all.skein", &err), 0);
	ck_assert_int_eq(pipe_join(source, s, &err), 0);
	ck_assert_uint_eq(sequence_count(source), count - 2);
	source_free(source);
	sink_free(s);
	ASSERT_ROW("all.skein", "SELECT count(*) FROM sample", "15");
	free_paths(paths, count);
}
END_TEST

START_TEST(names_come_after_the_end)
{
	char *paths[WINDOWS_MAX];
	size_t count;

	files_begin();
	begin_windows(".");
	PUT(stack, .id = 5, .parent = 1, .frame = 5); /* its frame comes later */
	put_sample_at(START + 9 * SECOND, 1, 5);
	tick_windows(START + 11 * SECOND);
	put_sample_at(START + 11 * SECOND, 1, 1);
	PUT(function, .id = 5, .mapping = 1, .name = "late");
	PUT(frame, .id = 5, .kind = FRAME_NATIVE, .mapping = 1, .address = 5, .function = 5);
	end_windows(START + 13 * SECOND);
	sink_free(s);
	count = list_windows(".", paths);
	ck_assert_uint_eq(count, 2);
	ASSERT_ROW(paths[0], DANGLING, "0");
	ASSERT_ROW(paths[0], "SELECT count(*) FROM function WHERE name = 'late'", "1");
	ASSERT_ROW(paths[1], "SELECT count(*) FROM function WHERE name = 'late'", "0");
	free_paths(paths, count);
}
END_TEST

START_TEST(a_lasting_loss_is_divided)
{
	char *paths[WINDOWS_MAX];
	size_t count;

	files_begin();
	begin_windows(".");
	for (uint64_t i = 1; i <= 25; i++) {
		PUT(loss, .id = 1, .host = 1, .cpu = 2, .reason = LOSS_CPU_GONE,
		    .time = START + SECOND, .end = START + i * SECOND, .count = 1);
		tick_windows(START + i * SECOND);
	}
	end_windows(START + 26 * SECOND);
	sink_free(s);
	count = list_windows(".", paths);
	ck_assert_uint_eq(count, 3);
	ASSERT_ROW(paths[1], "SELECT loss.time = host.start FROM loss, host", "1");
	ASSERT_ROW(paths[2], "SELECT loss.end FROM loss", "1025000000000");
	free_paths(paths, count);
}
END_TEST

START_TEST(what_is_not_delivered_is_lost)
{
	char *paths[WINDOWS_MAX];
	size_t count;

	files_begin();
	begin_windows(".");
	/* 100 due a second; from 5 s to 8 s none of them comes, and nothing says why */
	for (uint64_t i = 1; i <= 25; i++) {
		uint64_t gone = i < 5 ? 0 : i > 8 ? 300 : (i - 5) * 100;

		PUT(account, .event = 1, .cpu = 0, .due = i * 100, .filtered = i * 100 - gone);
		tick_windows(START + i * SECOND);
	}
	/* the source counts them when it ends: they are lost once */
	PUT(loss, .id = 1, .host = 1, .event = 1, .cpu = 1, .reason = LOSS_NOT_DELIVERED,
	    .time = START, .end = START + 25 * SECOND, .count = 300, .weight = 300 * PERIOD);
	end_windows(START + 25 * SECOND);
	sink_free(s);
	count = list_windows(".", paths);
	ck_assert_uint_eq(count, 3);
	for (size_t i = 0; i < count; i++)
		ASSERT_ROW(paths[i], BALANCE, "0");
	/* up to 300 ms of samples may have been under way at the end of the window */
	ASSERT_ROW(paths[0], "SELECT count BETWEEN 265 AND 300, weight / count FROM loss",
		   "1,10000000");
	ASSERT_ROW(paths[1], "SELECT count(*) FROM loss", "0");
	ASSERT_ROW(paths[2], "SELECT count BETWEEN 0 AND 35, weight / count FROM loss",
		   "1,10000000");
	free_paths(paths, count);
}
END_TEST

START_TEST(a_window_that_cannot_be_written)
{
	struct window_counts counts;
	char *paths[WINDOWS_MAX];
	size_t count;

	files_begin();
	ck_assert_int_eq(mkdir("gone", 0700), 0);
	begin_windows("gone");
	put_sample_at(START + 1, 1, 1);
	tick_windows(START + SECOND);
	shell("mv gone elsewhere");
	tick_windows(START + 11 * SECOND); /* the next window has no folder */
	for (unsigned int i = 0; i < 7; i++)
		put_sample_at(START + 12 * SECOND, 1, 1);
	tick_windows(START + 13 * SECOND);
	ck_assert_uint_eq(sink_unstored(s, KIND_SAMPLE, sample_place(1, 0)), 7);
	/* the source counts them as lost, in two parts; the next window that is written has both */
	for (uint64_t i = 1; i <= 2; i++)
		PUT(loss, .id = i, .host = 1, .event = 1, .cpu = 1, .reason = LOSS_NOT_STORED,
		    .time = START + 12 * SECOND, .end = START + 13 * SECOND, .count = 2 + i,
		    .weight = (2 + i) * PERIOD);
	PUT(account, .event = 1, .cpu = 0, .due = 8, .written = 1);
	shell("mv elsewhere gone");
	tick_windows(START + 23 * SECOND);
	put_sample_at(START + 24 * SECOND, 1, 2);
	PUT(account, .event = 1, .cpu = 0, .due = 9, .written = 2);
	end_windows(START + 25 * SECOND);
	ck_assert_uint_eq(sink_unstored(s, KIND_SAMPLE, sample_place(1, 0)), 7);
	window_sink_counts(s, &counts);
	ck_assert_uint_ge(counts.failed, 1);
	ck_assert_ptr_nonnull(strstr(counts.problem, "No such file"));
	sink_free(s);
	count = list_windows("gone", paths);
	ck_assert_uint_ge(count, 1);
	ASSERT_ROW(paths[count - 1], "SELECT count(*) FROM sample", "1");
	ASSERT_ROW(paths[count - 1], "SELECT count, weight FROM loss", "7,70000000");
	ASSERT_ROW(paths[count - 1], BALANCE, "0");
	ASSERT_ROW(paths[count - 1], DANGLING, "0");
	free_paths(paths, count);
}
END_TEST

/* Return the resident memory of this process, KiB. */
static long resident(void)
{
	FILE *in = fopen("/proc/self/statm", "re");
	long pages = 0;

	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(fscanf(in, "%*d %ld", &pages), 1);
	fclose(in);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

START_TEST(memory_stays)
{
	const struct window_options o = {
		.folder = ".", .length = LENGTH, .budget = {.bytes = 1 << 20}};
	long before = 0;

	files_begin();
	begin_windows(".");
	sink_free(s);
	ck_assert_int_eq(window_sink(&s, &o, &err), 0);
	PUT(host, .id = 1, .hostname = "machine", .cpus = 2, .start = START);
	PUT(event, .id = 1, .host = 1, .name = "cpu-clock", .unit = "ns", .period = PERIOD);
	PUT(mapping, .id = 1, .host = 1, .kind = MAPPING_FILE, .path = "/bin/worker");
	/* 1,000 processes and stacks a second, which end and are forgotten */
	for (uint64_t second = 0; second < 200; second++) {
		uint64_t now = START + second * SECOND;

		for (uint64_t i = 1; i <= 1000; i++) {
			uint64_t id = second * 1000 + i;

			put_task(id, "short", now + SECOND);
			put_named_frame(id, "function");
			PUT(stack, .id = id, .parent = 0, .frame = id);
			put_sample_at(now + i, id, id);
		}
		tick_windows(now + SECOND);
		if (second % 10 == 9)
			ck_assert_int_eq(sink_forget(s, &err), 0);
		if (second == 60)
			before = resident();
	}
	ck_assert_int_lt(resident() - before, 8192);
	end_windows(START + 200 * SECOND);
	sink_free(s);
}
END_TEST

START_TEST(names_of_windows)
{
	static const char *const others[] = {"20261127T094500Z-60s.skein.tmp",
					     "open-20261127T094500Z.skein",
					     "a.skein",
					     "20261127T094500Z.skein",
					     "20261327T094500Z-60s.skein",
					     "20261127T094500Z-s.skein",
					     "20261127T094500Z--1s.skein",
					     "20261127T094500Z-99999999999999999999s.skein"};
	struct window_budget budget = {.bytes = 350};
	struct window_now now = {1795773000, 1795773000};
	struct window_files w;
	uint64_t removed = 0;

	files_begin();
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		file_write(others[i], "x", 1);
	shell("head -c 100 /dev/zero >20261127T094600Z-60s.skein");
	shell("head -c 100 /dev/zero >20261127T094500Z-60s.skein");
	shell("head -c 100 /dev/zero >20261127T094500Z-60s-2.skein");
	shell("ln -s /etc/passwd 20261127T094700Z-60s.skein; mkdir 20261127T094800Z-60s.skein");
	ck_assert_int_eq(window_files_list(&w, ".", &err), 0);
	ck_assert_uint_eq(w.list.count, 3);
	ck_assert_str_eq(w.list.items[0].name, "20261127T094500Z-60s.skein");
	ck_assert_str_eq(w.list.items[1].name, "20261127T094500Z-60s-2.skein");
	ck_assert_uint_eq(w.list.items[2].begin, 1795772760);
	ck_assert_uint_eq(w.list.items[2].end, 1795772820);
	window_files_free(&w);
	/* the oldest goes first; what is no window stays; the open one may get as large as others
	 */
	ck_assert_int_eq(window_files_prune(".", &budget, &now, &removed, &err), 0);
	ck_assert_uint_eq(removed, 1);
	ck_assert_int_ne(access("20261127T094500Z-60s.skein", F_OK), 0);
	now.wall = now.steady = 1795772821;
	budget = (struct window_budget){.age = 60};
	ck_assert_int_eq(window_files_prune(".", &budget, &now, &removed, &err), 0);
	ck_assert_uint_eq(removed, 2);
	ck_assert_int_eq(access("20261127T094600Z-60s.skein", F_OK), 0);
	ck_assert_int_eq(access("a.skein", F_OK), 0);
}
END_TEST

START_TEST(open_windows_count)
{
	const struct window_budget budget = {.bytes = 1000};
	const struct window_now now = {1795773000, 1795773000};
	struct window_files w;
	uint64_t removed = 0;

	files_begin();
	for (int i = 0; i < 9; i++) {
		char command[96];

		snprintf(command, sizeof(command),
			 "head -c 100 /dev/zero >20261127T09450%dZ-1s.skein", i);
		shell(command);
	}
	shell("head -c 10 /dev/zero >open-20261127T094509Z-1.skein");
	ck_assert_int_eq(window_files_prune(".", &budget, &now, &removed, &err), 0);
	ck_assert_uint_eq(removed, 0);
	/* one that waits for its names, and a journal */
	shell("head -c 250 /dev/zero >open-20261127T094508Z-1.skein");
	ck_assert_int_eq(window_files_prune(".", &budget, &now, &removed, &err), 0);
	ck_assert_uint_eq(removed, 3);
	shell("head -c 50 /dev/zero >open-20261127T094508Z-1.skein-journal");
	ck_assert_int_eq(window_files_prune(".", &budget, &now, &removed, &err), 0);
	ck_assert_uint_eq(removed, 3);
	shell("head -c 100 /dev/zero >>open-20261127T094509Z-1.skein");
	ck_assert_int_eq(window_files_prune(".", &budget, &now, &removed, &err), 0);
	ck_assert_uint_eq(removed, 4);
	/* alone beyond the budget: no other window stays, and it is not touched */
	shell("head -c 2000 /dev/zero >>open-20261127T094509Z-1.skein");
	ck_assert_int_eq(window_files_prune(".", &budget, &now, &removed, &err), 0);
	ck_assert_uint_eq(removed, 9);
	ck_assert_int_eq(window_files_list(&w, ".", &err), 0);
	ck_assert_uint_eq(w.list.count, 0);
	shell("test \"$(ls | wc -l)\" = 3");
}
END_TEST

#define DAY (24 * 3600 * (int64_t)SECOND)

START_TEST(clocks_jump)
{
	static const char *const names[] = {
		/* set back by a day after 15 s, and forward by two after 25 s */
		"20261126T100200Z-10s.skein",
		"20261127T100140Z-10s.skein",
		"20261127T100150Z-10s.skein",
		"20261128T100210Z-10s.skein",
	};
	struct window_files w;

	files_begin();
	begin_windows(".");
	for (uint64_t i = 0; i < 40; i++) {
		clock_set = i < 15 ? 0 : i < 25 ? -DAY : DAY;
		put_sample_at(START + i * SECOND + 1, 1, 1);
		tick_windows(START + (i + 1) * SECOND);
	}
	end_windows(START + 40 * SECOND);
	sink_free(s);
	ck_assert_int_eq(window_files_list(&w, ".", &err), 0);
	ck_assert_uint_eq(w.list.count, sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < w.list.count; i++)
		ck_assert_str_eq(w.list.items[i].name, names[i]);
	window_files_free(&w);
}
END_TEST

START_TEST(jumps_count_after_an_hour)
{
	const uint64_t hour = 3600 * SECOND, utc = 1795772700 * SECOND, day = DAY;
	struct window_clock c = {0};
	struct window_now now = window_clock_read(&c, START, utc);

	ck_assert_uint_eq(now.steady, utc / SECOND);
	/* it is adjusted, and goes wrong for half an hour, twice */
	now = window_clock_read(&c, START + hour, utc + hour + SECOND);
	ck_assert_uint_eq(now.steady, (utc + hour) / SECOND + 1);
	for (int turn = 0; turn < 2; turn++) {
		now = window_clock_read(&c, START + 2 * hour, utc + 2 * hour + day);
		ck_assert_uint_eq(now.wall, (utc + 2 * hour + day) / SECOND);
		ck_assert_uint_eq(now.steady, (utc + 2 * hour) / SECOND + 1);
		now = window_clock_read(&c, START + 5 * hour / 2, utc + 5 * hour / 2 + day);
		ck_assert_uint_eq(now.steady, (utc + 5 * hour / 2) / SECOND + 1);
		now = window_clock_read(&c, START + 3 * hour, utc + 3 * hour + SECOND);
		ck_assert_uint_eq(now.steady, (utc + 3 * hour) / SECOND + 1);
	}
	/* it is set back, and stays so */
	now = window_clock_read(&c, START + 4 * hour, utc + 4 * hour - day);
	ck_assert_uint_eq(now.steady, (utc + 4 * hour) / SECOND + 1);
	now = window_clock_read(&c, START + 5 * hour, utc + 5 * hour - day);
	ck_assert_uint_eq(now.steady, now.wall);
	ck_assert_uint_eq(now.wall, (utc + 5 * hour - day) / SECOND);
}
END_TEST

/* Prune by age (s) or bytes at that time; return the number of windows that stay. */
static size_t prune_windows(uint64_t bytes, uint64_t age, struct window_now now)
{
	const struct window_budget budget = {bytes, age};
	struct window_files w;
	uint64_t removed = 0;
	size_t count;

	ck_assert_int_eq(window_files_prune(".", &budget, &now, &removed, &err), 0);
	ck_assert_int_eq(window_files_list(&w, ".", &err), 0);
	count = w.list.count;
	window_files_free(&w);
	return count;
}

START_TEST(windows_of_the_future)
{
	/* 10:00 of the 27th; the clock was a day ahead for a while */
	const uint64_t now = 1795773600, day = 86400, hour = 3600;

	files_begin();
	shell("for n in 20261127T0940 20261127T0950 20261128T0940 20261128T0950; do"
	      " head -c 100 /dev/zero >${n}00Z-60s.skein; done");
	/* a jump by a day removes nothing within an hour, in either direction */
	ck_assert_uint_eq(prune_windows(0, hour, (struct window_now){now + day, now}), 4);
	ck_assert_uint_eq(prune_windows(0, hour, (struct window_now){now, now + day}), 4);
	ck_assert_uint_eq(prune_windows(0, 2 * day, (struct window_now){now, now}), 4);
	/* those of the future go first; and if they are further away than the age */
	ck_assert_uint_eq(prune_windows(300, 0, (struct window_now){now, now}), 3);
	ck_assert_int_ne(access("20261128T094000Z-60s.skein", F_OK), 0);
	ck_assert_uint_eq(prune_windows(0, hour, (struct window_now){now, now}), 2);
	ck_assert_uint_eq(prune_windows(0, hour, (struct window_now){now + day, now + day}), 0);
}
END_TEST

START_TEST(killed_services_leave_windows)
{
	struct window_files w;
	uint64_t count;

	files_begin();
	begin_windows(".");
	put_sample_at(START + 2 * SECOND, 1, 2);
	tick_windows(START + 5 * SECOND);
	put_sample_at(START + 6 * SECOND, 1, 2); /* not committed */
	shell("mkdir killed && cp open-* killed/ && touch -d 2020-01-01 killed/*");
	file_write("killed/open-20200101T000000Z.skein", "no trace", 8);
	ck_assert_int_eq(window_files_recover("killed", &count, &err), 0);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(window_files_list(&w, "killed", &err), 0);
	ck_assert_uint_eq(w.list.count, 1);
	ck_assert_uint_eq(w.list.items[0].end - w.list.items[0].begin, 2);
	ck_assert_int_eq(chdir("killed"), 0);
	ASSERT_ROW(w.list.items[0].name, "SELECT count(*) FROM sample", "1");
	shell("test \"$(ls | wc -l)\" = 1");
	window_files_free(&w);
	sink_free(s);
}
END_TEST

/* Idle CPUs have no samples; what is accounted is the length of such a window. */
START_TEST(killed_windows_have_the_length_that_is_accounted)
{
	struct window_files w;
	uint64_t count;

	files_begin();
	begin_windows(".");
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		PUT(account, .event = 1, .cpu = cpu, .due = 7 * SECOND / PERIOD,
		    .idle = 7 * SECOND / PERIOD);
	tick_windows(START + 7 * SECOND);
	shell("mkdir killed && cp open-* killed/");
	ck_assert_int_eq(window_files_recover("killed", &count, &err), 0);
	ck_assert_int_eq(window_files_list(&w, "killed", &err), 0);
	ck_assert_uint_eq(w.list.count, 1);
	ck_assert_uint_eq(w.list.items[0].end - w.list.items[0].begin, 7);
	window_files_free(&w);
	sink_free(s);
}
END_TEST

START_TEST(a_note_is_in_its_window_once)
{
	struct window_files w;

	files_begin();
	begin_windows(".");
	tick_windows(START + SECOND);
	for (int i = 0; i < 3; i++)
		window_sink_note(s, "budget.memory", "64 MiB");
	put_sample_at(START + SECOND, 1, 2);
	tick_windows(START + 11 * SECOND);
	put_sample_at(START + 12 * SECOND, 1, 2);
	end_windows(START + 15 * SECOND);
	ck_assert_int_eq(window_files_list(&w, ".", &err), 0);
	ck_assert_uint_eq(w.list.count, 2);
	ASSERT_ROW(w.list.items[0].name,
		   "SELECT count(*) FROM info WHERE key = 'budget.memory' AND value = '64 MiB'",
		   "1");
	ASSERT_ROW(w.list.items[1].name, "SELECT count(*) FROM info WHERE key = 'budget.memory'",
		   "0");
	window_files_free(&w);
	sink_free(s);
}
END_TEST

START_TEST(a_list_of_windows_is_kept_until_one_comes_or_goes)
{
	struct window_list l = {.text = NULL};
	const uint64_t now = 5 * SECOND;

	files_begin();
	file_write("20261128T093000Z-60s.skein", "12345", 5);
	ck_assert_int_eq(window_list_update(&l, ".", 0, now, &err), 0);
	ck_assert_str_eq(l.text, "20261128T093000Z-60s.skein 1795858200 1795858260 5\n");
	ck_assert_str_eq(l.last.name, "20261128T093000Z-60s.skein");
	file_write("20261128T093100Z-60s.skein", "", 0);
	file_write("20261128T093200Z-33s-signal.skein", "", 0);
	ck_assert_int_eq(window_list_update(&l, ".", 0, now + 1, &err), 0);
	ck_assert_uint_eq(l.size, 51);
	ck_assert_int_eq(window_list_update(&l, ".", 1, now + 1, &err), 0);
	ck_assert_uint_eq(l.size, 51 + 51 + 58);
	ck_assert_str_eq(l.last.name, "20261128T093100Z-60s.skein");
	shell("rm 20261128T093000Z-60s.skein");
	ck_assert_int_eq(window_list_update(&l, ".", 1, now + WINDOW_LIST_TIME, &err), 0);
	ck_assert_uint_eq(l.size, 51 + 51 + 58);
	ck_assert_int_eq(window_list_update(&l, ".", 1, now + 1 + WINDOW_LIST_TIME, &err), 0);
	ck_assert_uint_eq(l.size, 51 + 58);
	ck_assert_int_lt(window_list_update(&l, "nowhere", 2, now, &err), 0);
	ck_assert_uint_eq(l.size, 51 + 58);
	window_list_free(&l);
}
END_TEST

SUITE("windows", windows_are_complete, windows_add_up, removed_windows_are_left_out,
      names_come_after_the_end, a_lasting_loss_is_divided, what_is_not_delivered_is_lost,
      a_window_that_cannot_be_written, memory_stays, names_of_windows, open_windows_count,
      clocks_jump, jumps_count_after_an_hour, windows_of_the_future, killed_services_leave_windows,
      killed_windows_have_the_length_that_is_accounted, a_note_is_in_its_window_once,
      a_list_of_windows_is_kept_until_one_comes_or_goes)
