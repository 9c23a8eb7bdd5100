// SPDX-License-Identifier: Apache-2.0
/* Look up stacks, which are stored in chunks, by their ids: the right ones, in bounded memory. */
#include <check.h>
#include <errno.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include "files.h"
#include "suite.h"
#include "synthetic.h"
#include "trace_file.h"

#define FILE_NAME "stacks.skein"
#define STACKS 150000 /* more than two chunks */
#define STEP 3 /* difference of consecutive ids */

static uint64_t parent_of(uint64_t i)
{
	return i / 2 * STEP;
}

/* Write STACKS stacks: stack i has the id i * STEP; they form a binary tree. */
static void write_stacks(void)
{
	struct error err = {0};
	struct sink *w;

	files_begin();
	ck_assert_msg(!trace_writer(&w, FILE_NAME, &err), "%s", err.text);
	for (uint64_t i = 1; i <= STACKS; i++) {
		ck_assert_int_eq(put_stack(w,
					   &(struct stack){.id = i * STEP,
							   .parent = parent_of(i),
							   .frame = i % 1000 + 1},
					   &err),
				 0);
		ck_assert_int_eq(put_sample(w,
					    &(struct sample){.time = i,
							     .event = 1,
							     .thread = i % 7 + 1,
							     .stack = i * STEP,
							     .weight = 1},
					    &err),
				 0);
	}
	ck_assert_msg(!w->ops->finish(w, &err), "%s", err.text);
	sink_free(w);
}

static void run_sql(const char *sql)
{
	char *message = NULL;
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(FILE_NAME, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s", message);
	sqlite3_close(db);
}

/* Return the rows as CSV. says: part of the expected error, or NULL if none is expected. */
static char *answer(struct trace *t, const char *sql, const char *says)
{
	struct error err = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int result = trace_query(t, sql, QUERY_CSV, out, &err);

	fclose(out);
	ck_assert_msg(!result == !says, "%s: %s", sql, err.text);
	ck_assert_msg(!says || strstr(err.text, says), "%s: %s", sql, err.text);
	return text;
}

static void ask(struct trace *t, const char *sql, const char *wanted)
{
	char *text = answer(t, sql, NULL);

	ck_assert_msg(!strcmp(strchr(text, '\n') + 1, wanted), "%s: %s", sql, text);
	free(text);
}

START_TEST(ids_must_grow)
{
	static const uint64_t after_7[] = {7, 6, 0};
	struct error err;
	struct trace *t;
	struct sink *w;
	uint64_t count;

	files_begin();
	for (size_t i = 0; i < sizeof(after_7) / sizeof(after_7[0]); i++) {
		ck_assert_int_eq(trace_writer(&w, FILE_NAME, &err), 0);
		ck_assert_int_eq(put_stack(w, &(struct stack){.id = 7}, &err), 0);
		ck_assert_int_eq(sink_tick(w, 0, &err), 0);
		ck_assert_int_eq(put_stack(w, &(struct stack){.id = after_7[i]}, &err), -EINVAL);
		ck_assert_msg(strstr(err.text, "comes after stack 7: ids must grow"), "%s",
			      err.text);
		ck_assert_int_eq(w->ops->finish(w, &err), -EINVAL);
		sink_free(w);
		t = trace_file_open(FILE_NAME);
		ck_assert_int_eq(trace_count(t, KIND_STACK, &count, &err), 0);
		ck_assert_uint_eq(count, 1);
		trace_close(t);
	}
}
END_TEST

/* Every condition finds the same rows as a full scan. */
START_TEST(found_as_scanned)
{
	static const char *const conditions[] = {
		"id = 3",
		"id = 2",
		"id = 0",
		"id = -3",
		"id = 196608",
		"id = 196611",
		"id = 450000",
		"id = 450003",
		"id = 3.0",
		"id = 3.5",
		"id = '3'",
		"id = 'x'",
		"id = x'03'",
		"id = NULL",
		"id = 1e300",
		"3 = id",
		"id = 3 AND frame = 2",
		"id = 3 OR id = 196611 OR id = 9",
		"id = 3 AND parent = 0 OR id = 9 AND frame = 4",
		"id IN (3, 4, 196608, 196611, 450000)",
		"id > 449990",
		"id >= 449990 AND id < 449999",
		"id < 10",
		"id <= 12.5",
		"id BETWEEN 196600 AND 196620",
		"frame = 5",
	};
	struct trace *t;
	char sql[512];

	write_stacks();
	t = trace_file_open(FILE_NAME);
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		snprintf(sql, sizeof(sql),
			 "WITH every AS MATERIALIZED (SELECT rowid AS row, * FROM stack)"
			 " SELECT (SELECT group_concat(rowid || ' ' || id || ' ' || parent || ' ' "
			 "|| frame)"
			 " FROM stack WHERE %s) IS"
			 " (SELECT group_concat(row || ' ' || id || ' ' || parent || ' ' || frame)"
			 " FROM every WHERE %s)",
			 conditions[i], conditions[i]);
		ask(t, sql, "1\n");
	}
	trace_close(t);
}
END_TEST

START_TEST(joined_and_walked)
{
	uint64_t steps = 0;
	char wanted[32];
	struct trace *t;

	for (uint64_t i = 1; i <= STACKS; i++)
		for (uint64_t at = i; at; at /= 2)
			steps++;
	write_stacks();
	t = trace_file_open(FILE_NAME);
	ask(t, "SELECT count(*) FROM sample JOIN stack ON stack.id = sample.stack", "150000\n");
	ask(t, "SELECT sum(count), count(stack.frame) FROM sum JOIN stack ON stack.id = sum.stack",
	    "150000,150000\n");
	snprintf(wanted, sizeof(wanted), "%" PRIu64 "\n", steps);
	ask(t,
	    "WITH RECURSIVE w AS (SELECT stack.* FROM sample JOIN stack ON stack.id = stack"
	    " UNION ALL SELECT s.* FROM w JOIN stack s ON s.id = w.parent) SELECT count(*) FROM w",
	    wanted);
	trace_close(t);
}
END_TEST

/* Joins must look ids up: with an id as a mere bound, each sample would scan all stacks. */
START_TEST(looked_up_by_plan)
{
	static const char *const queries[] = {
		"SELECT * FROM sum JOIN stack ON stack.id = sum.stack",
		"SELECT * FROM sample LEFT JOIN stack ON stack.id = sample.stack",
		"WITH RECURSIVE w AS (SELECT stack AS id FROM sample UNION ALL"
		" SELECT s.parent FROM w JOIN stack s ON s.id = w.id) SELECT * FROM w",
		"SELECT * FROM hottest",
	};
	struct trace *t;
	char sql[512], *text;

	write_stacks();
	t = trace_file_open(FILE_NAME);
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		snprintf(sql, sizeof(sql), "EXPLAIN QUERY PLAN %s", queries[i]);
		text = answer(t, sql, NULL);
		ck_assert_msg(strstr(text, "VIRTUAL TABLE INDEX 16:"), "%s: %s", queries[i], text);
		free(text);
	}
	trace_close(t);
}
END_TEST

/* A damaged chunk is reported once in every query that needs it, and only its stacks are lost. */
START_TEST(damaged_chunk)
{
	static const char walk[] =
		"SELECT count(stack.id) FROM sample LEFT JOIN stack ON stack.id = sample.stack";
	struct tally tally;
	struct trace *t;

	write_stacks();
	run_sql("UPDATE chunk SET data = zeroblob(100) WHERE kind = 'stack' AND time = 3");
	t = trace_file_open(FILE_NAME);
	for (int i = 0; i < 2; i++) {
		char *text = answer(t, walk, "65536 records in 1 chunks");

		ck_assert_str_eq(text, "count(stack.id)\n84464\n");
		free(text);
	}
	ask(t, "SELECT frame FROM stack WHERE id = 300000", "1\n");
	tally_init(&tally);
	trace_file_put(t, &tally.sink);
	ck_assert_uint_eq(tally.counts[KIND_STACK], STACKS - 65536);
	ck_assert_uint_eq(tally.counts[KIND_SAMPLE], STACKS);
	ck_assert_uint_eq(tally.sum_count, STACKS);
	ck_assert_uint_eq(tally.counts[KIND_LOSS], 1);
	ck_assert_uint_eq(tally.lost, 65536);
	trace_close(t);
}
END_TEST

/* Unreadable samples are reported once, although the sums need them, too. */
START_TEST(damaged_samples)
{
	struct tally tally;
	struct trace *t;

	write_stacks();
	run_sql("UPDATE chunk SET data = zeroblob(100) WHERE kind = 'sample' AND time = 1");
	t = trace_file_open(FILE_NAME);
	for (int i = 0; i < 2; i++) {
		tally_init(&tally);
		if (i)
			tally.sink.wants &= ~WANT(SAMPLE);
		trace_file_put(t, &tally.sink);
		ck_assert_uint_eq(tally.counts[KIND_SAMPLE], i ? 0 : STACKS - 65536);
		ck_assert_uint_eq(tally.sum_count, STACKS - 65536);
		ck_assert_uint_eq(tally.counts[KIND_LOSS], 1);
		ck_assert_uint_eq(tally.lost, 65536);
	}
	trace_close(t);
}
END_TEST

/* Stacks that take 470 MB decoded are searched in 256 MiB, and evicted chunks are decoded again. */
START_TEST(memory_is_bounded)
{
	struct rusage usage;
	struct trace *t;

	write_stacks();
	run_sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
		" INSERT INTO chunk(kind, lane_group, time, \"end\", records, bytes_raw, data)"
		" SELECT kind, 0, time + i * 1000000, \"end\" + i * 1000000, records, bytes_raw,"
		" data FROM chunk, n WHERE kind = 'stack' AND time = 3");
	t = trace_file_open(FILE_NAME);
	for (int i = 0; i < 2; i++)
		ask(t,
		    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
		    " SELECT count(*) FROM n JOIN stack ON stack.id = 3 + n.i * 1000000",
		    "1\n");
	trace_close(t);
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
#ifndef __SANITIZE_ADDRESS__
	ck_assert_int_lt(usage.ru_maxrss, 320 << 10);
#endif
	ck_assert_int_gt(usage.ru_maxrss, 250 << 10); /* otherwise the bound was not reached */
}
END_TEST

SUITE("trace-stacks", ids_must_grow, found_as_scanned, joined_and_walked, looked_up_by_plan,
      damaged_chunk, damaged_samples, memory_is_bounded)
