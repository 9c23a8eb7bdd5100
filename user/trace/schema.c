// SPDX-License-Identifier: Apache-2.0
/* The SQL schema of a trace, generated from the lists of base/record.h. */
#include "trace/schema.h"

#include <errno.h>
#include <stddef.h>

#include "trace/sql.h"

#define WORD_LANE(N, word, ...) {LANE_##N, word, NULL},
#define WORD_MAPPING(N, word) {MAPPING_##N, word, NULL},
#define WORD_FRAME(N, word) {FRAME_##N, word, NULL},
#define WORD_FRAME_FLAG(N, word, bit) {bit, word, NULL},
#define WORD_SAMPLE_FLAG(N, word, bit) {bit, word, NULL},
#define WORD_END(N, word) {END_##N, word, NULL},
#define WORD_STATE(N, word) {STATE_##N, word, NULL},
#define WORD_WAIT(N, word) {WAIT_##N, word, NULL},
#define WORD_INTERRUPT(N, word) {INTERRUPT_##N, word, NULL},
#define WORD_EDGE(N, word) {EDGE_##N, word, NULL},
#define WORD_SPAN(N, word) {SPAN_##N, word, NULL},
#define WORD_ORIGIN(N, word) {ORIGIN_##N, word, NULL},
#define WORD_LOSS(N, word, due, text) {LOSS_##N, word, text},

static const struct word lane_kinds[] = {LANE_KINDS(WORD_LANE){0}};
static const struct word mapping_kinds[] = {MAPPING_KINDS(WORD_MAPPING){0}};
static const struct word frame_kinds[] = {FRAME_KINDS(WORD_FRAME){0}};
static const struct word frame_flags[] = {FRAME_FLAGS(WORD_FRAME_FLAG){0}};
static const struct word sample_flags[] = {SAMPLE_FLAGS(WORD_SAMPLE_FLAG){0}};
static const struct word stack_ends[] = {STACK_ENDS(WORD_END){0}};
static const struct word slice_states[] = {SLICE_STATES(WORD_STATE){0}};
static const struct word wait_classes[] = {WAIT_CLASSES(WORD_WAIT){0}};
static const struct word interrupts[] = {INTERRUPTS(WORD_INTERRUPT){0}};
static const struct word edge_kinds[] = {EDGE_KINDS(WORD_EDGE){0}};
static const struct word span_kinds[] = {SPAN_KINDS(WORD_SPAN){0}};
static const struct word span_origins[] = {SPAN_ORIGINS(WORD_ORIGIN){0}};
static const struct word loss_reasons[] = {LOSS_REASONS(WORD_LOSS){0}};

const struct word_table word_tables[] = {
	{"lane_kind", "words for lane.kind", lane_kinds},
	{"mapping_kind", "words for mapping.kind", mapping_kinds},
	{"frame_kind", "words for frame.kind", frame_kinds},
	{"frame_flag", "words for the bits of frame.flags", frame_flags},
	{"sample_flag", "words for the bits of sample.flags and sum.flags", sample_flags},
	{"stack_end", "words for frame.address of frames of the kind \"end\"", stack_ends},
	{"slice_state", "words for slice.state and slice.left", slice_states},
	{"wait_class", "words for slice.wait and sample.wait", wait_classes},
	{"interrupt", "words for lane.number of interrupt lanes", interrupts},
	{"edge_kind", "words for edge.kind", edge_kinds},
	{"span_kind", "words for span.kind", span_kinds},
	{"span_origin", "words for span.origin", span_origins},
	{"loss_reason", "words for loss.reason, and what to do about it", loss_reasons},
	{NULL, NULL, NULL},
};

const struct chunk_column chunk_columns[] = {
	{"id", "INTEGER PRIMARY KEY", "in the order of writing"},
	{"kind", "TEXT NOT NULL", "name of the stream"},
	{"lane_group", "INTEGER NOT NULL", "which lanes are in it; 0: any"},
	{"time", "INTEGER NOT NULL",
	 "smallest time of its records, ns; of stacks, the smallest id"},
	{"end", "INTEGER NOT NULL",
	 "largest time or end of its records, ns; of stacks, the largest id"},
	{"records", "INTEGER NOT NULL", "how many; at most 65,536"},
	{"bytes_raw", "INTEGER NOT NULL", "bytes of the columns before zstd"},
	{"data", "BLOB NOT NULL", "the columns; see \"The blob of a chunk\""},
	{NULL, NULL, NULL},
};

static const struct chunk_column pyramid_columns[] = {
	{"id", "INTEGER PRIMARY KEY", "in the order of writing"},
	{"level", "INTEGER NOT NULL", "0 to 18: cells of 2^(16 + 2 level) ns"},
	{"kind", "INTEGER NOT NULL", "of its lanes, enum lane_kind"},
	{"time", "INTEGER NOT NULL", "when the block begins, ns: a multiple of 1,024 cells"},
	{"end", "INTEGER NOT NULL", "when it ends, ns: 1,024 cells later"},
	{"dead", "INTEGER NOT NULL",
	 "1: of lanes that ended early, which the block's other rows do not have"},
	{"lane", "INTEGER NOT NULL", "first of a range of lane.id"},
	{"last", "INTEGER NOT NULL", "last of that range"},
	{"records", "INTEGER NOT NULL", "slices and edges of all lanes in the block"},
	{"data", "BLOB NOT NULL", "the cells; see \"The zoom pyramid\""},
	{NULL, NULL, NULL},
};

static const struct chunk_column checkpoint_columns[] = {
	{"id", "INTEGER PRIMARY KEY", "in the order of writing"},
	{"time", "INTEGER NOT NULL", "of the last slice or edge before it, ns"},
	{"since", "INTEGER NOT NULL", "smallest time of its slices, or its own, ns"},
	{"chunk", "INTEGER NOT NULL",
	 "chunk.id: slices and edges before it are in chunks up to here"},
	{"base", "INTEGER NOT NULL",
	 "checkpoint.id of an earlier one that has all lanes missing here; 0: none"},
	{"lanes", "BLOB NOT NULL", "the states of lanes; see \"Checkpoints\""},
	{"slices", "BLOB NOT NULL", "slices that had begun before the checkpoint before this one"},
	{NULL, NULL, NULL},
};

const struct blob_table blob_tables[] = {
	{"chunk", "the streams, in pieces", chunk_columns, "kind, time, \"end\""},
	{"pyramid", "what lanes did, in cells of many sizes", pyramid_columns,
	 "level, kind, time, dead, lane, last"},
	{"checkpoint", "where reading slices and edges can begin", checkpoint_columns, "time"},
	{NULL, NULL, NULL, NULL},
};

/* SAMPLE_FLAGS_OF_RUNTIME as a number for use in SQL. */
#define RUNTIME_FLAGS 120
#define NUMBER_TEXT(number) #number
#define NUMBER_SQL(number) NUMBER_TEXT(number)
#define RUNTIME_FLAGS_SQL "(flags & " NUMBER_SQL(RUNTIME_FLAGS) ")"
_Static_assert(RUNTIME_FLAGS == SAMPLE_FLAGS_OF_RUNTIME, "the view sum and sums are the same");

/* SQL for a path without its folders. */
#define BASE_SQL(path) "replace(" path ", rtrim(" path ", replace(" path ", '/', '')), '')"

/* SQL for " (FILE:LINE)": the file of a Python function, and the line where the function begins. */
#define PLACE_SQL \
	"' (' || CASE WHEN file LIKE '<%' THEN file ELSE " BASE_SQL("file") " END ||" \
	" CASE WHEN function.line THEN ':' || function.line ELSE '' END || ')'"

/*
 * SQL for the names of frames as every output of skein shows them; see profile_frame_name(). One
 * difference: two Python functions that differ only in the folders of their files share one name
 * here.
 */
#define FRAME_NAME_SQL \
	"SELECT frame.id AS id, CASE" \
	" WHEN frame.kind = (SELECT id FROM frame_kind WHERE word = 'end')" \
	" THEN coalesce((SELECT" \
	" CASE WHEN word IN ('walked', 'no address space', 'outside of this namespace')" \
	" THEN '[' ELSE '[truncated: ' END ||" \
	" word || ']' FROM stack_end WHERE id = frame.address), '[truncated: ?]')" \
	" WHEN function.name <> '' THEN function.name || CASE WHEN file <> '' AND frame.kind =" \
	" (SELECT id FROM frame_kind WHERE word = 'python') THEN " PLACE_SQL " ELSE '' END" \
	" WHEN frame.kind = (SELECT id FROM frame_kind WHERE word = 'java')" \
	" THEN '[unknown Java method]'" \
	" WHEN mapping.id IS NOT NULL THEN '[' || CASE WHEN path = '' OR mapping.kind =" \
	" (SELECT id FROM mapping_kind WHERE word = 'python')" \
	" THEN (SELECT word FROM mapping_kind WHERE id = mapping.kind)" \
	" ELSE trim(" BASE_SQL("path") ", '[]') END ||" \
	" CASE WHEN function.address THEN printf('+0x%x]', function.address) ELSE ']' END" \
	" ELSE '[unknown]' END AS name, coalesce(mapping.path, '') AS path," \
	" frame.mapping AS mapping, frame.function AS function" \
	" FROM frame LEFT JOIN function ON function.id = frame.function" \
	" LEFT JOIN mapping ON mapping.id = frame.mapping"

/*
 * SQL that first adds the samples up by event and an id, so that each name is looked up and
 * compared only once.
 */
#define PART_SQL(id, from) \
	"(SELECT event, " id " AS id, count(*) AS count, sum(weight) AS weight FROM " from \
	" GROUP BY 1, 2) AS part LEFT JOIN event ON event.id = part.event"

#define SHARE_SQL \
	"sum(part.count) AS samples, sum(part.weight) AS weight," \
	" round(100.0 * sum(part.weight) /" \
	" sum(sum(part.weight)) OVER (PARTITION BY event.name), 2) AS percent"

/*
 * SQL for the order of views by event: waits come after times on CPUs, which they would hide, and
 * what is not a time comes last.
 */
#define EVENT_ORDER_SQL \
	" ORDER BY CASE event.name WHEN '" EVENT_OFF_CPU "' THEN 1" \
	" WHEN '" EVENT_OFF_CPU_WAKERS "' THEN 2 WHEN '" EVENT_EXCEPTIONS "' THEN 3" \
	" WHEN '" EVENT_ALLOCATIONS "' THEN 4 ELSE 0 END, weight DESC"

/* SQL that leaves out the samples of the idle threads, whose process has pid 0, as reports do. */
#define NOT_IDLE_SQL \
	"WHERE thread NOT IN (SELECT thread.id FROM thread JOIN process" \
	" ON process.id = thread.process WHERE process.pid = 0)"

/*
 * SQL for the innermost function at a frame's address, by the rules of inlined_attach(): NULL where
 * nothing is inlined, where rows are missing, where that function has no name, and for frames that
 * are neither native nor Java's.
 */
#define INNERMOST_SQL \
	"(SELECT function.name FROM inlined JOIN function ON function.id = inlined.function" \
	" WHERE inlined.frame = part.id AND inlined.depth = 0 AND function.name <> ''" \
	" AND (SELECT count(*) = max(depth) + 1 FROM inlined WHERE frame = part.id)" \
	" AND (SELECT kind FROM frame WHERE id = part.id) IN" \
	" (SELECT id FROM frame_kind WHERE word IN ('native', 'java'))), "

/*
 * SQL for the samples by function of the innermost frame. The argument is empty, or INNERMOST_SQL
 * in traces that have the table of inlined functions.
 */
#define HOTTEST_SQL(innermost) \
	"SELECT event.name AS event, coalesce(" innermost "frame_name.name, '[no stack]')" \
	" AS function, coalesce(frame_name.path, '') AS path, " SHARE_SQL \
	" FROM " PART_SQL("stack.frame", \
			  "sample LEFT JOIN stack ON stack.id = sample.stack " NOT_IDLE_SQL) \
	" LEFT JOIN frame_name ON frame_name.id = part.id" \
	" GROUP BY event.name, 2, 3" EVENT_ORDER_SQL

#define LANE_KIND_SQL(word) "(SELECT id FROM lane_kind WHERE word = '" word "')"

/*
 * SQL for the thread.id of a lane's thread at a time. A thread has one thread.id per name; if none
 * had begun at that time, the first is taken. NULL if the lane is not a thread's.
 */
#define THREAD_SQL(lane, time) \
	"coalesce((SELECT id FROM thread WHERE thread.lane = " lane " AND " lane " <> 0" \
	" AND start <= " time " ORDER BY start DESC, id DESC LIMIT 1)," \
	" (SELECT number FROM lane WHERE id = " lane \
	" AND kind = " LANE_KIND_SQL("thread") "))"

/*
 * SQL for the slices of all CPUs, with the thread of each. CROSS JOIN makes slice the outer table
 * of the join: as an inner table, the stream would be scanned once for each row of the outer table.
 */
#define RUNNING_SQL \
	"SELECT slice.time AS time, slice.\"end\" AS \"end\", lane.number AS cpu," \
	" process.pid AS pid, thread.tid AS tid, process.comm AS process, thread.comm AS comm," \
	" slice_state.word AS state, took.word AS \"left\", wait_class.word AS wait" \
	" FROM slice CROSS JOIN lane ON lane.id = slice.lane AND lane.kind = " \
	LANE_KIND_SQL("cpu") \
	" LEFT JOIN thread ON thread.id = slice.value" \
	" LEFT JOIN process ON process.id = thread.process" \
	" LEFT JOIN slice_state ON slice_state.id = slice.state" \
	" LEFT JOIN slice_state AS took ON took.id = slice.\"left\"" \
	" LEFT JOIN wait_class ON wait_class.id = slice.wait"

#define WAKEUP_SQL \
	"SELECT edge.time AS time, edge_kind.word AS kind, by_process.pid AS waker_pid," \
	" by.tid AS waker_tid, coalesce(by.comm, interrupt.word) AS waker," \
	" process.pid AS pid, thread.tid AS tid, process.comm AS process, thread.comm AS comm," \
	" nullif(edge.value, 0) - 1 AS cpu" \
	" FROM edge CROSS JOIN edge_kind ON edge_kind.id = edge.kind" \
	" AND edge_kind.word IN ('wake-up', 'fork')" \
	" LEFT JOIN thread AS by ON by.id = " THREAD_SQL("edge.\"from\"", "edge.time") \
	" LEFT JOIN process AS by_process ON by_process.id = by.process" \
	" LEFT JOIN lane AS source ON source.id = edge.\"from\"" \
	" AND source.kind = " LANE_KIND_SQL("interrupt") \
	" LEFT JOIN interrupt ON interrupt.id = source.number" \
	" LEFT JOIN thread ON thread.id = " THREAD_SQL("edge.\"to\"", "edge.time") \
	" LEFT JOIN process ON process.id = thread.process"

/* SQL that joins the lane of a span or counter, and its process: a lane of a runtime lies below. */
#define OF_LANE_SQL(record) \
	" LEFT JOIN lane ON lane.id = " record ".lane" \
	" LEFT JOIN lane AS above ON above.id = lane.parent AND above.kind = " \
	LANE_KIND_SQL("process") \
	" LEFT JOIN process ON process.id = coalesce(thread.process," \
	" CASE lane.kind WHEN " LANE_KIND_SQL("process") " THEN lane.number END, above.number)"

/* SQL for all spans in words. */
#define SPANS_SQL \
	"SELECT span.time AS time, nullif(span.\"end\", 0) AS \"end\"," \
	" nullif(span.\"end\", 0) - span.time AS length, span_kind.word AS kind," \
	" coalesce(name.text, '') AS name, span_origin.word AS origin, process.pid AS pid," \
	" thread.tid AS tid, process.comm AS process," \
	" coalesce(nullif(thread.runtime_name, ''), thread.comm) AS thread, lane.name AS lane," \
	" args.text AS args" \
	" FROM span LEFT JOIN span_kind ON span_kind.id = span.kind" \
	" LEFT JOIN span_origin ON span_origin.id = span.origin" \
	" LEFT JOIN name ON name.id = span.name LEFT JOIN name AS args ON args.id = span.args" \
	" LEFT JOIN thread ON thread.id = " THREAD_SQL("span.lane", "span.time") \
	OF_LANE_SQL("span")

#define COUNTERS_SQL \
	"SELECT counter.time AS time, coalesce(name.text, '') AS name, counter.value AS value," \
	" process.pid AS pid, process.comm AS process, lane.name AS lane" \
	" FROM counter LEFT JOIN name ON name.id = counter.name" \
	" LEFT JOIN thread ON thread.id = " THREAD_SQL("counter.lane", "counter.time") \
	OF_LANE_SQL("counter")

/*
 * SQL for the word of what ended a wait that no thread ended: the flags of its sample are "by
 * timer" and so on, after the words of interrupt.
 */
#define WAIT_ENDER_SQL \
	"(SELECT interrupt.word FROM sample_flag JOIN interrupt" \
	" ON sample_flag.word = 'by ' || interrupt.word WHERE sample.flags & sample_flag.id)"

/*
 * SQL for the waits whose stacks were taken. p is the probability with which a wait was chosen:
 * its weight is its length over p. CROSS JOIN as in RUNNING_SQL.
 */
#define WAIT_SQL \
	"SELECT sample.time AS time, process.pid AS pid, thread.tid AS tid," \
	" process.comm AS process, thread.comm AS comm, wait_class.word AS class," \
	" sample.length AS length, sample.weight AS weight," \
	" min(1.0, 1.0 * sample.length / max(1, sample.weight)) AS p, sample.address AS address," \
	" by.tid AS waker_tid, coalesce(by_process.comm, " WAIT_ENDER_SQL ") AS waker," \
	" by.comm AS waker_comm, sample.stack AS stack, sample.thread AS thread," \
	" thread.process AS process_id" \
	" FROM sample CROSS JOIN event ON event.id = sample.event AND event.name = 'off-cpu'" \
	" LEFT JOIN thread ON thread.id = sample.thread" \
	" LEFT JOIN process ON process.id = thread.process" \
	" LEFT JOIN wait_class ON wait_class.id = sample.wait" \
	" LEFT JOIN thread AS by ON by.id = sample.other" \
	" LEFT JOIN process AS by_process ON by_process.id = by.process"

#define NOT_LIBRARY_SQL(name) " AND substr(base, 1, length('" name "')) <> '" name "'"

/*
 * SQL for where threads waited: the innermost function of each stack that is neither of the kernel
 * nor of WAITING_LIBRARIES, as in skein report --off-cpu.
 */
#define WAITING_SQL \
	"WITH RECURSIVE part(stack, class, samples, weight) AS (" \
	" SELECT sample.stack, sample.wait, count(*), sum(sample.weight) FROM sample" \
	" WHERE sample.event IN (SELECT id FROM event WHERE name = 'off-cpu') GROUP BY 1, 2)," \
	" path(leaf, at, depth) AS (SELECT DISTINCT stack, stack, 0 FROM part" \
	" UNION ALL SELECT leaf, stack.parent, depth + 1 FROM path" \
	" JOIN stack ON stack.id = path.at WHERE stack.parent <> 0)," \
	" named AS (SELECT leaf, depth, name, frame_kind.word AS kind," \
	" frame_name.path AS path, " BASE_SQL("frame_name.path") " AS base FROM path" \
	" JOIN stack ON stack.id = path.at JOIN frame_name ON frame_name.id = stack.frame" \
	" JOIN frame ON frame.id = stack.frame JOIN frame_kind ON frame_kind.id = frame.kind" \
	" WHERE frame_kind.word NOT IN ('kernel', 'end'))," \
	" own AS (SELECT leaf, name, path, min(depth) FROM named WHERE kind = 'python' OR (1" \
	WAITING_LIBRARIES(NOT_LIBRARY_SQL) ") GROUP BY leaf)" \
	" SELECT coalesce(own.name, '[no function of a program]') AS function," \
	" coalesce(own.path, '') AS path, wait_class.word AS class, sum(samples) AS stacks," \
	" sum(weight) AS weight," \
	" round(100.0 * sum(weight) / sum(sum(weight)) OVER (), 2) AS percent" \
	" FROM part LEFT JOIN own ON own.leaf = part.stack" \
	" LEFT JOIN wait_class ON wait_class.id = part.class" \
	" GROUP BY 1, 2, 3 ORDER BY weight DESC, 1, 3"

const struct schema_view schema_views[] = {
	{"frame_name", "every frame with its name as reports show it", FRAME_NAME_SQL},
	{"hottest",
	 "functions by their own (self) weight, inlined ones too, per event; without idle",
	 HOTTEST_SQL("")},
	{"busiest", "processes by weight, per event; without idle",
	 "SELECT event.name AS event, process.pid AS pid, process.comm AS comm,"
	 " process.service AS service, process.container AS container,"
	 " process.cgroup AS cgroup, " SHARE_SQL " FROM " PART_SQL(
		 "thread",
		 "sample " NOT_IDLE_SQL) " LEFT JOIN thread ON thread.id = part.id"
					 " LEFT JOIN process ON process.id = thread.process"
					 " GROUP BY event.name, "
					 "thread.process" EVENT_ORDER_SQL},
	{"running",
	 "what every CPU did: time, end, cpu, pid, tid, process, comm, state; for a thread, left"
	 " (its state from then on) and wait (for what)",
	 RUNNING_SQL},
	{"wakeup",
	 "wake-ups and forks: time, kind, waker_pid, waker_tid, waker (thread or"
	 " interrupt), pid, tid, process, comm, cpu (where it is to run)",
	 WAKEUP_SQL},
	{"spans",
	 "what runtimes and probes reported: time, end and length (NULL: it had not ended), kind,"
	 " name, origin (how it is known), pid, tid, process, thread (NULL: of no thread), lane,"
	 " args (a JSON object)",
	 SPANS_SQL},
	{"counters", "quantities over time: time, name, value, pid, process, lane", COUNTERS_SQL},
	{"waits",
	 "waits whose stacks were taken: time (of running again), pid, tid, process, comm, class,"
	 " length, weight, p (the chance with which it was chosen), address (of a futex),"
	 " waker_tid, waker (program or interrupt), waker_comm, stack, thread, process_id",
	 WAIT_SQL},
	{"hottest_waits",
	 "where threads waited: the innermost function outside of the kernel and the C library, by"
	 " class of wait",
	 WAITING_SQL},
	{"locks", "futexes by time of waiting for them: process and address",
	 "SELECT pid, process, address, count(*) AS stacks, sum(weight) AS weight,"
	 " count(DISTINCT thread) AS threads, max(length) AS longest"
	 " FROM waits WHERE address <> 0 GROUP BY process_id, address ORDER BY weight DESC"},
	{"lost", "what could not be recorded, in words",
	 "SELECT loss_reason.word AS reason, loss_reason.text AS text,"
	 " nullif(loss.cpu, 0) - 1 AS cpu, sum(loss.count) AS count, sum(loss.weight) AS weight,"
	 " min(loss.time) AS time, max(loss.\"end\") AS \"end\""
	 " FROM loss LEFT JOIN loss_reason ON loss_reason.id = loss.reason"
	 " GROUP BY loss.reason, loss.cpu ORDER BY weight DESC, count DESC"},
	{NULL, NULL, NULL},
};

_Static_assert(offsetof(struct account, cpu) == sizeof(uint64_t), "event, cpu");
_Static_assert(offsetof(struct inlined, depth) == sizeof(uint64_t), "frame, depth");
_Static_assert(offsetof(struct handler, number) == sizeof(uint64_t), "lane, number");
_Static_assert(offsetof(struct group_time, wait) == 3 * sizeof(uint64_t), "and cgroup, state");

unsigned int schema_key_fields(enum record_kind kind)
{
	if (kind == KIND_GROUP_TIME)
		return 4;
	return kind == KIND_ACCOUNT || kind == KIND_INLINED || kind == KIND_HANDLER ? 2 : 1;
}

bool schema_is_optional(enum record_kind kind)
{
	return kind == KIND_INLINED || kind == KIND_HANDLER || kind == KIND_GROUP_TIME;
}

const char *schema_derived_sql(enum record_kind kind)
{
	static const char *const sql[KIND_COUNT] = {
		[KIND_SUM] = "SELECT event, thread, stack, count(*) AS count,"
			     " sum(weight) AS weight, " RUNTIME_FLAGS_SQL " AS flags, wait"
			     " FROM sample GROUP BY event, thread, stack, 6, wait",
	};

	return sql[kind];
}

static void append_names(sqlite3_str *s, const struct kind *kind, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		sqlite3_str_appendf(s, "%s\"%w\"", i ? "," : "", kind->fields[i].name);
}

static void append_table(sqlite3_str *s, enum record_kind k)
{
	const struct kind *kind = &kinds[k];
	unsigned int keys = schema_key_fields(k);

	sqlite3_str_appendf(s, "CREATE TABLE \"%w\"(", kind->name);
	for (unsigned int i = 0; i < kind->field_count; i++)
		sqlite3_str_appendf(s, "%s\"%w\" %s", i ? "," : "", kind->fields[i].name,
				    i == 0 && keys == 1 ? "INTEGER PRIMARY KEY"
				    : kind->fields[i].type == FIELD_TEXT
					    ? "TEXT NOT NULL DEFAULT ''"
					    : "INTEGER NOT NULL DEFAULT 0");
	if (keys > 1) {
		sqlite3_str_appendall(s, ",PRIMARY KEY(");
		append_names(s, kind, keys);
		sqlite3_str_appendall(s, ")) WITHOUT ROWID;");
	} else if (k == KIND_INFO) {
		sqlite3_str_appendall(s, ",UNIQUE(\"host\",\"key\"));");
	} else {
		sqlite3_str_appendall(s, ");");
	}
	if (k == KIND_THREAD) /* index for finding the thread of a lane at a time */
		sqlite3_str_appendall(s, "CREATE INDEX thread_lane ON thread(lane, start);");
}

static void append_words(sqlite3_str *s, const struct word_table *t)
{
	sqlite3_str_appendf(s, "CREATE TABLE \"%w\"(id INTEGER PRIMARY KEY, word TEXT NOT NULL%s);",
			    t->name, t->words->text ? ", text TEXT NOT NULL" : "");
	for (const struct word *w = t->words; w->word; w++) {
		sqlite3_str_appendf(s, "INSERT INTO \"%w\" VALUES(%lld,%Q", t->name,
				    (sqlite3_int64)w->id, w->word);
		sqlite3_str_appendf(s, w->text ? ",%Q);" : ");", w->text);
	}
}

static void append_blobs(sqlite3_str *s, const struct blob_table *t)
{
	sqlite3_str_appendf(s, "CREATE TABLE \"%w\"(", t->name);
	for (const struct chunk_column *c = t->columns; c->name; c++)
		sqlite3_str_appendf(s, "%s\"%w\" %s", c == t->columns ? "" : ",", c->name, c->type);
	sqlite3_str_appendf(s, ");CREATE INDEX \"%w_time\" ON \"%w\"(%s);", t->name, t->name,
			    t->index);
}

static void append_view(sqlite3_str *s, const char *name, const char *sql)
{
	sqlite3_str_appendf(s, "CREATE VIEW \"%w\" AS %s;", name, sql);
}

static int run_schema_sql(sqlite3 *db, sqlite3_str *s, struct error *err)
{
	char *sql = sqlite3_str_finish(s);
	int ret = sql ? sql_exec(db, sql, err) : error_set(err, -ENOMEM, "out of memory");

	sqlite3_free(sql);
	return ret;
}

int schema_add(sqlite3 *db, enum record_kind kind, struct error *err)
{
	sqlite3_str *s = sqlite3_str_new(db);

	append_table(s, kind);
	if (kind == KIND_INLINED) {
		sqlite3_str_appendall(s, "DROP VIEW IF EXISTS hottest;");
		append_view(s, "hottest", HOTTEST_SQL(INNERMOST_SQL));
	}
	return run_schema_sql(db, s, err);
}

int schema_create(sqlite3 *db, struct error *err)
{
	sqlite3_str *s = sqlite3_str_new(db);

	sqlite3_str_appendf(s, "PRAGMA application_id=%d;PRAGMA user_version=%d;",
			    SCHEMA_APPLICATION_ID, SCHEMA_VERSION);
	for (int k = 0; k < KIND_COUNT; k++)
		if (schema_is_optional((enum record_kind)k))
			continue;
		else if (kinds[k].storage == STORAGE_TABLE)
			append_table(s, (enum record_kind)k);
		else if (kinds[k].storage == STORAGE_DERIVED)
			append_view(s, kinds[k].name, schema_derived_sql((enum record_kind)k));
	for (const struct blob_table *t = blob_tables; t->name; t++)
		append_blobs(s, t);
	for (const struct word_table *t = word_tables; t->name; t++)
		append_words(s, t);
	for (const struct schema_view *v = schema_views; v->name; v++)
		append_view(s, v->name, v->sql);
	return run_schema_sql(db, s, err);
}

char *schema_put_sql(enum record_kind k)
{
	const struct kind *kind = &kinds[k];
	sqlite3_str *s = sqlite3_str_new(NULL);

	sqlite3_str_appendf(s, "INSERT OR REPLACE INTO \"%w\"(", kind->name);
	append_names(s, kind, kind->field_count);
	sqlite3_str_appendall(s, ") VALUES(");
	for (unsigned int i = 0; i < kind->field_count; i++)
		sqlite3_str_appendall(s, i ? ",?" : "?");
	sqlite3_str_appendall(s, ")");
	return sqlite3_str_finish(s);
}
