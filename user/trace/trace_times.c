// SPDX-License-Identifier: Apache-2.0
/* Find the times that a trace is of. */
#include "trace/open.h"
#include "trace/sql.h"
#include "trace/trace.h"

/* The chunks of stacks have ids instead of times. */
static const char last_record[] =
	"SELECT coalesce(max(\"end\"), 0) FROM chunk WHERE kind <> 'stack'";
/* What was due on a CPU at all rates is the time for which it was sampled, less a period. */
static const char accounted[] =
	"SELECT coalesce(max(time), 0) FROM (SELECT sum(due * period) AS time FROM account JOIN "
	"event ON event.id = account.event WHERE unit = 'ns' GROUP BY cpu)";

int trace_times(struct trace *t, uint64_t *start, uint64_t *last, struct error *err)
{
	sqlite3_int64 begin, record, time;
	int ret = sql_int(t->db, "SELECT coalesce(min(start), 0) FROM host", &begin, err);

	if (!ret)
		ret = sql_int(t->db, last_record, &record, err);
	if (!ret)
		ret = sql_int(t->db, accounted, &time, err);
	if (ret)
		return ret;
	*start = (uint64_t)begin;
	*last = (uint64_t)(record > begin + time ? record : begin + time);
	return 0;
}
