// SPDX-License-Identifier: Apache-2.0
/*
 * Test a trace that only keeps the last part of a recording: its size is bounded, it is complete
 * from its start on, and its states of threads are the same as in a trace of everything.
 */
#include <errno.h>
#include <sys/stat.h>

#include "analyze/states.h"
#include "base/vector.h"
#include "files.h"
#include "suite.h"
#include "synthetic.h"
#include "trace/zoom.h"
#include "trace_file.h"

#define KEPT "kept.skein"
#define ALL "all.skein"
#define SECOND 1000000000ULL
#define CPUS 3
#define THREADS 40
#define FIRST_THREAD_LANE 100

/* A made-up machine: threads take turns on CPUs, sleep, are woken, start and end. */
struct machine {
	struct sink *sinks[2];
	uint64_t random, time;
	uint64_t since[CPUS], running[CPUS]; /* thread.id; 0: idle */
	bool asleep[THREADS];
	uint64_t thread[THREADS], lane[THREADS]; /* current ids */
	bool on_cpu[THREADS];
	uint64_t last_thread, last_lane, last_process, last_stack;
	uint64_t forgotten; /* last stack.id that was forgotten */
};

static void put(struct machine *m, enum record_kind kind, const void *record)
{
	struct error err = {0};

	for (int i = 0; i < 2; i++)
		if (m->sinks[i])
			ck_assert_msg(!sink_put(m->sinks[i], kind, record, &err), "%s", err.text);
}

static uint64_t draw(struct machine *m, uint64_t below)
{
	return (synthetic_random(&m->random) >> 20) % below;
}

static void put_names(struct machine *m, int i, uint64_t end)
{
	struct thread t = {.id = m->thread[i],
			   .process = m->thread[i],
			   .tid = m->thread[i] + 1000,
			   .start = 1,
			   .end = end,
			   .comm = "worker",
			   .lane = m->lane[i]};
	struct process p = {
		.id = m->thread[i], .host = 1, .pid = m->thread[i] + 1000, .start = 1, .end = end};

	put(m, KIND_PROCESS, &p);
	put(m, KIND_THREAD, &t);
}

static void bear(struct machine *m, int i)
{
	struct lane l = {.host = 1, .kind = LANE_THREAD};

	l.id = m->lane[i] = ++m->last_lane;
	l.number = m->thread[i] = ++m->last_thread;
	m->asleep[i] = false;
	m->on_cpu[i] = false;
	put_names(m, i, 0);
	put(m, KIND_LANE, &l);
}

static void begin_machine(struct machine *m, uint64_t keep)
{
	struct host host = {.id = 1, .hostname = "m", .start = 100 * SECOND};
	struct error err = {0};

	files_begin();
	*m = (struct machine){.random = 99, .time = host.start, .last_lane = FIRST_THREAD_LANE};
	ck_assert_msg(!trace_writer(&m->sinks[0], KEPT, &err), "%s", err.text);
	ck_assert_msg(!trace_writer(&m->sinks[1], ALL, &err), "%s", err.text);
	ck_assert_msg(!trace_writer_retain(m->sinks[0], keep, &err), "%s", err.text);
	put(m, KIND_HOST, &host);
	for (uint64_t i = 0; i < CPUS; i++) {
		put(m, KIND_LANE,
		    &(struct lane){.id = i + 1, .host = 1, .kind = LANE_CPU, .number = i});
		m->since[i] = m->time;
	}
	for (int i = 0; i < THREADS; i++) {
		bear(m, i);
		m->asleep[i] = i % 2;
		put(m, KIND_SLICE,
		    &(struct slice){.time = m->time,
				    .lane = m->lane[i],
				    .state = i % 2 ? STATE_SLEEPING : STATE_RUNNABLE,
				    .wait = i % 2 ? WAIT_POLL : 0});
	}
}

static int slot_of(const struct machine *m, uint64_t thread)
{
	for (int i = 0; i < THREADS; i++)
		if (m->thread[i] == thread)
			return i;
	return -1;
}

/* Lose the records of a CPU for some time, which may be longer than the batch. */
static void lose(struct machine *m, uint64_t cpu)
{
	m->since[cpu] = m->time + 16 * draw(m, 1000000);
	put(m, KIND_SLICE,
	    &(struct slice){.time = m->time,
			    .end = m->since[cpu],
			    .lane = cpu + 1,
			    .state = STATE_UNKNOWN});
}

/* Switch the CPU to a runnable thread or to idle. */
static void switch_cpu(struct machine *m, uint64_t cpu)
{
	struct slice s = {
		.time = m->since[cpu], .end = m->time, .lane = cpu + 1, .state = STATE_IDLE};
	int out = m->running[cpu] ? slot_of(m, m->running[cpu]) : -1, next = (int)draw(m, THREADS);
	uint64_t how = draw(m, 100);

	if (m->time < m->since[cpu])
		return;
	if (out >= 0) {
		s.state = STATE_RUNNING;
		s.value = m->running[cpu];
		s.left = how < 50 ? STATE_SLEEPING : how < 97 ? STATE_PREEMPTED : STATE_DEAD;
		s.wait = how < 50 ? 1 + how % (WAIT_COUNT - 1) : 0;
	}
	put(m, KIND_SLICE, &s);
	if (out >= 0) {
		m->on_cpu[out] = false;
		m->asleep[out] = s.left == STATE_SLEEPING;
		if (s.left == STATE_DEAD) {
			put_names(m, out, m->time);
			bear(m, out);
			put(m, KIND_EDGE,
			    &(struct edge){.time = m->time,
					   .end = m->time,
					   .from = m->lane[(out + 1) % THREADS],
					   .to = m->lane[out],
					   .kind = EDGE_FORK});
		}
	}
	m->running[cpu] = 0;
	m->since[cpu] = m->time;
	if (draw(m, 300) == 0)
		lose(m, cpu);
	else if (!m->asleep[next] && !m->on_cpu[next]) {
		m->running[cpu] = m->thread[next];
		m->on_cpu[next] = true;
	}
}

static void wake(struct machine *m)
{
	int i = (int)draw(m, THREADS), from = (int)draw(m, THREADS);

	if (m->asleep[i])
		put(m, KIND_EDGE,
		    &(struct edge){.time = m->time,
				   .end = m->time,
				   .from = m->lane[from],
				   .to = m->lane[i],
				   .kind = EDGE_WAKEUP,
				   .value = draw(m, CPUS) + 1});
	m->asleep[i] = false;
}

/*
 * Put a sample, mostly with one of the stacks put since the last forgetting, and one time in four
 * with a new one.
 */
static void sample(struct machine *m)
{
	uint64_t known = m->last_stack - m->forgotten;
	struct sample s = {.time = m->time, .event = 1, .thread = m->thread[draw(m, THREADS)]};

	if (draw(m, 4) == 0 || !known) {
		struct stack stack = {.id = ++m->last_stack, .frame = m->last_stack};

		stack.parent = known ? m->forgotten + 1 + draw(m, known) : 0;
		put(m, KIND_FUNCTION, &(struct function){.id = stack.id, .name = "f"});
		put(m, KIND_FRAME, &(struct frame){.id = stack.id, .function = stack.id});
		put(m, KIND_STACK, &stack);
		known++;
	}
	s.stack = m->forgotten + 1 + draw(m, known);
	put(m, KIND_SAMPLE, &s);
}

static void live(struct machine *m, uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++) {
		m->time += 16 * (1 + draw(m, 20000));
		if (draw(m, 3))
			switch_cpu(m, draw(m, CPUS));
		else
			wake(m);
		if (draw(m, 10) == 0)
			sample(m);
	}
}

static void tick(struct machine *m)
{
	struct error err = {0};

	for (int i = 0; i < 2; i++)
		ck_assert_msg(!sink_tick(m->sinks[i], m->time, &err), "%s", err.text);
}

static void forget(struct machine *m)
{
	struct error err = {0};

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(sink_forget(m->sinks[i], &err), 0);
	m->forgotten = m->last_stack;
}

static void end_machine(struct machine *m)
{
	struct error err = {0};

	for (uint64_t i = 0; i < CPUS; i++) {
		struct slice s = {.time = m->since[i],
				  .end = m->time > m->since[i] ? m->time : m->since[i],
				  .lane = i + 1,
				  .state = m->running[i] ? STATE_RUNNING : STATE_IDLE,
				  .value = m->running[i]};

		put(m, KIND_SLICE, &s);
	}
	put(m, KIND_HOST,
	    &(struct host){.id = 1, .hostname = "m", .start = 100 * SECOND, .end = m->time});
	for (int i = 0; i < 2; i++) {
		ck_assert_msg(!m->sinks[i]->ops->finish(m->sinks[i], &err), "%s", err.text);
		sink_free(m->sinks[i]);
	}
}

/* The contents of a trace: states of lanes, stacks and counts. */
struct readback {
	struct sink sink;
	struct states *states;
	VECTOR(struct stretch) stretches;
	uint64_t start, end, lost, records;
	uint64_t least_stack, least_parent, least_frame, least_sample;
	uint64_t counts[KIND_COUNT];
};

static int add_stretch(void *context, const struct stretch *s, struct error *err)
{
	struct readback *t = context;

	(void)err;
	return vector_push(&t->stretches, *s);
}

static void note_least(uint64_t *least, uint64_t value)
{
	if (value && (value < *least || !*least))
		*least = value;
}

static int readback_put(struct sink *sink, enum record_kind kind, const void *record,
			struct error *err)
{
	struct readback *t = (struct readback *)sink;
	const struct host *h = record;
	const struct stack *stack = record;

	t->counts[kind]++;
	if (kind == KIND_HOST) {
		t->start = h->start;
		t->end = h->end;
	}
	if (kind == KIND_STACK) {
		note_least(&t->least_stack, stack->id);
		note_least(&t->least_parent, stack->parent);
		note_least(&t->least_frame, stack->frame);
	}
	if (kind == KIND_SAMPLE)
		note_least(&t->least_sample, ((const struct sample *)record)->stack);
	t->lost += kind == KIND_LOSS;
	return states_put(t->states, kind, record, err);
}

static void read_back(struct readback *t, const char *path)
{
	static const struct sink_ops ops = {.put = readback_put};
	const struct states_events events = {add_stretch, t};
	struct error err = {0};

	*t = (struct readback){.sink = {&ops, WANT_ALL & ~WANT(SUM)}};
	ck_assert_int_eq(states_new(&t->states, &events, &err), 0);
	trace_file_read(path, &t->sink);
	ck_assert_int_eq(states_end(t->states, t->end, &err), 0);
}

static void free_readback(struct readback *t)
{
	states_free(t->states);
	vector_free(&t->stretches);
}

static int by_lane(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

/* Sort the stretches by lane, and cut them to the time after time. */
static void from_then(struct readback *t, uint64_t time)
{
	size_t count = 0;

	qsort(t->stretches.items, t->stretches.count, sizeof(*t->stretches.items), by_lane);
	for (size_t i = 0; i < t->stretches.count; i++) {
		struct stretch s = t->stretches.items[i];

		if (s.end <= time)
			continue;
		s.time = s.time < time ? time : s.time;
		t->stretches.items[count++] = s;
	}
	t->stretches.count = count;
}

static void check_same_life(struct readback *kept, struct readback *all)
{
	from_then(kept, kept->start);
	from_then(all, kept->start);
	ck_assert_uint_eq(kept->stretches.count, all->stretches.count);
	for (size_t i = 0; i < kept->stretches.count; i++) {
		const struct stretch *k = &kept->stretches.items[i], *a = &all->stretches.items[i];

		ck_assert_uint_eq(k->lane, a->lane);
		ck_assert_uint_eq(k->time, a->time);
		ck_assert_uint_eq(k->end, a->end);
		ck_assert_int_eq(k->state, a->state);
		ck_assert_int_eq(k->wait, a->wait);
	}
}

static uint64_t size_of(const char *path)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return (uint64_t)st.st_size;
}

START_TEST(states_are_those_of_all)
{
	struct readback kept, all;
	struct machine m;

	begin_machine(&m, 3 * SECOND);
	for (int i = 0; i < 60; i++) {
		live(&m, 2000);
		tick(&m);
	}
	end_machine(&m);
	read_back(&kept, KEPT);
	read_back(&all, ALL);
	ck_assert_uint_eq(kept.end, m.time);
	ck_assert_uint_ge(kept.start, m.time - 4 * SECOND);
	ck_assert_uint_le(kept.start, m.time - 2 * SECOND);
	ck_assert_uint_eq(all.start, 100 * SECOND);
	ck_assert_uint_eq(kept.lost, 0);
	ck_assert_uint_eq(states_disorder(kept.states), 0);
	ck_assert_uint_lt(kept.counts[KIND_SLICE], all.counts[KIND_SLICE] / 2);
	check_same_life(&kept, &all);
	free_readback(&kept);
	free_readback(&all);
}
END_TEST

START_TEST(size_stays)
{
	uint64_t largest_early = 0, largest_late = 0, *largest;
	struct readback kept;
	struct machine m;

	begin_machine(&m, 2 * SECOND);
	for (int i = 0; i < 240; i++) {
		live(&m, 1000);
		tick(&m);
		if (i % 4 == 3)
			forget(&m);
		largest = i < 80 ? &largest_early : &largest_late;
		if (size_of(KEPT) > *largest)
			*largest = size_of(KEPT);
	}
	end_machine(&m);
	/* The blocks of the pyramid become longer, and are completed less often. */
	ck_assert_uint_le(largest_late, 2 * largest_early);
	read_back(&kept, KEPT);
	/* The remaining records only refer to entities that are kept. */
	ck_assert_uint_gt(kept.least_stack, m.last_stack / 2);
	ck_assert_uint_ge(kept.least_sample, kept.least_stack);
	ck_assert_uint_ge(kept.least_parent, kept.least_stack);
	ck_assert_uint_lt(kept.counts[KIND_FRAME], m.last_stack / 2);
	ck_assert_uint_ge(kept.counts[KIND_FRAME], kept.counts[KIND_STACK]);
	ck_assert_uint_lt(kept.counts[KIND_THREAD], m.last_thread / 2);
	ck_assert_uint_lt(kept.counts[KIND_LANE], m.last_thread / 2);
	ck_assert_uint_lt(kept.counts[KIND_PROCESS], m.last_thread / 2);
	ck_assert_uint_eq(kept.lost, 0);
	free_readback(&kept);
}
END_TEST

/* Blocks and checkpoints from before the kept part are deleted. */
START_TEST(pyramid_and_checkpoints_go)
{
	struct machine m;
	struct trace *t;
	char *text;

	begin_machine(&m, 2 * SECOND);
	zoom_set(trace_writer_zoom(m.sinks[0]), &(struct pyramid_options){.records = 1000});
	for (int i = 0; i < 60; i++) {
		live(&m, 2000);
		tick(&m);
	}
	end_machine(&m);
	t = trace_file_open(KEPT);
	text = trace_file_query(
		t, "SELECT (SELECT count(*) > 0 FROM pyramid),"
		   " (SELECT count(*) FROM pyramid, host WHERE pyramid.end <= start),"
		   " (SELECT count(*) > 1 FROM checkpoint), (SELECT count(*) FROM"
		   " checkpoint, info WHERE key = 'trace.dropped' AND chunk < value + 0),"
		   " (SELECT count(*) FROM checkpoint WHERE base > 0 AND base NOT IN"
		   " (SELECT id FROM checkpoint))");
	ck_assert_msg(strstr(text, "\n1,0,1,0,0") != NULL, "%s", text);
	free(text);
	trace_close(t);
}
END_TEST

/* If the source has not forgotten, later records may refer to all stacks, which are kept. */
START_TEST(stacks_stay_until_forgotten)
{
	struct readback kept;
	struct machine m;

	begin_machine(&m, 2 * SECOND);
	for (int i = 0; i < 40; i++) {
		live(&m, 1000);
		tick(&m);
	}
	end_machine(&m);
	read_back(&kept, KEPT);
	ck_assert_uint_eq(kept.counts[KIND_STACK], m.last_stack);
	ck_assert_uint_eq(kept.counts[KIND_FRAME], m.last_stack);
	ck_assert_uint_eq(kept.lost, 0);
	free_readback(&kept);
}
END_TEST

/* Losses before the start are joined to one of each kind, with the whole count. */
START_TEST(losses_add_up)
{
	struct loss loss = {.host = 1, .cpu = 2, .reason = LOSS_SWITCHES_LOST, .count = 3};
	struct machine m;
	struct trace *t;
	char *text;

	begin_machine(&m, 2 * SECOND);
	for (int i = 0; i < 3000; i++) {
		live(&m, 40);
		loss.time = loss.end = m.time;
		put(&m, KIND_LOSS, &loss);
		if (i % 20 == 0)
			tick(&m);
	}
	end_machine(&m);
	t = trace_file_open(KEPT);
	text = trace_file_query(t, "SELECT sum(count), count(*) < 2000 FROM loss");
	ck_assert_msg(strstr(text, "9000,1") != NULL, "%s", text);
	free(text);
	trace_close(t);
}
END_TEST

/* A copy is a trace of its own, and the recording continues. */
START_TEST(copies)
{
	struct error err = {0};
	struct readback copy, kept;
	struct machine m;
	char *path = NULL;

	begin_machine(&m, 3 * SECOND);
	for (int i = 0; i < 20; i++) {
		live(&m, 1000);
		tick(&m);
	}
	live(&m, 100);
	ck_assert_msg(!trace_writer_copy(m.sinks[0], "then", m.time, &path, &err), "%s", err.text);
	ck_assert_str_eq(strrchr(path, '/') + 1, "kept-then.skein");
	ck_assert_int_eq(trace_writer_copy(m.sinks[0], "then", m.time, &path, &err), -EEXIST);
	read_back(&copy, path);
	ck_assert_uint_eq(copy.end, m.time);
	ck_assert_uint_gt(copy.start, 100 * SECOND);
	ck_assert_uint_eq(states_disorder(copy.states), 0);
	live(&m, 1000);
	end_machine(&m);
	read_back(&kept, KEPT);
	ck_assert_uint_eq(kept.end, m.time);
	ck_assert_uint_gt(kept.counts[KIND_SLICE], copy.counts[KIND_SLICE]);
	free_readback(&copy);
	free_readback(&kept);
	free(path);
}
END_TEST

/*
 * Waits that have not ended are put for a copy with the time of the copy. Slices of earlier times
 * come after them, as they take a while to come into order; the start of what is kept must not be
 * after their ends.
 */
START_TEST(open_waits_of_a_copy_move_no_start)
{
	struct sample wait = {.event = 1, .stack = 1, .flags = SAMPLE_FLAG_NOT_ENDED};
	struct error err = {0};
	struct machine m;
	char *path = NULL, *text;
	struct trace *t;

	begin_machine(&m, 2 * SECOND);
	for (int i = 0; i < 10; i++) {
		live(&m, 1000);
		tick(&m);
	}
	trace_writer_hold_open_waits(m.sinks[0]);
	wait.time = m.time + SECOND;
	wait.thread = m.thread[0];
	ck_assert_int_eq(sink_put(m.sinks[0], KIND_SAMPLE, &wait, &err), 0);
	ck_assert_int_eq(trace_writer_copy(m.sinks[0], "then", wait.time, &path, &err), 0);
	for (uint64_t end = m.time + 3 * SECOND; m.time < end; tick(&m))
		live(&m, 500);
	end_machine(&m);
	t = trace_file_open(KEPT);
	text = trace_file_query(t, "SELECT count(*) FROM slice JOIN lane ON lane.id = lane "
				   "WHERE kind = 1 AND \"end\" < (SELECT start FROM host)");
	ck_assert_msg(strstr(text, "\n0") != NULL, "%s", text);
	free(text);
	trace_close(t);
	free(path);
}
END_TEST

START_TEST(says_when_it_is_full)
{
	struct trace_stats stats = {0};
	struct machine m;
	uint64_t ticks = 0;

	begin_machine(&m, 1000 * SECOND);
	trace_writer_limit(m.sinks[0], 1 << 20);
	while (!stats.full && ticks++ < 10000) {
		live(&m, 1000);
		tick(&m);
		trace_writer_stats(m.sinks[0], &stats);
	}
	ck_assert(stats.full);
	ck_assert_uint_gt(stats.file_bytes, 1 << 19);
	/* The last transaction may contain a block of the pyramid, too. */
	ck_assert_uint_le(stats.file_bytes, (1 << 20) + (1 << 16));
	end_machine(&m);
	/* The end writes the rest of the pyramid. */
	ck_assert_uint_le(size_of(KEPT), (1 << 20) + (1 << 18));
}
END_TEST

/* With a limit of bytes less is kept, of which the states are still those of all. */
START_TEST(keeps_less_for_the_limit)
{
	const uint64_t limit = 512 << 10;
	struct readback kept;
	struct machine m;

	begin_machine(&m, 1000 * SECOND);
	trace_writer_retain_at_most(m.sinks[0], limit);
	for (int i = 0; i < 400; i++) {
		live(&m, 1000);
		tick(&m);
		if (i % 20 == 0)
			forget(&m);
		ck_assert_uint_lt(m.time - trace_writer_kept_start(m.sinks[0]),
				  i < 100 ? UINT64_MAX : 50 * SECOND);
	}
	end_machine(&m);
	ck_assert_uint_gt(size_of(ALL), 3 * limit);
	ck_assert_uint_lt(size_of(KEPT), 2 * limit);
	read_back(&kept, KEPT);
	ck_assert_uint_gt(kept.counts[KIND_SLICE], 1000);
	ck_assert_uint_eq(states_disorder(kept.states), 0);
	free_readback(&kept);
}
END_TEST

SUITE("keep", states_are_those_of_all, size_stays, pyramid_and_checkpoints_go,
      stacks_stay_until_forgotten, losses_add_up, copies, open_waits_of_a_copy_move_no_start,
      says_when_it_is_full, keeps_less_for_the_limit)
