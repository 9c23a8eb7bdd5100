// SPDX-License-Identifier: Apache-2.0
/*
 * The zoom pyramid: windows of random traces are compared with those of a reference renderer, which
 * does not use levels, blocks, checkpoints or chunks, but adds up all stretches of all lanes.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/states.h"
#include "files.h"
#include "machine.h"
#include "suite.h"
#include "trace/window.h"
#include "trace/zoom.h"
#include "trace_file.h"

#define LANES_MAX 8192
#define THREADS_MAX 8192

#define FILE_NAME "a.skein"

/* Everything in a trace, as stretches by lane. */
struct truth {
	VECTOR(struct stretch) lanes[LANES_MAX];
	enum lane_kind kinds[LANES_MAX];
	struct states *states;
	uint64_t time, end, lane_end;
};

struct collector {
	struct sink sink;
	struct truth *truth;
};

static int collect_stretch(void *context, const struct stretch *s, struct error *err)
{
	struct truth *t = context;

	(void)err;
	if (s->lane >= LANES_MAX)
		ck_abort_msg("there is no room for lane %" PRIu64, s->lane);
	return vector_push(&t->lanes[s->lane], *s);
}

static int collect(struct sink *sink, enum record_kind kind, const void *record, struct error *err)
{
	struct truth *t = ((struct collector *)sink)->truth;
	const uint64_t *words = record;
	const struct lane *lane = record;

	if (kind == KIND_LANE) {
		ck_assert_uint_lt(lane->id, LANES_MAX);
		t->kinds[lane->id] = (enum lane_kind)lane->kind;
		t->lane_end = lane->id + 1;
	}
	if (kind == KIND_SLICE || kind == KIND_EDGE) {
		t->time = words[0] < t->time ? words[0] : t->time;
		t->end = words[0] > t->end ? words[0] : t->end;
		t->end = words[1] > t->end ? words[1] : t->end;
	}
	return states_put(t->states, kind, record, err);
}

static void read_truth(struct trace *trace, struct truth *t)
{
	static const struct sink_ops ops = {.put = collect};
	struct collector to = {.sink = {&ops, WANT(LANE) | WANT(THREAD) | WANT(SLICE) | WANT(EDGE)},
			       .truth = t};
	const struct states_events events = {collect_stretch, t};
	struct error err = {0};

	*t = (struct truth){.time = UINT64_MAX};
	ck_assert_int_eq(states_new(&t->states, &events, &err), 0);
	trace_file_put(trace, &to.sink);
	ck_assert_int_eq(states_end(t->states, t->end, &err), 0);
	states_free(t->states);
}

static void free_truth(struct truth *t)
{
	for (unsigned int i = 0; i < LANES_MAX; i++)
		vector_free(&t->lanes[i]);
}

/* The sums of one cell. */
struct sums {
	uint64_t states[STATE_COUNT], waits[STATE_COUNT][WAIT_COUNT];
};

/* Threads that ran in one cell, ns of each; zero for all other threads. */
struct runners {
	uint64_t ns[THREADS_MAX];
	uint64_t who[THREADS_MAX];
	size_t count;
};

static uint64_t longest(const uint64_t *ns, size_t count)
{
	size_t best = 0;

	for (size_t i = 0; i < count; i++)
		if (ns[i] > ns[best])
			best = i;
	return best;
}

static void add_runner(struct runners *r, uint64_t thread, uint64_t ns)
{
	if (thread >= THREADS_MAX)
		ck_abort_msg("there is no room for thread %" PRIu64, thread);
	if (!thread || !ns)
		return;
	if (!r->ns[thread])
		r->who[r->count++] = thread;
	r->ns[thread] += ns;
}

/* Remove and return the thread that ran longest, of equal ones the lowest; 0: none. */
static uint64_t take_runner(struct runners *r)
{
	uint64_t best = 0, most = 0;

	for (size_t i = 0; i < r->count; i++) {
		uint64_t thread = r->who[i], ns = r->ns[thread];

		if (ns > most || (ns == most && thread < best)) {
			best = thread;
			most = ns;
		}
		r->ns[thread] = 0;
	}
	r->count = 0;
	return best;
}

static struct cell round_sums(const struct sums *s, uint64_t ns)
{
	struct cell c = {.state = (uint8_t)longest(s->states, STATE_COUNT)};
	uint64_t ran = s->states[STATE_RUNNING];
	double share = (double)ran / (double)ns * CELL_FULL;

	c.wait = (uint8_t)longest(s->waits[c.state], WAIT_COUNT);
	if (!ran)
		c.activity = 0;
	else if (ran == ns)
		c.activity = CELL_FULL;
	else if (share < 1)
		c.activity = 1;
	else
		c.activity = share + 0.5 >= CELL_FULL ? CELL_FULL - 1 : (uint8_t)(share + 0.5);
	return c;
}

static struct cell true_cell(const struct truth *t, uint64_t lane, size_t *at, uint64_t time,
			     uint64_t end)
{
	static struct runners runners;
	struct sums s = {0};
	struct cell cell;

	while (*at < t->lanes[lane].count && t->lanes[lane].items[*at].end <= time)
		++*at;
	for (size_t i = *at; i < t->lanes[lane].count; i++) {
		const struct stretch *x = &t->lanes[lane].items[i];
		uint64_t from = x->time > time ? x->time : time;
		uint64_t to = x->end < end ? x->end : end;

		if (x->time >= end)
			break;
		s.states[x->state] += to - from;
		s.waits[x->state][x->wait] += to - from;
		if (t->kinds[lane] == LANE_CPU && x->state == STATE_RUNNING)
			add_runner(&runners, x->thread, to - from);
	}
	cell = round_sums(&s, end - time);
	cell.thread = take_runner(&runners);
	return cell;
}

/*
 * The check library writes to a file for every assertion that holds; millions of cells are
 * therefore compared without assertions.
 */
static void check_cell(const struct window *w, size_t lane, uint64_t id, unsigned int i,
		       const struct cell *wanted)
{
	const struct cell *c = &w->cells[lane * w->width + i];

	if (c->activity == wanted->activity && c->state == wanted->state &&
	    c->wait == wanted->wait && c->thread == wanted->thread)
		return;
	ck_abort_msg("lane %" PRIu64 ", cell %u of %" PRIu64 " ns at %" PRIu64 ": %u/%u/%u/%" PRIu64
		     ", not %u/%u/%u/%" PRIu64,
		     id, i, w->cell, w->time + i * w->cell, c->activity, c->state, c->wait,
		     c->thread, wanted->activity, wanted->state, wanted->wait, wanted->thread);
}

/* Check that size and place of the cells are as specified. */
static void check_layout(const struct window_query *q, const struct window *w)
{
	uint64_t most = (q->end - q->time) / q->width;

	ck_assert_uint_eq(w->lanes, q->lane_count);
	ck_assert_uint_eq(w->cell & (w->cell - 1), 0);
	ck_assert_uint_eq(w->time % w->cell, 0);
	ck_assert_uint_le(w->time, q->time);
	ck_assert_uint_gt(w->time + w->cell, q->time);
	ck_assert_uint_ge(w->time + w->width * w->cell, q->end);
	ck_assert_uint_lt(w->time + (w->width - 1) * w->cell, q->end);
	ck_assert(w->cell <= most || w->cell == 1024);
	ck_assert(w->cell * 4 > most || w->cell == 1ULL << 52);
	/* any power of two below the finest level */
	ck_assert(w->cell * 2 > most || w->cell >= 1ULL << pyramid_shift(PYRAMID_FINEST));
	ck_assert(w->width <= 4 * q->width + 2);
}

static void check_window(struct trace *trace, const struct truth *t, const struct window_query *q)
{
	struct error err = {0};
	struct window *w = NULL;

	ck_assert_msg(!trace_window(trace, q, &w, &err), "%s", err.text);
	check_layout(q, w);
	for (size_t lane = 0; lane < q->lane_count; lane++) {
		size_t at = 0;

		for (unsigned int i = 0; i < w->width; i++) {
			uint64_t time = w->time + i * w->cell;
			struct cell wanted = {0};

			if (q->lanes[lane] < LANES_MAX)
				wanted = true_cell(t, q->lanes[lane], &at, time, time + w->cell);
			check_cell(w, lane, q->lanes[lane], i, &wanted);
		}
	}
	window_free(w);
}

/* Check windows of random place and length: a power of two, and somewhat more. */
static void check_windows(const struct truth *t, unsigned int count, uint64_t seed)
{
	struct machine random = {.random = seed * 2 + 1};
	struct trace *trace = trace_file_open(FILE_NAME);
	uint64_t lanes[8];

	for (unsigned int i = 0; i < count; i++) {
		uint64_t length = machine_spread(&random, 12, 40);
		struct window_query q = {.lanes = lanes, .lane_count = 1 + i % 8};

		q.width = 1 + (unsigned int)(machine_random(&random) >> 16) % 150;
		if (i % 16 == 0)
			q.width = 3000;
		q.time = t->time - length / 4 +
			 machine_random(&random) % (t->end - t->time + length / 4);
		q.end = q.time + length;
		for (unsigned int n = 0; n < q.lane_count; n++)
			lanes[n] = (machine_random(&random) >> 16) % (i % 3 ? 48 : t->lane_end);
		if (i % 10 == 0)
			lanes[0] = 1ULL << 40; /* no lane has this number */
		check_window(trace, t, &q);
	}
	trace_close(trace);
}

/* Check short windows, whose cells begin after t->time. */
static void check_near(const struct truth *t, unsigned int count)
{
	struct machine random = {.random = 99};
	struct trace *trace = trace_file_open(FILE_NAME);
	uint64_t lanes[8];

	for (unsigned int i = 0; i < count; i++) {
		uint64_t length = machine_spread(&random, 12, 34);
		struct window_query q = {.lanes = lanes, .lane_count = 8, .width = 64 + i % 100};

		q.time = t->time + machine_random(&random) % (t->end - t->time);
		q.end = q.time + length;
		for (unsigned int n = 0; n < q.lane_count; n++)
			lanes[n] = (machine_random(&random) >> 16) % 24;
		check_window(trace, t, &q);
	}
	trace_close(trace);
}

struct recording {
	struct machine_options machine;
	struct pyramid_options pyramid;
	uint64_t slices, tick; /* number of slices; slices between two ticks */
	bool killed;
};

static int write_records(const struct recording *r, struct sink *w, struct error *err)
{
	struct machine m;
	uint64_t next = r->tick;
	int result = machine_begin(&m, &r->machine, w, err);

	while (!result && m.slices < r->slices) {
		result = machine_step(&m);
		if (!result && m.slices >= next) {
			result = sink_tick(w, m.now, err);
			next += r->tick;
		}
	}
	if (!result && !r->killed)
		result = machine_end(&m);
	machine_free(&m);
	return result;
}

static int write_trace(const struct recording *r)
{
	struct error err = {0};
	struct sink *w;
	int result = trace_writer(&w, FILE_NAME, &err);

	if (!result && r->pyramid.records)
		zoom_set(trace_writer_zoom(w), &r->pyramid);
	if (!result)
		result = write_records(r, w, &err);
	if (r->killed)
		_exit(result < 0);
	if (!result)
		result = w->ops->finish(w, &err);
	ck_assert_msg(!result, "%s", err.text);
	sink_free(w);
	return result;
}

static void record(const struct recording *r)
{
	int status;
	pid_t child;

	if (!r->killed) {
		write_trace(r);
		return;
	}
	child = fork();
	if (!child)
		write_trace(r);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && !WEXITSTATUS(status));
}

static int64_t ask(const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *stmt;
	int64_t result;

	ck_assert_int_eq(sqlite3_open(FILE_NAME, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	result = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return result;
}

static void change(const char *sql)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(FILE_NAME, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void check_file(unsigned int windows, uint64_t seed)
{
	struct trace *trace = trace_file_open(FILE_NAME);
	static struct truth t; /* too large for the stack */

	read_truth(trace, &t);
	trace_close(trace);
	check_windows(&t, windows, seed);
	free_truth(&t);
}

static void check_recording(const struct recording *r, unsigned int windows)
{
	record(r);
	check_file(windows, r->machine.seed);
}

#define WINDOWS 400

/* Small blocks and frequent checkpoints exercise all paths. */
START_TEST(as_the_reference_renders)
{
	const struct recording r = {
		.machine = {.cpus = 1 + _i % 5,
			    .threads = 3 + (unsigned int)_i * 3,
			    .seed = _i + 1},
		.pyramid = {.records = _i % 3 ? 300 : 40},
		.slices = 20000,
		.tick = 500,
	};

	check_recording(&r, WINDOWS);
	ck_assert_int_gt(ask("SELECT count(DISTINCT level) FROM pyramid"), 3);
	ck_assert_int_gt(ask("SELECT count(*) FROM checkpoint"), 10);
}
END_TEST

/*
 * When there are too many cells in memory, fine levels are given up, and windows are rendered from
 * the records.
 */
START_TEST(fine_levels_given_up)
{
	struct recording r = {
		.machine = {.cpus = 4, .threads = 20, .seed = 6},
		.pyramid = {.records = 100},
		.slices = 20000,
		.tick = 500,
	};
	int64_t finest;

	record(&r);
	finest = ask("SELECT count(*) FROM pyramid WHERE level = 3");
	ck_assert_int_gt(finest, 10);
	r.pyramid.runs = 300;
	check_recording(&r, WINDOWS / 2);
	ck_assert_int_lt(ask("SELECT count(*) FROM pyramid WHERE level = 3"), finest / 2);
	ck_assert_int_gt(ask("SELECT count(*) FROM pyramid"), 0);
}
END_TEST

/*
 * Coarse levels, at which the whole recording is a few cells, are not stored: rendering them from
 * other data is cheap.
 */
START_TEST(not_from_afar)
{
	const struct recording r = {
		.machine = {.cpus = 2, .threads = 9, .seed = 5},
		.pyramid = {.records = 10000},
		.slices = 20000,
		.tick = 500,
	};

	check_recording(&r, WINDOWS / 4);
	ck_assert_int_gt(ask("SELECT count(*) FROM pyramid"), 0);
	ck_assert_int_eq(ask("SELECT count(*) FROM pyramid, (SELECT max(\"end\") - min(time) AS ns"
			     " FROM chunk) WHERE ns >> (16 + 2 * level) < 32"),
			 0);
}
END_TEST

/* For short recordings no pyramid is stored; neither for this one at the default size. */
START_TEST(from_records_alone)
{
	struct recording r = {
		.machine = {.cpus = 4, .threads = 20, .seed = 77},
		.slices = 5000,
		.tick = 1000,
	};

	check_recording(&r, WINDOWS);
	ck_assert_int_eq(ask("SELECT count(*) FROM pyramid"), 0);
	r.pyramid.records = 100;
	record(&r);
	change("DROP TABLE pyramid; DROP TABLE checkpoint"); /* older traces have no such tables */
	check_file(WINDOWS, 1);
}
END_TEST

START_TEST(killed)
{
	const struct recording r = {
		.machine = {.cpus = 3, .threads = 12, .seed = (uint64_t)_i + 100},
		.pyramid = {.records = 60},
		.slices = 20000 + (uint64_t)_i * 777,
		.tick = 300,
		.killed = true,
	};

	check_recording(&r, WINDOWS);
	ck_assert_int_gt(ask("SELECT count(*) FROM pyramid"), 3);
}
END_TEST

/* Recordings with losses, and with threads that start and end. */
START_TEST(messy)
{
	const struct recording r = {
		.machine = {.cpus = 4,
			    .threads = 16,
			    .seed = (uint64_t)_i + 200,
			    .losses = 3000,
			    .deaths = 3000},
		.pyramid = {.records = _i % 2 ? 100 : 1000},
		.slices = 15000,
		.tick = 400,
	};

	check_recording(&r, WINDOWS);
}
END_TEST

/* More threads end than the writer keeps until their blocks are complete. */
START_TEST(brief_threads)
{
	const struct recording r = {
		.machine = {.cpus = 2, .threads = 16, .seed = (uint64_t)_i + 300, .deaths = 200000},
		.pyramid = {.records = _i % 2 ? 200 : 2000},
		.slices = 20000,
		.tick = 1000,
	};

	check_recording(&r, WINDOWS);
	ck_assert_int_gt(ask("SELECT count(*) FROM pyramid WHERE dead"), 3);
}
END_TEST

static size_t stretches_of_kind(enum lane_kind kind)
{
	struct trace *trace = trace_file_open(FILE_NAME);
	static struct truth t;
	size_t count = 0;

	read_truth(trace, &t);
	trace_close(trace);
	for (uint64_t lane = 0; lane < t.lane_end; lane++)
		count += t.kinds[lane] == kind ? t.lanes[lane].count : 0;
	free_truth(&t);
	return count;
}

/* Lanes whose states are their own slices have no stored cells. */
START_TEST(lanes_of_slices)
{
	const struct recording r = {
		.machine = {.cpus = 2,
			    .threads = 8,
			    .actors = _i % 2 ? 3 : 30,
			    .seed = (uint64_t)_i + 600,
			    .losses = 1000,
			    .deaths = 3000},
		.pyramid = {.records = _i < 2 ? 100 : 1000},
		.slices = 30000,
		.tick = 400,
		.killed = _i == 3,
	};

	check_recording(&r, WINDOWS);
	ck_assert_uint_gt(stretches_of_kind(LANE_ACTOR), 5000);
	ck_assert_int_eq(ask("SELECT count(*) FROM pyramid WHERE kind NOT IN (1, 3)"), 0);
}
END_TEST

#define MANY_LANES 200000u

/* Render a window that shows every 2,000th of many lanes, and all time. */
static void show_some_of_many(void)
{
	struct trace *trace = trace_file_open(FILE_NAME);
	uint64_t lanes[100];
	struct window_query q = {.lanes = lanes, .lane_count = 100, .width = 1920};
	struct error err = {0};
	struct window *w = NULL;
	size_t active = 0;

	for (unsigned int i = 0; i < q.lane_count; i++)
		lanes[i] = 5 + i * (MANY_LANES / q.lane_count);
	ck_assert_int_eq(trace_span(trace, &q.time, &q.end, &err), 0);
	ck_assert_int_eq(trace_window(trace, &q, &w, &err), 0);
	for (size_t i = 0; i < w->lanes * w->width; i++)
		active += w->cells[i].activity > 0;
	ck_assert_uint_gt(active, q.lane_count);
	window_free(w);
	trace_close(trace);
}

/* Return the peak resident size, in KiB, of a process that writes and shows a recording. */
static long peak_of(const struct recording *r, bool show)
{
	struct rusage used;
	int status;
	pid_t child = fork();

	if (!child) {
		write_trace(r);
		if (show)
			show_some_of_many();
		_exit(0);
	}
	ck_assert_int_eq(wait4(child, &status, 0, &used), child);
	ck_assert(WIFEXITED(status) && !WEXITSTATUS(status));
	return used.ru_maxrss;
}

/*
 * Lanes whose states are their own slices cost a writer and a reader few bytes each. The machine
 * itself has 16 bytes for each, the writer and the reader each have an index and 24 bytes.
 */
START_TEST(memory_of_many_lanes)
{
	struct recording r = {
		.machine = {.cpus = 2, .threads = 8, .seed = 700},
		.slices = 1000000,
		.tick = 20000,
	};
	long few = peak_of(&r, false), many;

	r.machine.actors = MANY_LANES;
	many = peak_of(&r, true);
	printf("1,000,000 slices: %ld KiB; with %u lanes of slices: %ld KiB\n", few, MANY_LANES,
	       many);
#ifndef __SANITIZE_ADDRESS__
	ck_assert_int_lt(many - few, (long)(MANY_LANES * 160u >> 10));
#endif
}
END_TEST

/* Damaged blobs: the parts that they held are rendered from the records. */
START_TEST(damaged)
{
	const struct recording r = {
		.machine = {.cpus = 3, .threads = 20, .seed = 400},
		.pyramid = {.records = 300},
		.slices = 20000,
		.tick = 1000,
	};

	record(&r);
	change("UPDATE pyramid SET data = CAST(substr(data, 1, length(data) / 2) || x'00ff' ||"
	       " substr(data, length(data) / 2 + 3) AS BLOB) WHERE id % 3 = 0;"
	       "UPDATE pyramid SET data = x'' WHERE id % 17 = 1;"
	       "UPDATE checkpoint SET lanes = zeroblob(100) WHERE id % 2 = 0;"
	       "DELETE FROM checkpoint WHERE id % 5 = 0 AND base > 0");
	check_file(WINDOWS, 1);
}
END_TEST

static int read_any(struct trace *trace, uint64_t time, uint64_t end, struct window **ret)
{
	const uint64_t lanes[] = {1, 2, 7, 8, 9, 10, 11, 12};
	const struct window_query q = {
		.time = time, .end = end, .width = 300, .lanes = lanes, .lane_count = 8};
	struct error err = {0};
	int result = trace_window(trace, &q, ret, &err);

	ck_assert_msg(!result || err.text[0], "an error without words");
	return result;
}

/* A flight recorder deletes old rows: the time before is unknown, the time after is unchanged. */
START_TEST(older_rows_deleted)
{
	const struct recording r = {
		.machine = {.cpus = 3, .threads = 12, .seed = 500},
		.pyramid = {.records = 200},
		.slices = 20000,
		.tick = 500,
	};
	static struct truth t;
	struct trace *trace;
	struct window *w;
	uint64_t cut, first, end;
	struct error err;

	record(&r);
	trace = trace_file_open(FILE_NAME);
	read_truth(trace, &t);
	trace_close(trace);
	change("DELETE FROM chunk WHERE id <= (SELECT chunk FROM checkpoint WHERE base = 0"
	       " ORDER BY id LIMIT 1 OFFSET 3);"
	       "DELETE FROM checkpoint WHERE chunk < (SELECT min(id) - 1 FROM chunk);"
	       "DELETE FROM pyramid WHERE \"end\" <= (SELECT min(time) FROM checkpoint)");
	cut = (uint64_t)ask("SELECT time FROM checkpoint WHERE base = 0 ORDER BY time LIMIT 1");
	trace = trace_file_open(FILE_NAME);
	ck_assert_int_eq(trace_span(trace, &first, &end, &err), 0);
	ck_assert_uint_eq(end, t.end);
	ck_assert_int_eq(read_any(trace, t.time, t.end, &w), 0);
	window_free(w);
	trace_close(trace);
	t.time = cut + (1ULL << 31); /* after every cell that begins before the cut */
	ck_assert_uint_lt(t.time, t.end);
	check_near(&t, WINDOWS);
	free_truth(&t);
}
END_TEST

/* Return the window of a CPU with 1,024 cells of at most 1 << shift ns. */
static struct window *show_cpu(uint64_t time, unsigned int shift)
{
	const uint64_t lane = 1;
	const struct window_query q = {.time = time,
				       .end = time + (1024ULL << shift),
				       .width = 1024,
				       .lanes = &lane,
				       .lane_count = 1};
	struct trace *trace = trace_file_open(FILE_NAME);
	struct window *w = NULL;
	struct error err = {0};

	ck_assert_msg(!trace_window(trace, &q, &w, &err), "%s", err.text);
	trace_close(trace);
	return w;
}

/*
 * Below the finest level cells have any length, unless an older writer stored finer levels: these
 * are read. Here a level has the cells of another one, which no records would give.
 */
START_TEST(finer_levels_of_older_traces)
{
	const struct recording r = {
		.machine = {.cpus = 2, .threads = 20, .seed = 800},
		.pyramid = {.records = 300},
		.slices = 20000,
		.tick = 1000,
	};
	struct window *coarse, *fine;
	uint64_t time;

	record(&r);
	time = (uint64_t)ask("SELECT min(time) FROM pyramid WHERE level = 3 AND kind = 1");
	coarse = show_cpu(time, pyramid_shift(3));
	ck_assert_uint_eq(coarse->cell, 1ULL << pyramid_shift(3));
	for (unsigned int shift = 10; shift < pyramid_shift(3); shift++) {
		fine = show_cpu(time, shift);
		ck_assert_uint_eq(fine->cell, 1ULL << shift);
		window_free(fine);
	}
	change("INSERT INTO pyramid(level, kind, time, \"end\", lane, last, records, data, dead)"
	       " SELECT 1, kind, time, time + (1 << 28), lane, last, records, data, dead"
	       " FROM pyramid AS p WHERE level = 3 AND kind = 1"
	       " AND time = (SELECT min(time) FROM pyramid WHERE level = 3 AND kind = 1)");
	for (unsigned int shift = pyramid_shift(1); shift <= pyramid_shift(1) + 1; shift++) {
		fine = show_cpu(time, shift);
		ck_assert_uint_eq(fine->cell, 1ULL << pyramid_shift(1));
		for (unsigned int i = 0; i < BLOCK_CELLS; i++)
			check_cell(fine, 0, 1, i, &coarse->cells[i]);
		window_free(fine);
	}
	window_free(coarse);
}
END_TEST

START_TEST(refused)
{
	const struct recording r = {.machine = {.cpus = 1, .threads = 2}, .slices = 10, .tick = 5};
	const uint64_t lane = 1;
	struct window_query q = {.time = 5, .end = 5, .width = 1, .lanes = &lane, .lane_count = 1};
	struct window *w = NULL;
	struct error err = {0};
	struct trace *trace;

	record(&r);
	trace = trace_file_open(FILE_NAME);
	ck_assert_int_lt(trace_window(trace, &q, &w, &err), 0);
	q.end = UINT64_MAX;
	q.width = 0;
	ck_assert_int_lt(trace_window(trace, &q, &w, &err), 0);
	q.width = 1;
	ck_assert_int_eq(trace_window(trace, &q, &w, &err), 0);
	window_free(w);
	q.width = UINT32_MAX;
	ck_assert_int_lt(trace_window(trace, &q, &w, &err), 0); /* more cells than the limit */
	trace_close(trace);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {fine_levels_given_up, not_from_afar,
				      from_records_alone,   damaged,
				      older_rows_deleted,   refused,
				      memory_of_many_lanes, finer_levels_of_older_traces};
	TCase *t = suite_case("pyramid", tests, sizeof(tests) / sizeof(tests[0]));

	tcase_add_unchecked_fixture(t, files_begin, NULL);
	tcase_add_loop_test(t, as_the_reference_renders, 0, 8);
	tcase_add_loop_test(t, killed, 0, 4);
	tcase_add_loop_test(t, messy, 0, 4);
	tcase_add_loop_test(t, brief_threads, 0, 2);
	tcase_add_loop_test(t, lanes_of_slices, 0, 4);
	return suite_run_case("pyramid", t);
}
