// SPDX-License-Identifier: Apache-2.0
/* Read the rows of a table in the order of their ids, and skip damaged parts. */
#include "trace/scan.h"

/* maximum number of damaged places in one table; after these, the scan ends */
#define SKIPS_MAX 4096

void scan_open(struct scan *s, struct trace *t, sqlite3_stmt *rows, sqlite3_stmt *probe,
	       uint64_t dense)
{
	*s = (struct scan){.trace = t, .rows = rows, .probe = probe, .dense = dense};
}

void scan_close(struct scan *s)
{
	sqlite3_finalize(s->rows);
	sqlite3_finalize(s->probe);
	*s = (struct scan){0};
}

int scan_probe(sqlite3 *db, sqlite3_stmt **out, const char *table, struct error *err)
{
	char *sql = sqlite3_mprintf("SELECT id FROM main.\"%w\" NOT INDEXED"
				    " WHERE id >= ?1 ORDER BY id LIMIT 1",
				    table);
	int ret = sql_prepare(db, out, sql, err);

	sqlite3_free(sql);
	return ret;
}

/* Find the first id >= from. Return SQLITE_ROW with *out set, SQLITE_DONE, or an error code. */
static int probe(struct scan *s, uint64_t from, uint64_t *out)
{
	int ret;

	sqlite3_bind_int64(s->probe, 1, (sqlite3_int64)from);
	ret = sqlite3_step(s->probe);
	if (ret == SQLITE_ROW)
		*out = (uint64_t)sqlite3_column_int64(s->probe, 0);
	sqlite3_reset(s->probe);
	return ret;
}

/*
 * Find the end of the damage that begins after s->after: take doubling steps until an id can be
 * read, then bisect the last step. Return true and the first readable id in *out, or false.
 */
static bool find_readable_row(struct scan *s, uint64_t *out)
{
	uint64_t bad = s->after + 1, good = 0, middle, id = 0;
	int rc = SQLITE_CORRUPT;

	for (uint64_t stride = 1; sql_is_damage(rc) && stride < INT64_MAX - bad; stride *= 2) {
		good = bad + stride;
		rc = probe(s, good, &id);
		if (sql_is_damage(rc))
			bad = good;
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return false;
	*out = rc == SQLITE_ROW ? id : 0;
	while (good - bad > 1) {
		middle = bad + (good - bad) / 2;
		rc = probe(s, middle, &id);
		if (rc == SQLITE_ROW || rc == SQLITE_DONE)
			good = middle;
		else
			bad = middle;
		if (rc == SQLITE_ROW)
			*out = id;
	}
	return *out > s->after;
}

static int step_scan_rows(struct scan *s)
{
	if (!s->stepping) {
		sqlite3_reset(s->rows);
		if (s->probe)
			sqlite3_bind_int64(s->rows, 1, (sqlite3_int64)s->after);
	}
	s->stepping = true;
	return sqlite3_step(s->rows);
}

/*
 * Prepare to continue with the first readable row after the damage. Return false if there is none,
 * if the table has no ids, or after SKIPS_MAX damaged places.
 */
static bool scan_past_damage(struct scan *s, uint64_t *lost)
{
	uint64_t next;

	s->stepping = false;
	if (!s->probe || s->skips++ == SKIPS_MAX || !find_readable_row(s, &next)) {
		++*lost;
		return false;
	}
	*lost += next - s->after - 1;
	s->after = next - 1;
	return true;
}

static void accept_scan_row(struct scan *s, uint64_t *lost)
{
	uint64_t id;

	if (!s->probe)
		return;
	id = (uint64_t)sqlite3_column_int64(s->rows, 0);
	if (id <= s->after) /* one of the two rows has a wrong id */
		++*lost;
	else if (id > s->dense && id > s->after + 1)
		*lost += id - 1 - (s->after > s->dense ? s->after : s->dense);
	s->after = id;
}

int scan_next(struct scan *s, uint64_t *lost, struct error *err)
{
	int ret;

	*lost = 0;
	while (s->rows && !s->done) {
		ret = step_scan_rows(s);
		if (ret == SQLITE_ROW && s->rows_read++ >= trace_rows_max(s->trace)) {
			++*lost; /* more rows than fit the file: a hostile table repeats pages */
			s->done = true;
			return 0;
		}
		if (ret == SQLITE_ROW) {
			accept_scan_row(s, lost);
			return 1;
		}
		if (ret != SQLITE_DONE && !sql_is_damage(ret))
			return sql_fail(s->trace->db, ret, err, s->trace->path);
		s->done = ret == SQLITE_DONE || !scan_past_damage(s, lost);
	}
	return 0;
}
