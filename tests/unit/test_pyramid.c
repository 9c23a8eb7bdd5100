// SPDX-License-Identifier: Apache-2.0
/*
 * Windows of traces of made-up machines, beside a painter that knows nothing
 * of levels, blocks, checkpoints or chunks: it has all stretches of all lanes, and adds up.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/states.h"
#include "machine.h"
#include "suite.h"
#include "trace/window.h"
#include "trace/zoom.h"

#define LANES_MAX 8192
#define THREADS_MAX 8192

static char directory[] = "/tmp/skein-pyramid-test-XXXXXX";
static char path[64];

/* All that a trace says, as stretches by lane. */
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
	ck_assert_uint_lt(s->lane, LANES_MAX);
	ck_assert_int_eq(vector_push(&t->lanes[s->lane], *s), 0);
	return 0;
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

static struct trace *open_trace(void)
{
	struct error err = {0};
	struct trace *t;

	ck_assert_msg(!trace_open(&t, path, &err), "%s", err.text);
	return t;
}

static void read_truth(struct trace *trace, struct truth *t)
{
	static const struct sink_ops ops = {.put = collect};
	struct collector to = {.sink = {&ops, WANT(LANE) | WANT(THREAD) | WANT(SLICE) | WANT(EDGE)},
			       .truth = t};
	const struct states_events events = {collect_stretch, t};
	struct error err = {0};
	struct source *source;

	*t = (struct truth){.time = UINT64_MAX};
	ck_assert_int_eq(states_new(&t->states, &events, &err), 0);
	ck_assert_int_eq(trace_source(&source, trace, &err), 0);
	ck_assert_msg(!source->ops->run(source, &to.sink, &err), "%s", err.text);
	source_free(source);
	ck_assert_int_eq(states_end(t->states, t->end, &err), 0);
	states_free(t->states);
}

static void free_truth(struct truth *t)
{
	for (unsigned int i = 0; i < LANES_MAX; i++)
		vector_free(&t->lanes[i]);
}

/* One cell, added up. */
struct sums {
	uint64_t states[STATE_COUNT], waits[STATE_COUNT][WAIT_COUNT], threads[THREADS_MAX];
};

static uint64_t longest(const uint64_t *ns, size_t count)
{
	size_t best = 0;

	for (size_t i = 0; i < count; i++)
		if (ns[i] > ns[best])
			best = i;
	return best;
}

static struct cell round_sums(const struct sums *s, uint64_t ns)
{
	struct cell c = {.state = (uint8_t)longest(s->states, STATE_COUNT)};
	uint64_t ran = s->states[STATE_RUNNING];
	double share = (double)ran / (double)ns * CELL_FULL;

	c.wait = (uint8_t)longest(s->waits[c.state], WAIT_COUNT);
	c.thread = longest(s->threads, THREADS_MAX);
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
	static struct sums s;

	memset(&s, 0, sizeof(s));
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
		if (t->kinds[lane] == LANE_CPU && x->state == STATE_RUNNING) {
			ck_assert_uint_lt(x->thread, THREADS_MAX);
			s.threads[x->thread] += x->thread ? to - from : 0;
		}
	}
	return round_sums(&s, end - time);
}

static void check_cell(const struct window *w, size_t lane, uint64_t id, unsigned int i,
		       const struct cell *wanted)
{
	const struct cell *c = &w->cells[lane * w->width + i];

	ck_assert_msg(c->activity == wanted->activity && c->state == wanted->state &&
			      c->wait == wanted->wait && c->thread == wanted->thread,
		      "lane %" PRIu64 ", cell %u of %" PRIu64 " ns at %" PRIu64
		      ": %u/%u/%u/%" PRIu64 ", not %u/%u/%u/%" PRIu64,
		      id, i, w->cell, w->time + i * w->cell, c->activity, c->state, c->wait,
		      c->thread, wanted->activity, wanted->state, wanted->wait, wanted->thread);
}

/* Size and place of the cells are as promised. */
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
	ck_assert(w->cell * 4 >= most || w->cell == 1ULL << 52);
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

/* Windows anywhere, of any length: a power of two, and somewhat more. */
static void check_windows(const struct truth *t, unsigned int count, uint64_t seed)
{
	struct machine random = {.random = seed * 2 + 1};
	struct trace *trace = open_trace();
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
			lanes[0] = 1ULL << 40; /* there is none */
		check_window(trace, t, &q);
	}
	trace_close(trace);
}

struct recording {
	struct machine_options machine;
	struct pyramid_options pyramid;
	uint64_t slices, tick; /* how many; between two ticks */
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
	int result = trace_writer(&w, path, &err);

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

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
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

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void check_file(unsigned int windows, uint64_t seed)
{
	struct trace *trace = open_trace();
	static struct truth t; /* too large for a stack */

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

/* Small blocks and near checkpoints, so that all paths are taken. */
START_TEST(as_the_painter_paints)
{
	const struct recording r = {
		.machine = {.cpus = 1 + _i % 5, .threads = 3 + (unsigned int)_i * 3, .seed = _i + 1},
		.pyramid = {.records = _i % 3 ? 300 : 40},
		.slices = 20000,
		.tick = 500,
	};

	check_recording(&r, WINDOWS);
	ck_assert_int_gt(ask("SELECT count(DISTINCT level) FROM pyramid"), 3);
	ck_assert_int_gt(ask("SELECT count(*) FROM checkpoint"), 10);
}
END_TEST

/* Of short ones nothing is stored; of a pyramid of default size neither. */
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
	change("DROP TABLE pyramid; DROP TABLE checkpoint"); /* as in traces of before */
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

/* With losses, and threads that come and go. */
START_TEST(messy)
{
	const struct recording r = {
		.machine = {.cpus = 4, .threads = 16, .seed = (uint64_t)_i + 200, .losses = 3000,
			    .deaths = 3000},
		.pyramid = {.records = _i % 2 ? 100 : 1000},
		.slices = 15000,
		.tick = 400,
	};

	check_recording(&r, WINDOWS);
}
END_TEST

/* More threads die than are kept until their blocks are whole. */
START_TEST(brief_threads)
{
	const struct recording r = {
		.machine = {.cpus = 2, .threads = 16, .seed = (uint64_t)_i + 300,
			    .deaths = 200000},
		.pyramid = {.records = _i % 2 ? 200 : 2000},
		.slices = 20000,
		.tick = 1000,
	};

	check_recording(&r, WINDOWS);
	ck_assert_int_gt(ask("SELECT count(*) FROM pyramid WHERE dead"), 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pyramid");
	TCase *t = tcase_create("pyramid");
	SRunner *runner = srunner_create(s);
	int failed;

	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof(path), "%s/a.skein", directory);
	tcase_set_timeout(t, SUITE_TIMEOUT);
	tcase_add_loop_test(t, as_the_painter_paints, 0, 8);
	tcase_add_test(t, from_records_alone);
	tcase_add_loop_test(t, killed, 0, 4);
	tcase_add_loop_test(t, messy, 0, 4);
	tcase_add_loop_test(t, brief_threads, 0, 2);
	suite_add_tcase(s, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
