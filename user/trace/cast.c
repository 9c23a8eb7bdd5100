// SPDX-License-Identifier: Apache-2.0
/* Read the CPUs and threads of a trace, by lane. */
#include "trace/cast.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"

void cast_free(struct cast *c)
{
	if (!c)
		return;
	vector_free(&c->cpus);
	vector_free(&c->threads);
	index_free(&c->lanes);
	free(c);
}

static int add_lane(struct cast *c, sqlite3_stmt *row)
{
	uint64_t id = (uint64_t)sqlite3_column_int64(row, 0);
	uint64_t kind = (uint64_t)sqlite3_column_int64(row, 1);
	const struct cast_cpu cpu = {id, (uint64_t)sqlite3_column_int64(row, 2)};

	if (kind != LANE_CPU && kind != LANE_THREAD)
		return 0;
	if (kind == LANE_CPU && vector_push(&c->cpus, cpu) < 0)
		return -ENOMEM;
	return index_put(&c->lanes, id, (uint32_t)kind);
}

static int add_thread(struct cast *c, sqlite3_stmt *row)
{
	const struct cast_thread t = {
		.lane = (uint64_t)sqlite3_column_int64(row, 0),
		.thread = {
			.id = (uint64_t)sqlite3_column_int64(row, 1),
			.start = (uint64_t)sqlite3_column_int64(row, 2),
			.end = (uint64_t)sqlite3_column_int64(row, 3),
			.lane = (uint64_t)sqlite3_column_int64(row, 0),
		},
	};

	return vector_push(&c->threads, t) < 0 ? -ENOMEM : 0;
}

static int read_rows(struct trace *t, struct cast *c, const char *sql,
		     int (*add)(struct cast *c, sqlite3_stmt *row), struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc = SQLITE_DONE, result = sql_prepare(t->db, &stmt, sql, err);

	while (result == 0 && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		if (add(c, stmt) < 0)
			result = error_set(err, -ENOMEM, "out of memory");
	if (result == 0 && sql_is_damage(rc))
		t->left_out++;
	else if (result == 0 && rc != SQLITE_DONE)
		result = sql_fail(t->db, rc, err, t->path);
	sqlite3_finalize(stmt);
	return result;
}

static int compare(const void *a, const void *b)
{
	const struct cast_thread *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return x->thread.id < y->thread.id ? -1 : x->thread.id > y->thread.id;
}

static int read_cast(struct trace *t, struct cast *c, struct error *err)
{
	int result = 0;

	if (trace_has(t, "lane", "kind") && trace_has(t, "lane", "number"))
		result = read_rows(t, c, "SELECT id, kind, number FROM main.lane NOT INDEXED",
				   add_lane, err);
	if (result == 0 && trace_has(t, "thread", "lane"))
		result = read_rows(t, c,
				   "SELECT lane, id, start, \"end\" FROM main.thread NOT INDEXED"
				   " WHERE lane <> 0",
				   add_thread, err);
	if (result == 0 && c->threads.count)
		qsort(c->threads.items, c->threads.count, sizeof(*c->threads.items), compare);
	return result;
}

int cast_of(struct trace *t, const struct cast **ret, struct error *err)
{
	struct cast *c = t->cast;
	int result = 0;

	if (!c) {
		c = calloc(1, sizeof(*c));
		result = c ? read_cast(t, c, err) : error_set(err, -ENOMEM, "out of memory");
	}
	if (result < 0) {
		cast_free(c);
		return result;
	}
	*ret = t->cast = c;
	return 0;
}

const struct cast_thread *cast_threads(const struct cast *c, uint64_t lane, size_t *count)
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
