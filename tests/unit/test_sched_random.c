// SPDX-License-Identifier: Apache-2.0
/*
 * Random schedules of random machines, added up while they are made: the sums of every thread and
 * CPU must be equal for any range, and the times of a thread or CPU must add up to its whole life.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/sched.h"
#include "scene.h"
#include "suite.h"

#define CPUS 3
#define THREADS 9
#define PROCESSES 3
#define EVENTS 600
#define START 5000
#define CPU_LANE(cpu) (1 + (cpu))
#define THREAD_LANE(t) (100 + (t))
#define TIMER_LANE 50

struct simulated {
	enum slice_state state;
	enum wait_class wait;
	enum queued queued;
	uint64_t since, queued_at;
	bool forked;
	struct sched_times times;
	struct sched_counts counts;
};

static struct {
	struct simulated threads[THREADS];
	int running[CPUS]; /* -1: idle */
	uint64_t since[CPUS], busy[CPUS], idle[CPUS], switches[CPUS];
	struct scene_step reported[EVENTS * 4];
	size_t count;
	uint64_t now, end, from, to; /* stamps */
	uint64_t wakeups;
	unsigned int selected; /* requested processes, as bits */
} sim;

static uint64_t common(uint64_t time, uint64_t end)
{
	uint64_t from = time > sim.from ? time : sim.from, to = end < sim.to ? end : sim.to;

	return to > from ? to - from : 0;
}

static bool within(uint64_t time)
{
	return time >= sim.from && time < sim.to;
}

static void tell_slice(uint64_t time, uint64_t end, uint64_t lane, enum slice_state state,
		       uint64_t value, uint64_t left, uint64_t wait)
{
	sim.reported[sim.count++].slice = (struct slice){time, end, lane, state, value, left, wait};
}

static void tell_edge(enum edge_kind kind, uint64_t from, uint64_t to, uint64_t cpu)
{
	sim.reported[sim.count++].edge = (struct edge){sim.now, sim.now, from, to, kind, cpu, 0};
}

/* Add up the thread's state, which ends now. */
static void pass(struct simulated *t)
{
	uint64_t ns = common(t->since, sim.now);

	if (t->state == STATE_RUNNING)
		t->times.running += ns;
	else if (t->state == STATE_RUNNABLE || t->state == STATE_PREEMPTED)
		t->times.queued[t->queued] += ns;
	else if (t->state == STATE_SLEEPING || t->state == STATE_DISK)
		t->times.blocked[t->wait] += ns;
	else if (t->state == STATE_STOPPED)
		t->times.stopped += ns;
	else if (t->state == STATE_UNUSED)
		t->times.unused += ns;
	t->since = sim.now;
}

static void become(struct simulated *t, enum slice_state state, enum wait_class wait)
{
	pass(t);
	t->state = state;
	t->wait = wait;
}

static void enqueue(struct simulated *t, enum slice_state state, enum queued how)
{
	become(t, state, 0);
	t->queued = how;
	t->queued_at = sim.now;
}

/* Return a thread that waits for a CPU (runnable) or for something else, or -1. */
static int choose(bool runnable)
{
	int first = (int)(random() % THREADS);

	for (int i = 0; i < THREADS; i++) {
		const struct simulated *t = &sim.threads[(first + i) % THREADS];
		bool waits = t->state == STATE_RUNNABLE || t->state == STATE_PREEMPTED;

		if (t->state != STATE_RUNNING && waits == runnable)
			return (first + i) % THREADS;
	}
	return -1;
}

static void leave(int cpu)
{
	static const enum slice_state states[] = {STATE_RUNNABLE, STATE_PREEMPTED, STATE_SLEEPING,
						  STATE_SLEEPING, STATE_DISK,	   STATE_STOPPED,
						  STATE_UNUSED};
	int thread = sim.running[cpu];
	struct simulated *t = &sim.threads[thread];
	enum slice_state state = states[random() % 7];
	bool blocked = state == STATE_SLEEPING || state == STATE_DISK;
	enum wait_class wait = blocked ? 1 + random() % (WAIT_COUNT - 1) : WAIT_NONE;
	bool suffered = state == STATE_RUNNABLE || state == STATE_PREEMPTED;

	tell_slice(sim.since[cpu], sim.now, CPU_LANE(cpu), STATE_RUNNING, thread + 1, state, wait);
	sim.busy[cpu] += common(sim.since[cpu], sim.now);
	if (suffered)
		enqueue(t, state, QUEUED_PREEMPTED);
	else
		become(t, state, wait);
	if (within(sim.now)) {
		t->counts.switches[suffered ? SWITCH_INVOLUNTARY : SWITCH_VOLUNTARY]++;
		sim.switches[cpu]++;
	}
}

static void enter(int cpu, int thread)
{
	struct simulated *t = &sim.threads[thread];

	if (within(sim.now)) {
		uint64_t ns = sim.now - t->queued_at;
		uint64_t *longest = &t->counts.longest[t->queued];

		t->counts.waits[t->queued]++;
		t->counts.waited[t->queued] += ns;
		*longest = ns > *longest ? ns : *longest;
	}
	become(t, STATE_RUNNING, 0);
	sim.running[cpu] = thread;
}

static void switch_cpu(int cpu)
{
	int next = choose(true);

	if (sim.running[cpu] < 0 && next < 0)
		return;
	if (sim.running[cpu] >= 0) {
		leave(cpu);
	} else {
		tell_slice(sim.since[cpu], sim.now, CPU_LANE(cpu), STATE_IDLE, 0, 0, 0);
		sim.idle[cpu] += common(sim.since[cpu], sim.now);
		sim.switches[cpu] += within(sim.now);
	}
	sim.since[cpu] = sim.now;
	sim.running[cpu] = -1;
	if (next >= 0)
		enter(cpu, next);
}

static void wake(void)
{
	int thread = choose(false), waker = sim.running[random() % CPUS];

	if (thread < 0)
		return;
	tell_edge(EDGE_WAKEUP, waker < 0 ? TIMER_LANE : THREAD_LANE(waker), THREAD_LANE(thread),
		  1 + random() % CPUS);
	enqueue(&sim.threads[thread], STATE_RUNNABLE, QUEUED_WOKEN);
	if (!within(sim.now))
		return;
	sim.threads[thread].counts.wakeups++;
	sim.wakeups++;
	if (waker >= 0)
		sim.threads[waker].counts.wakes++;
}

static void simulate(uint64_t from, uint64_t to)
{
	memset(&sim, 0, sizeof(sim));
	sim.now = START;
	sim.from = from;
	sim.to = to;
	for (int t = 0; t < THREADS; t++) {
		sim.threads[t].since = START;
		sim.threads[t].state = random() % 2 ? STATE_SLEEPING : STATE_STOPPED;
		sim.threads[t].wait = sim.threads[t].state == STATE_SLEEPING ? WAIT_POLL : 0;
		tell_slice(START, 0, THREAD_LANE(t), sim.threads[t].state, 0, 0,
			   sim.threads[t].wait);
	}
	for (int cpu = 0; cpu < CPUS; cpu++) {
		sim.since[cpu] = START;
		sim.running[cpu] = -1;
	}
	for (int i = 0; i < EVENTS; i++) {
		sim.now += 1 + random() % (random() % 20 ? 30 : 2000);
		if (random() % 2)
			switch_cpu((int)(random() % CPUS));
		else
			wake();
	}
	sim.end = sim.now += 10;
	for (int t = 0; t < THREADS; t++)
		pass(&sim.threads[t]);
	for (int cpu = 0; cpu < CPUS; cpu++) {
		int t = sim.running[cpu];

		tell_slice(sim.since[cpu], sim.now, CPU_LANE(cpu),
			   t < 0 ? STATE_IDLE : STATE_RUNNING, t + 1, 0, 0);
		*(t < 0 ? &sim.idle[cpu] : &sim.busy[cpu]) += common(sim.since[cpu], sim.now);
	}
}

static void sim_build(struct scene *s, const void *unused)
{
	(void)unused;
	scene_host(s, .id = 1, .start = START, .end = sim.end);
	for (uint64_t t = 0; t < THREADS; t++)
		scene_thread(s, t + 1, 1 + t % PROCESSES, 70 + t, START, 0, "t", THREAD_LANE(t), 0,
			     "");
	for (uint64_t i = 0; i < CPUS; i++)
		scene_lane(s, CPU_LANE(i), 1, 0, LANE_CPU, i, "");
	for (uint64_t t = 0; t < THREADS; t++)
		scene_lane(s, THREAD_LANE(t), 1, 0, LANE_THREAD, t + 1, "");
	scene_lane(s, TIMER_LANE, 1, CPU_LANE(0), LANE_INTERRUPT, INTERRUPT_TIMER, "");
	for (size_t i = 0; i < sim.count; i++)
		scene_step(s, &sim.reported[i]);
}

DEFINE_SCENE(sim_source, sim_build)

static void check_threads(const struct sched *s)
{
	uint64_t elapsed = sim.to - sim.from;

	ck_assert_uint_eq(s->threads.count, THREADS);
	for (int i = 0; i < THREADS; i++) {
		const struct sched_thread *t = &s->threads.items[i];

		ck_assert_uint_eq(t->id, i + 1);
		ck_assert_mem_eq(&t->times, &sim.threads[i].times, sizeof(t->times));
		ck_assert_mem_eq(&t->counts, &sim.threads[i].counts, sizeof(t->counts));
		ck_assert_uint_eq(sched_life(&t->times), elapsed);
	}
	ck_assert_uint_eq(s->counts.wakeups, sim.wakeups);
}

/* Check how many threads ran at once, of all or of one process, from the slices one by one. */
static void check_at_once(const struct overlap *o, uint64_t process)
{
	uint64_t want[CPUS + 1] = {0};

	for (uint64_t at = sim.from; at < sim.to; at++) {
		unsigned int running = 0;

		for (size_t i = 0; i < sim.count; i++) {
			const struct slice *r = &sim.reported[i].slice;

			running += !sim.reported[i].edge.kind && r->state == STATE_RUNNING &&
				   r->end && r->time <= at && at < r->end &&
				   (!process || 1 + (r->value - 1) % PROCESSES == process);
		}
		want[running]++;
	}
	for (size_t k = 1; k <= CPUS; k++)
		ck_assert_uint_eq(k < o->done.count ? o->done.items[k] : 0, want[k]);
}

static void check_cpus(const struct sched *s)
{
	uint64_t busy = 0, running = 0;

	for (int cpu = 0; cpu < CPUS; cpu++) {
		const struct sched_cpu *c = s->cpus.items[cpu];

		ck_assert_uint_eq(c->busy, sim.busy[cpu]);
		ck_assert_uint_eq(c->idle, sim.idle[cpu]);
		ck_assert_uint_eq(c->unknown, 0);
		ck_assert_uint_eq(c->busy + c->idle, sim.to - sim.from);
		ck_assert_uint_eq(c->switches, sim.switches[cpu]);
		busy += c->busy;
	}
	for (size_t k = 1; k < s->at_once.done.count; k++)
		running += k * s->at_once.done.items[k];
	ck_assert_uint_eq(running, busy);
	ck_assert_uint_eq(s->times.running, busy);
}

static bool one_process(const void *context, const struct thread *t)
{
	return t->process == *(const uint64_t *)context;
}

/* Make a schedule and check it in a range: from and to are fractions of its length. */
static void check_range(unsigned int seed, double from, double to, bool at_once)
{
	struct sched_query q = {.from = 0};
	struct sched *s = NULL;
	struct error err = {""};
	uint64_t length;

	srandom(seed);
	simulate(START, UINT64_MAX);
	length = sim.end - START;
	q.from = (uint64_t)((double)length * from);
	q.to = to < 1 ? (uint64_t)((double)length * to) : 0;
	srandom(seed);
	simulate(START + q.from, q.to ? START + q.to : sim.end);
	ck_assert_msg(!sched_read(&s, sim_source(), &q, &err), "%s", err.text);
	ck_assert_uint_eq(s->disorder, 0);
	check_threads(s);
	check_cpus(s);
	if (at_once) {
		check_at_once(&s->at_once, 0);
		for (size_t i = 0; i < s->processes.count; i++)
			check_at_once(&s->processes.items[i].at_once, s->processes.items[i].id);
	}
	sched_free(s);
}

START_TEST(whole_recordings)
{
	for (unsigned int seed = 0; seed < 100; seed++)
		check_range(seed, 0, 1, seed < 3);
}
END_TEST

START_TEST(ranges)
{
	for (unsigned int seed = 0; seed < 100; seed++)
		check_range(seed, 0.2 * (seed % 4), 0.99 - 0.01 * (seed % 17), seed < 3);
}
END_TEST

/* With a selection, the waits are those of the selected process, and no others. */
START_TEST(waits_of_a_process)
{
	for (uint64_t process = 1; process <= PROCESSES; process++) {
		struct sched_query q = {.selected = one_process, .context = &process};
		struct sched *s = NULL;
		struct error err;

		srandom((unsigned int)process);
		simulate(START, UINT64_MAX);
		ck_assert_int_eq(sched_read(&s, sim_source(), &q, &err), 0);
		for (size_t i = 0; i < s->processes.count; i++) {
			const struct sched_process *p = &s->processes.items[i];
			uint64_t want = 0;

			for (size_t t = 0; t < THREADS; t++)
				if (1 + t % PROCESSES == process && p->id == process)
					want += sim.threads[t].counts.waits[QUEUED_WOKEN];
			ck_assert_uint_eq(p->waits[QUEUED_WOKEN].count, want);
		}
		sched_free(s);
	}
}
END_TEST

/* Return a number below usual, or an extreme one, as in a hostile trace. */
static uint64_t any(uint64_t usual)
{
	static const uint64_t odd[] = {
		0, 1, 2, 255, START, UINT32_MAX, 1ULL << 63, UINT64_MAX - 1, UINT64_MAX};

	return random() % 8 ? (uint64_t)random() % usual : odd[random() % 9];
}

static void hostile_build(struct scene *s, const void *unused)
{
	(void)unused;
	scene_host(s, .id = 1, .start = START, .end = START + 3000);
	for (int i = 0; i < 400; i++) {
		struct lane l = {any(12), 1, any(12), any(8), any(6), ""};
		struct thread t = {any(9),  any(4), any(9), START + any(3000), 0, "",
				   any(12), 0,	    ""};
		struct slice slice = {
			START + any(3000), START + any(3000), any(12), any(STATE_COUNT), any(9),
			any(STATE_COUNT),  any(WAIT_COUNT)};
		struct edge edge = {START + any(3000),	  0,	  any(12), any(12),
				    any(EDGE_KIND_COUNT), any(4), 0};

		if (i < 40 || random() % 50 == 0) {
			scene_put(s, KIND_THREAD, &t);
			scene_put(s, KIND_LANE, &l);
		}
		if (random() % 3)
			slice.end = slice.time + any(300);
		scene_put(s, KIND_SLICE, &slice);
		scene_put(s, KIND_EDGE, &edge);
	}
}

DEFINE_SCENE(hostile_source, hostile_build)

/* For any trace, no thread or CPU does more than the elapsed time allows. */
START_TEST(hostile_records)
{
	for (unsigned int seed = 0; seed < 500; seed++) {
		struct sched_query q = {.from = seed % 3 * 500, .to = seed % 5 * 600};
		struct sched *s = NULL;
		struct error err;
		uint64_t elapsed;

		srandom(seed);
		if (q.to && q.to < q.from)
			continue;
		ck_assert_int_eq(sched_read(&s, hostile_source(), &q, &err), 0);
		elapsed = s->to - s->from;
		ck_assert_uint_le(elapsed, 3000);
		for (size_t i = 0; i < s->cpus.count; i++) {
			const struct sched_cpu *c = s->cpus.items[i];

			ck_assert_uint_le(c->busy + c->idle + c->unknown, elapsed);
		}
		/* all threads without an id count as one */
		for (size_t i = 0; i < s->threads.count; i++)
			if (s->threads.items[i].id)
				ck_assert_uint_le(sched_life(&s->threads.items[i].times), elapsed);
		sched_free(s);
	}
}
END_TEST

SUITE("sched_random", whole_recordings, ranges, waits_of_a_process, hostile_records)
