// SPDX-License-Identifier: Apache-2.0
/*
 * Delete rows to which no record refers. Finding such rows means scanning whole tables, so a scan
 * waits until enough entities have ended: 1,024 plus half the number of threads that remained after
 * the last scan.
 */
#include "trace/old_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/chunks.h"
#include "trace/sql.h"

#define ENDED_BEFORE_SCAN 1024

struct old_rows {
	sqlite3 *db;
	/* number of ended processes and threads, and of losses, since the last scan */
	uint64_t ended;
	uint64_t wanted; /* value of ended that starts the next scan */
	bool inlined; /* there are rows of KIND_INLINED */
};

#define THREAD_LANES "kind = (SELECT id FROM lane_kind WHERE word = 'thread')"

/*
 * Statements that delete the rows of entities that ended before ?1 (ns), in this order. A thread
 * has one row per name: its lane is deleted when all names have ended, and the row of its first
 * name, to which the lane refers, not before the lane. Lanes of a runtime go with those of their
 * processes; that of the recording's own pauses is below none. Losses are merged into one row per
 * host, event, CPU and reason, so that the sums of their counts stay the same.
 */
static const char *const deletes[] = {
	"DELETE FROM lane WHERE " THREAD_LANES " AND id IN"
	" (SELECT lane FROM thread GROUP BY lane HAVING min(\"end\" BETWEEN 1 AND ?1 - 1))",
	"DELETE FROM lane WHERE kind = (SELECT id FROM lane_kind WHERE word = 'process') AND number"
	" IN (SELECT id FROM process WHERE \"end\" BETWEEN 1 AND ?1 - 1)",
	"DELETE FROM lane WHERE kind = (SELECT id FROM lane_kind WHERE word = 'runtime') AND ?1"
	" AND parent AND parent NOT IN (SELECT id FROM lane)",
	"DELETE FROM pyramid WHERE kind = (SELECT id FROM lane_kind WHERE word = 'thread')"
	" AND ?1 AND NOT EXISTS (SELECT 1 FROM lane WHERE lane.id BETWEEN pyramid.lane AND"
	" pyramid.last)",
	"DELETE FROM thread WHERE \"end\" BETWEEN 1 AND ?1 - 1"
	" AND id NOT IN (SELECT number FROM lane WHERE " THREAD_LANES ")",
	"DELETE FROM process WHERE \"end\" BETWEEN 1 AND ?1 - 1"
	" AND id NOT IN (SELECT process FROM thread)"
	" AND id NOT IN (SELECT process FROM mapping)",
	"INSERT OR REPLACE INTO loss(id, host, event, cpu, reason, time, \"end\", count, weight)"
	" SELECT min(id), host, event, cpu, reason, min(time), max(\"end\"), sum(count),"
	" sum(weight) FROM loss WHERE \"end\" < ?1 GROUP BY host, event, cpu, reason"
	" HAVING count(*) > 1",
	"DELETE FROM loss WHERE \"end\" < ?1 AND id NOT IN"
	" (SELECT min(id) FROM loss WHERE \"end\" < ?1 GROUP BY host, event, cpu, reason)",
};

int old_rows_new(struct old_rows **out, sqlite3 *db, struct error *err)
{
	struct old_rows *o = calloc(1, sizeof(*o));

	if (!o)
		return error_set(err, -ENOMEM, "out of memory");
	o->db = db;
	o->wanted = ENDED_BEFORE_SCAN;
	*out = o;
	return 0;
}

void old_rows_free(struct old_rows *o)
{
	free(o);
}

void old_rows_put(struct old_rows *o, enum record_kind kind, const void *record)
{
	const struct process *p = record;
	const struct thread *t = record;

	o->inlined |= kind == KIND_INLINED;
	if (kind == KIND_LOSS || (kind == KIND_PROCESS && p->end) ||
	    (kind == KIND_THREAD && t->end))
		o->ended++;
}

/* Run one statement with one number as ?1. */
static int run_with_number(struct old_rows *o, const char *sql, uint64_t number, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc, ret = sql_prepare(o->db, &stmt, sql, err);

	if (ret < 0)
		return ret;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)number);
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_DONE)
		ret = sql_fail(o->db, rc, err, "cannot write the trace");
	sqlite3_finalize(stmt);
	return ret;
}

static int delete_unreferenced(struct old_rows *o, uint64_t time, struct error *err)
{
	sqlite3_int64 left = 0;
	int ret = 0;

	for (size_t i = 0; i < sizeof(deletes) / sizeof(deletes[0]) && ret == 0; i++)
		ret = run_with_number(o, deletes[i], time, err);
	if (ret == 0)
		ret = sql_int(o->db, "SELECT count(*) FROM thread", &left, err);
	o->ended = 0;
	o->wanted = ENDED_BEFORE_SCAN + (uint64_t)left / 2;
	return ret;
}

int old_rows_delete(struct old_rows *o, uint64_t start, uint64_t margin, uint64_t chunk,
		    struct error *err)
{
	int ret = run_with_number(o, "UPDATE host SET start = max(start, ?1)", start, err);

	if (ret == 0)
		ret = run_with_number(o, "DELETE FROM pyramid WHERE \"end\" <= ?1", start, err);
	/* A reader that begins at an earlier checkpoint would need deleted records. */
	if (ret == 0)
		ret = run_with_number(o, "DELETE FROM checkpoint WHERE chunk < ?1", chunk, err);
	if (ret == 0)
		ret = run_with_number(o,
				      "DELETE FROM checkpoint WHERE base <> 0 AND ?1"
				      " AND base NOT IN (SELECT id FROM checkpoint)",
				      chunk, err);
	if (ret == 0)
		ret = run_with_number(o,
				      "INSERT OR REPLACE INTO info(host, key, value)"
				      " SELECT id, '" CHUNKS_DROPPED
				      "', printf('%d', ?1) FROM host",
				      chunk, err);
	if (ret < 0 || o->ended < o->wanted)
		return ret;
	return delete_unreferenced(o, start > margin ? start - margin : 0, err);
}

int old_rows_stacks(struct old_rows *o, const struct old_ids *last, struct error *err)
{
	int ret = run_with_number(o, "DELETE FROM chunk WHERE kind = 'stack' AND \"end\" <= ?1",
				  last->stack, err);

	if (ret == 0)
		ret = run_with_number(o, "DELETE FROM frame WHERE id <= ?1", last->frame, err);
	if (ret == 0 && o->inlined)
		ret = run_with_number(o, "DELETE FROM inlined WHERE frame <= ?1", last->frame, err);
	if (ret == 0)
		ret = run_with_number(o, "DELETE FROM function WHERE id <= ?1", last->function,
				      err);
	return ret < 0 ? ret
		       : run_with_number(o, "DELETE FROM name WHERE id <= ?1", last->name, err);
}
