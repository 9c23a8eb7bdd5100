// SPDX-License-Identifier: Apache-2.0
/* Read the lanes of a trace, and the threads of each lane. */
#include "trace/trace_lanes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"

void trace_lanes_free(struct trace_lanes *c)
{
	if (!c)
		return;
	vector_free(&c->cpus);
	vector_free(&c->threads);
	index_free(&c->lanes);
	free(c);
}

static int add_lane_row(struct trace_lanes *c, sqlite3_stmt *row)
{
	uint64_t id = (uint64_t)sqlite3_column_int64(row, 0);
	uint64_t kind = (uint64_t)sqlite3_column_int64(row, 1);
	const struct cpu_of_lane cpu = {id, (uint64_t)sqlite3_column_int64(row, 2)};

	if (lane_traits(kind)->states == LANE_STATES_NONE)
		return 0;
	if (kind == LANE_CPU && vector_push(&c->cpus, cpu) < 0)
		return -ENOMEM;
	return index_put(&c->lanes, id, (uint32_t)kind);
}

static int add_thread_row(struct trace_lanes *c, sqlite3_stmt *row)
{
	const struct thread_of_lane t = {
		.lane = (uint64_t)sqlite3_column_int64(row, 0),
		.thread = {.id = (uint64_t)sqlite3_column_int64(row, 1),
			   .start = (uint64_t)sqlite3_column_int64(row, 2),
			   .end = (uint64_t)sqlite3_column_int64(row, 3),
			   .lane = (uint64_t)sqlite3_column_int64(row, 0)},
	};

	return vector_push(&c->threads, t) < 0 ? -ENOMEM : 0;
}

static int read_lane_rows(struct trace *t, struct trace_lanes *c, const char *sql,
			  int (*add)(struct trace_lanes *c, sqlite3_stmt *row), struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc = SQLITE_DONE, ret = sql_prepare(t->db, &stmt, sql, err);

	while (ret == 0 && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		if (add(c, stmt) < 0)
			ret = error_set(err, -ENOMEM, "out of memory");
	if (ret == 0 && sql_is_damage(rc))
		t->left_out++;
	else if (ret == 0 && rc != SQLITE_DONE)
		ret = sql_fail(t->db, rc, err, t->path);
	sqlite3_finalize(stmt);
	return ret;
}

static int compare_threads_of_lane(const void *a, const void *b)
{
	const struct thread_of_lane *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return x->thread.id < y->thread.id ? -1 : x->thread.id > y->thread.id;
}

static int read_trace_lanes(struct trace *t, struct trace_lanes *c, struct error *err)
{
	int ret = 0;

	if (trace_has(t, "lane", "kind") && trace_has(t, "lane", "number"))
		ret = read_lane_rows(t, c, "SELECT id, kind, number FROM main.lane NOT INDEXED",
				     add_lane_row, err);
	if (ret == 0 && trace_has(t, "thread", "lane"))
		ret = read_lane_rows(t, c,
				     "SELECT lane, id, start, \"end\" FROM main.thread NOT INDEXED"
				     " WHERE lane <> 0",
				     add_thread_row, err);
	if (ret == 0 && c->threads.count)
		qsort(c->threads.items, c->threads.count, sizeof(*c->threads.items),
		      compare_threads_of_lane);
	return ret;
}

int trace_lanes_of(struct trace *t, const struct trace_lanes **out, struct error *err)
{
	struct trace_lanes *c = t->trace_lanes;
	int ret = 0;

	if (!c) {
		c = calloc(1, sizeof(*c));
		ret = c ? read_trace_lanes(t, c, err) : error_set(err, -ENOMEM, "out of memory");
	}
	if (ret < 0) {
		trace_lanes_free(c);
		return ret;
	}
	*out = t->trace_lanes = c;
	return 0;
}

const struct thread_of_lane *trace_lanes_threads(const struct trace_lanes *c, uint64_t lane,
						 size_t *count)
{
	size_t low = 0, high = c->threads.count, middle;

	*count = 0;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (c->threads.items[middle].lane < lane)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + *count < c->threads.count && c->threads.items[low + *count].lane == lane)
		++*count;
	return *count ? &c->threads.items[low] : NULL;
}
