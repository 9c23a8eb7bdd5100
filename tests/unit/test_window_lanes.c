// SPDX-License-Identifier: Apache-2.0
/*
 * Windows with scheduler records (window_lanes.c), one by one and one after the other (sequence.c):
 * random machines, whose threads are in states that are known, are divided into windows of random
 * lengths. Each window must have exactly the states of its time.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/states.h"
#include "base/vector.h"
#include "files.h"
#include "serve/window_lanes.h"
#include "serve/window_sink.h"
#include "suite.h"
#include "trace/sequence.h"
#include "trace/trace.h"
#include "window_paths.h"

#define SECOND 1000000000ULL
#define MS 1000000ULL
#define START (1000 * SECOND)
#define DURATION (40 * SECOND)
#define CPUS 3
#define THREADS_MAX 400
#define LANES_MAX 4096
#define CPU_LANE(n) (1 + (uint64_t)(n))
#define TIMER_LANE (CPU_LANE(CPUS))

static struct error err;
static struct sink *windows;

#define PUT(kind, ...) \
	ck_assert_int_eq(put_##kind(windows, &(struct kind){__VA_ARGS__}, &err), 0)

/* check.h writes to a pipe at every assertion, which is too slow for many of them. */
#define HOLDS(condition) \
	do { \
		if (!(condition)) \
			ck_abort_msg("%s", #condition); \
	} while (0)

/* A time in which a thread was in one state. */
struct true_stretch {
	uint64_t tid, time, end, state, wait;
};

struct machine_thread {
	uint64_t id, lane, state, wait, since; /* state 0: it is dead */
};

static struct {
	struct machine_thread threads[THREADS_MAX]; /* by tid */
	uint64_t tids, last_id, last_lane;
	uint64_t running[CPUS], since[CPUS]; /* running: tid; 0: idle */
	uint64_t now, next_tick;
	VECTOR(struct true_stretch) truth;
} m;

static struct thread thread_of_machine(uint64_t tid)
{
	return (struct thread){.id = m.threads[tid].id,
			       .process = 1,
			       .tid = tid,
			       .comm = "t",
			       .lane = m.threads[tid].lane};
}

static void set_state(uint64_t tid, enum slice_state state, enum wait_class wait)
{
	struct machine_thread *t = &m.threads[tid];
	const struct true_stretch x = {tid, t->since, m.now, t->state, t->wait};

	if (t->state && t->since < m.now)
		HOLDS(vector_push(&m.truth, x) == 0);
	t->since = m.now;
	t->state = state == STATE_DEAD ? 0 : state;
	t->wait = wait;
}

/* Put the slice of a CPU until a time, and begin the next one. */
static void end_slice(unsigned int cpu, uint64_t time, enum slice_state left, enum wait_class wait)
{
	uint64_t tid = m.running[cpu];

	if (m.since[cpu] < time)
		PUT(slice, .time = m.since[cpu], .end = time, .lane = CPU_LANE(cpu),
		    .state = tid ? STATE_RUNNING : STATE_IDLE, .value = tid ? m.threads[tid].id : 0,
		    .left = tid ? left : 0, .wait = tid ? wait : 0);
	m.since[cpu] = time;
}

static uint64_t new_thread(enum slice_state state)
{
	uint64_t tid = ++m.tids;
	struct thread t;

	HOLDS(tid < THREADS_MAX);
	m.threads[tid] = (struct machine_thread){++m.last_id, ++m.last_lane, state, 0, m.now};
	PUT(lane, .id = m.last_lane, .host = 1, .kind = LANE_THREAD, .number = m.last_id);
	t = thread_of_machine(tid);
	HOLDS(put_thread(windows, &t, &err) == 0);
	return tid;
}

/* Begin a machine with some threads that sleep, as a snapshot shows them. */
static void begin_machine(void)
{
	vector_free(&m.truth);
	memset(&m, 0, sizeof(m));
	m.now = START;
	m.next_tick = START + SECOND;
	m.last_lane = TIMER_LANE;
	PUT(host, .id = 1, .hostname = "machine", .machine_id = "m", .boot_id = "b", .cpus = CPUS,
	    .start = START);
	PUT(event, .id = 1, .host = 1, .name = "cpu-clock", .unit = "ns", .period = 10 * MS);
	PUT(process, .id = 1, .host = 1, .pid = 1, .comm = "p");
	for (unsigned int i = 0; i < CPUS; i++) {
		PUT(lane, .id = CPU_LANE(i), .host = 1, .kind = LANE_CPU, .number = i);
		m.since[i] = START;
	}
	PUT(lane, .id = TIMER_LANE, .host = 1, .parent = CPU_LANE(0), .kind = LANE_INTERRUPT,
	    .number = INTERRUPT_TIMER);
	for (int i = 0; i < 8; i++) {
		uint64_t tid = new_thread(STATE_SLEEPING);

		m.threads[tid].wait = WAIT_POLL;
		PUT(slice, .time = START, .lane = m.threads[tid].lane, .state = STATE_SLEEPING,
		    .wait = WAIT_POLL);
	}
}

/* Return a random thread in one of two states; 0: there is none. */
static uint64_t choose_thread(enum slice_state a, enum slice_state b)
{
	uint64_t first = (uint64_t)random();

	for (uint64_t i = 0; i < m.tids; i++) {
		uint64_t tid = 1 + (first + i) % m.tids;

		if (m.threads[tid].state == a || m.threads[tid].state == b)
			return tid;
	}
	return 0;
}

/* The thread on a CPU leaves it, and another one gets it, if one can run. */
static void switch_threads(unsigned int cpu)
{
	static const enum slice_state states[] = {STATE_RUNNABLE, STATE_PREEMPTED, STATE_SLEEPING,
						  STATE_SLEEPING, STATE_DISK,	   STATE_DEAD};
	static const enum wait_class waits[] = {0, 0, WAIT_LOCK, WAIT_SLEEP, WAIT_IO, 0};
	unsigned int how = (unsigned int)random() % (m.tids > 4 && random() % 8 == 0 ? 6 : 5);
	uint64_t tid = m.running[cpu], next = choose_thread(STATE_RUNNABLE, STATE_PREEMPTED);

	end_slice(cpu, m.now, states[how], waits[how]);
	if (tid)
		set_state(tid, states[how], waits[how]);
	m.running[cpu] = next;
	if (next)
		set_state(next, STATE_RUNNING, 0);
}

static void wake_thread(uint64_t tid)
{
	if (!tid)
		return;
	PUT(edge, .time = m.now, .end = m.now, .from = TIMER_LANE, .to = m.threads[tid].lane,
	    .kind = EDGE_WAKEUP, .value = 1);
	set_state(tid, STATE_RUNNABLE, 0);
}

static void fork_thread(void)
{
	uint64_t tid;

	if (m.tids + 1 >= THREADS_MAX)
		return;
	tid = new_thread(STATE_RUNNABLE);
	PUT(edge, .time = m.now, .end = m.now, .from = TIMER_LANE, .to = m.threads[tid].lane,
	    .kind = EDGE_FORK, .value = 1);
}

/* The thread on a CPU takes another name, which divides its slice. */
static void rename_thread(unsigned int cpu)
{
	uint64_t tid = m.running[cpu];
	struct thread t = thread_of_machine(tid);

	if (!tid)
		return;
	end_slice(cpu, m.now, STATE_RUNNING, 0);
	t.end = m.now;
	HOLDS(put_thread(windows, &t, &err) == 0);
	m.threads[tid].id = ++m.last_id;
	t = thread_of_machine(tid);
	HOLDS(put_thread(windows, &t, &err) == 0);
}

/* As a live source: slices that are long come in parts, and the tick comes later on a busy machine.
 */
static void tick_machine(void)
{
	for (unsigned int i = 0; i < CPUS; i++)
		if (m.since[i] + SECOND < m.now)
			end_slice(i, m.now, STATE_RUNNING, 0);
	HOLDS(sink_tick(windows, m.now + (uint64_t)random() % (800 * MS), &err) == 0);
	m.next_tick += 600 * MS + (uint64_t)random() % (800 * MS) / 64 * 64;
}

static void pass_time(void)
{
	static const uint64_t longest[] = {2 * MS, 20 * MS, 20 * MS, 300 * MS};
	uint64_t ns = 1 + (uint64_t)random() % longest[random() % 4];
	uint64_t to = (m.now + (random() % 500 ? ns : 2500 * MS)) / 64 * 64;

	while (m.next_tick <= to) {
		m.now = m.next_tick;
		tick_machine();
	}
	m.now = to > m.now ? to : m.now;
}

static void run_machine(uint64_t until)
{
	while (m.now < until) {
		unsigned int cpu = (unsigned int)random() % CPUS;

		pass_time();
		if (random() % 3 == 0)
			wake_thread(choose_thread(STATE_SLEEPING, STATE_DISK));
		else if (random() % 40 == 0)
			fork_thread();
		else if (random() % 40 == 0)
			rename_thread(cpu);
		else
			switch_threads(cpu);
	}
}

static void end_machine(void)
{
	for (unsigned int i = 0; i < CPUS; i++)
		end_slice(i, m.now, STATE_NONE, 0);
	for (uint64_t tid = 1; tid <= m.tids; tid++)
		set_state(tid, (enum slice_state)m.threads[tid].state, 0);
	PUT(host, .id = 1, .hostname = "machine", .machine_id = "m", .boot_id = "b", .cpus = CPUS,
	    .start = START, .end = m.now);
	HOLDS(windows->ops->finish(windows, &err) == 0);
	sink_free(windows);
}

/* What a trace has of each thread and of all CPUs. */
struct found {
	struct sink sink;
	struct states *states;
	struct host host;
	uint64_t tid_of_lane[LANES_MAX];
	uint64_t sums[THREADS_MAX][STATE_COUNT][WAIT_COUNT]; /* ns */
	uint64_t cpus, unknown; /* ns of all CPUs, and of them unknown */
	uint64_t edges;
};

static struct found found;

static int find_stretch(void *context, const struct stretch *s, struct error *e)
{
	(void)context;
	(void)e;
	if (s->kind == LANE_CPU)
		found.cpus += s->end - s->time;
	if (s->kind == LANE_CPU && s->state == STATE_UNKNOWN)
		found.unknown += s->end - s->time;
	if (s->kind == LANE_THREAD)
		found.sums[found.tid_of_lane[s->lane]][s->state][s->wait] += s->end - s->time;
	return 0;
}

static int find_put(struct sink *s, enum record_kind kind, const void *record, struct error *e)
{
	const struct thread *t = record;

	(void)s;
	if (kind == KIND_HOST)
		found.host = *(const struct host *)record;
	if (kind == KIND_THREAD) {
		HOLDS(t->lane && t->lane < LANES_MAX);
		HOLDS(!found.tid_of_lane[t->lane] || found.tid_of_lane[t->lane] == t->tid);
		found.tid_of_lane[t->lane] = t->tid;
	}
	if (kind == KIND_EDGE)
		found.edges++;
	return states_put(found.states, kind, record, e);
}

static void find_in(struct source *source)
{
	static const struct sink_ops ops = {.put = find_put};
	const struct states_events events = {.stretch = find_stretch};

	memset(&found, 0, sizeof(found));
	found.sink = (struct sink){&ops, WANT(HOST) | WANT(PROCESS) | WANT(THREAD) | WANT(LANE) |
						 WANT(SLICE) | WANT(EDGE)};
	HOLDS(states_new(&found.states, &events, &err) == 0);
	ck_assert_msg(source->ops->run(source, &found.sink, &err) == 0, "%s", err.text);
	HOLDS(states_end(found.states, found.host.end, &err) == 0);
	ck_assert_uint_eq(states_disorder(found.states), 0);
	states_free(found.states);
}

static void find_in_window(const char *path)
{
	struct source *source;
	struct trace *t;

	ck_assert_msg(trace_open(&t, path, &err) == 0, "%s", err.text);
	HOLDS(trace_source(&source, t, &err) == 0);
	find_in(source);
	source_free(source);
	trace_close(t);
}

/* The states of the time of a trace, but that from gap[0] to gap[1], are those of the machine. */
static void check_states(const uint64_t gap[2])
{
	static uint64_t sums[THREADS_MAX][STATE_COUNT][WAIT_COUNT];

	memset(sums, 0, sizeof(sums));
	for (size_t i = 0; i < m.truth.count; i++) {
		const struct true_stretch *x = &m.truth.items[i];
		uint64_t from = x->time > found.host.start ? x->time : found.host.start;
		uint64_t to = x->end < found.host.end ? x->end : found.host.end;

		if (from < to && !gap)
			sums[x->tid][x->state][x->wait] += to - from;
		if (from < to && gap && from < gap[0])
			sums[x->tid][x->state][x->wait] += (to < gap[0] ? to : gap[0]) - from;
		if (from < to && gap && to > gap[1])
			sums[x->tid][x->state][x->wait] += to - (from > gap[1] ? from : gap[1]);
	}
	for (uint64_t tid = 1; tid <= m.tids; tid++)
		for (int state = 0; state < STATE_COUNT; state++)
			for (int wait = 0; wait < WAIT_COUNT; wait++)
				if (state != STATE_UNKNOWN &&
				    sums[tid][state][wait] != found.sums[tid][state][wait])
					ck_abort_msg(
						"thread %llu, state %d, wait %d: %llu ns are %llu",
						(unsigned long long)tid, state, wait,
						(unsigned long long)sums[tid][state][wait],
						(unsigned long long)found.sums[tid][state][wait]);
}

static void free_paths(char **paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(paths[i]);
}

/* The wall clock of tests. */
static uint64_t utc_of_test(uint64_t boot)
{
	return 1795772700 * SECOND + boot;
}

/* Record a random machine into windows of that length, ns. Return the number of windows. */
static size_t record_machine(unsigned int seed, uint64_t length, char **paths)
{
	char folder[32];
	const struct window_options o = {
		.folder = folder, .length = length, .records.sched = true, .utc = utc_of_test};

	snprintf(folder, sizeof(folder), "w%u", seed);
	HOLDS(mkdir(folder, 0700) == 0);
	srandom(seed);
	HOLDS(window_sink(&windows, &o, &err) == 0);
	begin_machine();
	run_machine(START + DURATION);
	end_machine();
	return list_windows(folder, paths);
}

START_TEST(windows_have_the_states_of_their_time)
{
	files_begin();
	for (unsigned int seed = 1; seed <= 6; seed++) {
		char *paths[WINDOWS_MAX];
		uint64_t border = START;
		size_t count;

		count = record_machine(seed, (1 + seed / 2 % 3) * SECOND + seed * 7 * MS, paths);
		ck_assert_uint_ge(count, 5);
		for (size_t i = 0; i < count; i++) {
			find_in_window(paths[i]);
			/* windows follow each other, and each has all its time on each CPU */
			ck_assert_uint_eq(found.host.start, border);
			ck_assert_uint_eq(found.cpus, CPUS * (found.host.end - found.host.start));
			ck_assert_uint_eq(found.unknown, 0);
			check_states(NULL);
			border = found.host.end;
		}
		ck_assert_uint_eq(border, m.now);
		free_paths(paths, count);
	}
}
END_TEST

START_TEST(windows_one_after_the_other)
{
	files_begin();
	for (unsigned int seed = 1; seed <= 3; seed++) {
		char *paths[WINDOWS_MAX];
		struct source *source;
		size_t count;

		count = record_machine(seed, 3 * SECOND, paths);
		HOLDS(sequence_source(&source, (const char *const *)paths, count, &err) == 0);
		find_in(source);
		source_free(source);
		ck_assert_uint_eq(found.host.start, START);
		ck_assert_uint_eq(found.host.end, m.now);
		ck_assert_uint_eq(found.cpus, CPUS * (m.now - START));
		ck_assert_uint_eq(found.unknown, 0);
		check_states(NULL);
		free_paths(paths, count);
	}
}
END_TEST

/* The time of a window that was removed is unknown; all other times stay what they are. */
START_TEST(a_window_is_missing)
{
	char *paths[WINDOWS_MAX];
	struct source *source;
	uint64_t gap[2];
	size_t count;

	files_begin();
	count = record_machine(7, 4 * SECOND, paths);
	find_in_window(paths[2]);
	gap[0] = found.host.start;
	gap[1] = found.host.end;
	ck_assert_int_eq(unlink(paths[2]), 0);
	HOLDS(sequence_source(&source, (const char *const *)paths, count, &err) == 0);
	find_in(source);
	source_free(source);
	ck_assert_uint_eq(found.cpus, CPUS * (m.now - START));
	ck_assert_uint_eq(found.unknown, CPUS * (gap[1] - gap[0]));
	check_states(gap);
	free_paths(paths, count);
}
END_TEST

/* Return how much memory this process has, KiB. */
static long resident_kib(void)
{
	FILE *in = fopen("/proc/self/statm", "re");
	long pages = 0;

	HOLDS(in && fscanf(in, "%*d %ld", &pages) == 1);
	fclose(in);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* 1,000 threads a second, of which each lives for a second; the record of one end in ten is lost.
 */
START_TEST(memory_of_threads_stays)
{
	const struct window_options o = {.folder = ".",
					 .length = 5 * SECOND,
					 .records.sched = true,
					 .budget.bytes = 1 << 20,
					 .utc = utc_of_test};
	long before = 0;

	files_begin();
	HOLDS(window_sink(&windows, &o, &err) == 0);
	begin_machine();
	for (uint64_t id = 1000; id < 121000; id++) {
		uint64_t time = START + (id - 1000) * MS;

		PUT(process, .id = id, .host = 1, .pid = id, .comm = "p", .end = time + SECOND);
		PUT(lane, .id = id, .host = 1, .kind = LANE_THREAD, .number = id);
		PUT(thread, .id = id, .process = id, .tid = id, .comm = "t", .lane = id,
		    .end = time + SECOND);
		PUT(slice, .time = time, .end = time + MS, .lane = CPU_LANE(0),
		    .state = STATE_RUNNING, .value = id, .left = id % 10 ? STATE_DEAD : STATE_NONE);
		if (id % 1000 == 999)
			HOLDS(sink_tick(windows, time + MS, &err) == 0);
		if (id == 50000)
			before = resident_kib();
	}
	ck_assert_int_lt(resident_kib() - before, 8192);
	m.now = START + 120 * SECOND;
	end_machine();
}
END_TEST

/* Windows without scheduler records have neither these nor lanes. */
START_TEST(samples_alone)
{
	const struct window_options o = {.folder = ".", .length = 10 * SECOND, .utc = utc_of_test};
	char *paths[WINDOWS_MAX];
	struct trace *t;
	size_t count, size;
	char *text;
	FILE *out;

	files_begin();
	HOLDS(window_sink(&windows, &o, &err) == 0);
	begin_machine();
	PUT(sample, .time = START + 1, .event = 1, .thread = 1, .weight = 10 * MS);
	run_machine(START + 5 * SECOND);
	end_machine();
	count = list_windows(".", paths);
	ck_assert_uint_eq(count, 1);
	out = open_memstream(&text, &size);
	HOLDS(trace_open(&t, paths[0], &err) == 0);
	HOLDS(trace_query(
		      t,
		      "SELECT (SELECT count(*) FROM sample) AS a, (SELECT count(*) FROM slice), "
		      "(SELECT count(*) FROM lane), (SELECT max(lane) FROM thread)",
		      QUERY_CSV, out, &err) == 0);
	fclose(out);
	ck_assert_msg(strstr(text, "1,0,0,0") != NULL, "%s", text);
	free(text);
	trace_close(t);
	free_paths(paths, count);
}
END_TEST

static struct slice cut(struct slice s, uint64_t begin, uint64_t end, bool *has)
{
	union merge_record r = {.slice = s};

	*has = window_lanes_cut(KIND_SLICE, &r, begin, end);
	return r.slice;
}

/* A thread's state was seen after the border, and nothing is known of it since before. */
START_TEST(unknown_times_are_cut)
{
	const struct slice seen = {.time = 200, .value = 50, .state = STATE_SLEEPING, .wait = 1};
	const struct slice lost = {.time = 50, .end = 200, .state = STATE_UNKNOWN};
	struct slice s;
	bool has;

	s = cut(seen, 0, 100, &has);
	ck_assert(has && s.time == 100 && s.value == 50 && s.state == STATE_UNKNOWN && !s.wait);
	s = cut(seen, 100, UINT64_MAX, &has);
	ck_assert(has && s.time == 200 && s.value == 100 && s.state == STATE_SLEEPING);
	cut((struct slice){.time = 200, .value = 150, .state = STATE_SLEEPING}, 0, 100, &has);
	ck_assert(!has);
	s = cut(lost, 0, 100, &has);
	ck_assert(has && s.time == 50 && s.end == 100 && s.state == STATE_UNKNOWN);
	s = cut(lost, 100, UINT64_MAX, &has);
	ck_assert(has && s.time == 100 && s.end == 200);
	s = cut(lost, 200, UINT64_MAX, &has);
	ck_assert(!has);
	/* a span is whole in the window of its end */
	ck_assert(!window_lanes_cut(
		KIND_SPAN, &(union merge_record){.span = {.time = 50, .end = 200}}, 0, 100));
	ck_assert(window_lanes_cut(
		KIND_SPAN, &(union merge_record){.span = {.time = 50, .end = 200}}, 100, 300));
}
END_TEST

#define TAKES(c, kind, ...) \
	record_choice_takes(c, KIND_##kind, &(union merge_record){__VA_ARGS__})

/* Windows get what they are made for, and of all events the samples, accounts and losses with them.
 */
START_TEST(windows_get_what_was_chosen)
{
	struct record_choice none = {0}, sched = {.sched = true}, waits = {.waits = true},
			     probes = {.probes = true}, interrupts = {.interrupts = true};
	struct record_choice *const all[] = {&none, &sched, &waits, &probes, &interrupts};

	for (int i = 0; i < 5; i++) {
		ck_assert(TAKES(all[i], EVENT, .event = {.id = 1, .name = "cpu-clock"}));
		ck_assert(TAKES(all[i], EVENT, .event = {.id = 2, .name = EVENT_OFF_CPU}) ==
			  (i == 2));
		ck_assert(TAKES(all[i], EVENT, .event = {.id = 3, .name = EVENT_EXCEPTIONS}) ==
			  (i == 3));
		ck_assert(TAKES(all[i], SAMPLE, .sample = {.event = 1}));
		ck_assert(TAKES(all[i], SAMPLE, .sample = {.event = 2}) == (i == 2));
		ck_assert(TAKES(all[i], ACCOUNT, .account = {.event = 3}) == (i == 3));
		ck_assert(TAKES(all[i], LOSS, .loss = {.event = 2}) == (i == 2));
		ck_assert(TAKES(all[i], LOSS, .loss = {.reason = LOSS_SWITCHES_LOST}) == (i == 1));
		ck_assert(TAKES(all[i], LOSS, .loss = {.reason = LOSS_PROBES_LOST}) == (i == 3));
		ck_assert(TAKES(all[i], LOSS, .loss = {.reason = LOSS_RING_FULL}));
		ck_assert(TAKES(all[i], SLICE, .slice = {.time = 1}) == (i == 1));
		ck_assert(TAKES(all[i], EDGE, .edge = {.time = 1}) == (i == 1));
		ck_assert(TAKES(all[i], SPAN, .span = {.kind = SPAN_MONITOR_WAIT}) == (i == 1));
		ck_assert(TAKES(all[i], SPAN, .span = {.kind = SPAN_COLLECTION}) == (i == 3));
		ck_assert(TAKES(all[i], SPAN, .span = {.kind = SPAN_SOFTIRQ}) == (i == 4));
		ck_assert(TAKES(all[i], COUNTER, .counter = {.time = 1}) == (i == 3));
		ck_assert(TAKES(all[i], HANDLER, .handler = {.number = 1}) == (i == 4));
	}
}
END_TEST

SUITE("window lanes", windows_have_the_states_of_their_time, windows_one_after_the_other,
      a_window_is_missing, samples_alone, unknown_times_are_cut, windows_get_what_was_chosen,
      memory_of_threads_stays)
