/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated machine whose scheduler puts its records into a sink, in order: threads that run and
 * sleep in their own rhythm, in busy and in quiet times, on CPUs with run queues. Deterministic,
 * and of any length. Options add losses, early wake-ups, and threads that are born and die.
 */
#ifndef SKEIN_TESTS_MACHINE_H
#define SKEIN_TESTS_MACHINE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "scene.h"

#define MACHINE_START 5000000000000ULL /* ns */
#define MACHINE_QUANTUM 4000000ULL /* ns that a thread may run while others wait */
#define MACHINE_BURST 500 /* sleeps between two rests, on average */

struct machine_options {
	unsigned int cpus, threads;
	uint64_t seed;
	/* Per million switches: */
	unsigned int losses, early, deaths;
	bool ends; /* put the end of a thread when it dies */
	unsigned int actors; /* lanes whose states are their own slices */
};

struct machine_thread {
	uint64_t run, sleep, rest; /* ns on average; a rest follows a burst of sleeps */
	uint64_t wake, since, ends; /* ns: wake-up; begin and end of its slice */
	uint64_t left; /* ns left to run */
	uint64_t born; /* ns */
	uint64_t id, lane;
	unsigned int cpu, wait, state;
	unsigned int next; /* next in the run queue: index + 1 */
	bool dying;
};

struct machine_cpu {
	uint64_t since, until; /* ns: begin and end of the current slice */
	unsigned int running; /* thread index + 1; 0: idle */
	unsigned int head, tail; /* run queue: thread index + 1 */
	uint64_t lost; /* ns: end of the time whose records are lost */
};

struct machine_actor {
	uint64_t lane, end; /* end of the last slice, ns */
};

/* A scheduled event: a CPU's slice ends, or a thread wakes. */
struct machine_event {
	uint64_t time;
	unsigned int what; /* CPU, or number of CPUs + thread */
};

struct machine {
	struct machine_options options;
	struct scene scene;
	uint64_t random, now, phase_end, last_id;
	unsigned int pace; /* current factor of all sleeps, in eighths */
	uint64_t slices, edges;
	struct machine_thread *threads;
	struct machine_cpu *cpus;
	struct machine_actor *actors;
	VECTOR(struct machine_event) heap;
};

static inline uint64_t machine_random(struct machine *m)
{
	m->random ^= m->random >> 12;
	m->random ^= m->random << 25;
	m->random ^= m->random >> 27;
	return m->random * 2685821657736338717ULL;
}

static inline bool machine_chance(struct machine *m, unsigned int per_million)
{
	return per_million && machine_random(m) % 1000000 < per_million;
}

/* Return a random duration, mostly from half the mean to twice the mean; a multiple of 16 ns. */
static inline uint64_t machine_about(struct machine *m, uint64_t mean)
{
	uint64_t r = machine_random(m);

	return (mean * (r % 1024 + 256) / 1024 << (r >> 20) % 3) / 2 / 16 * 16 + 16;
}

/* Return a random number from 1 << from to 1 << to, evenly spread over the powers of two. */
static inline uint64_t machine_spread(struct machine *m, unsigned int from, unsigned int to)
{
	unsigned int shift = from + (unsigned int)(machine_random(m) >> 8) % (to - from);

	return (1ULL << shift) + machine_random(m) % (1ULL << shift);
}

static inline bool machine_before(const struct machine_event *a, const struct machine_event *b)
{
	return a->time < b->time || (a->time == b->time && a->what < b->what);
}

static inline void machine_plan(struct machine *m, uint64_t time, unsigned int what)
{
	struct machine_event e = {time, what};
	size_t at = m->heap.count, parent;

	if (vector_push(&m->heap, e) < 0)
		abort();
	for (; at && machine_before(&e, &m->heap.items[parent = (at - 1) / 2]); at = parent)
		m->heap.items[at] = m->heap.items[parent];
	m->heap.items[at] = e;
}

static inline struct machine_event machine_next(struct machine *m)
{
	struct machine_event first = m->heap.items[0], e = m->heap.items[--m->heap.count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < m->heap.count) {
		if (child + 1 < m->heap.count &&
		    machine_before(&m->heap.items[child + 1], &m->heap.items[child]))
			child++;
		if (!machine_before(&m->heap.items[child], &e))
			break;
		m->heap.items[at] = m->heap.items[child];
		at = child;
	}
	if (m->heap.count)
		m->heap.items[at] = e;
	return first;
}

/* Order of the lanes: the CPUs, a timer interrupt for each, then the threads. */
static inline uint64_t machine_cpu_lane(unsigned int cpu)
{
	return 1 + cpu;
}

static inline uint64_t machine_timer_lane(const struct machine *m, unsigned int cpu)
{
	return 1 + m->options.cpus + cpu;
}

static inline void machine_edge(struct machine *m, enum edge_kind kind, uint64_t time,
				uint64_t from, const struct machine_thread *t)
{
	scene_edge(&m->scene, time, time, from, t->lane, kind, t->cpu + 1, 0);
	m->edges++;
}

static inline void machine_put_slice(struct machine *m, const struct slice *s)
{
	scene_put(&m->scene, KIND_SLICE, s);
	m->slices++;
}

/* End the CPU's slice now; left and wait apply if a thread ran. */
static inline void machine_slice(struct machine *m, unsigned int cpu, unsigned int left,
				 unsigned int wait)
{
	struct machine_cpu *c = &m->cpus[cpu];
	struct slice s = {.time = c->since,
			  .end = m->now,
			  .lane = machine_cpu_lane(cpu),
			  .state = STATE_IDLE};

	if (c->running) {
		s.state = STATE_RUNNING;
		s.value = m->threads[c->running - 1].id;
		s.left = left;
		s.wait = wait;
	}
	if (s.time < c->lost)
		s.time = c->lost;
	if (s.time < s.end)
		machine_put_slice(m, &s);
	c->since = m->now;
}

static inline void machine_put_thread(struct machine *m, const struct machine_thread *t,
				      uint64_t end)
{
	scene_thread(&m->scene, t->id, 1, t->id, t->born, end, "worker", t->lane, 0, "");
}

static inline void machine_new_thread(struct machine *m, unsigned int at)
{
	static const unsigned int waits[] = {WAIT_LOCK, WAIT_IO, WAIT_SLEEP, WAIT_POLL, WAIT_PIPE};
	struct machine_thread *t = &m->threads[at];

	*t = (struct machine_thread){
		.run = machine_spread(m, 12, 20),
		.sleep = machine_spread(m, 17, 24),
		.rest = machine_spread(m, 32, 38),
		.id = ++m->last_id,
		.lane = 2 * m->options.cpus + m->last_id,
		.cpu = (unsigned int)(machine_random(m) >> 16) % m->options.cpus,
		.wait = waits[(machine_random(m) >> 16) % 5],
		.born = m->now,
	};
	t->state = t->wait == WAIT_IO ? STATE_DISK : STATE_SLEEPING;
	machine_put_thread(m, t, 0);
	scene_lane(&m->scene, .id = t->lane, .host = 1, .kind = LANE_THREAD, .number = t->id);
}

/* end: ns; 0 while the machine runs. */
static inline void machine_put_host(struct machine *m, uint64_t end)
{
	scene_host(&m->scene, .id = 1, .hostname = "made up", .cpus = m->options.cpus,
		   .start = MACHINE_START, .end = end);
}

static inline void machine_entities(struct machine *m)
{
	machine_put_host(m, 0);
	scene_process(&m->scene, .id = 1, .host = 1, .pid = 1, .comm = "worker");
	for (unsigned int i = 0; i < m->options.cpus; i++)
		scene_lane(&m->scene, .id = machine_cpu_lane(i), .host = 1, .kind = LANE_CPU,
			   .number = i);
	for (unsigned int i = 0; i < m->options.cpus; i++)
		scene_lane(&m->scene, .id = machine_timer_lane(m, i), .host = 1,
			   .kind = LANE_INTERRUPT, .number = INTERRUPT_TIMER,
			   .parent = machine_cpu_lane(i));
	for (unsigned int i = 0; i < m->options.actors; i++) {
		m->actors[i] = (struct machine_actor){2 * m->options.cpus + ++m->last_id, m->now};
		scene_lane(&m->scene, .id = m->actors[i].lane, .host = 1, .kind = LANE_ACTOR,
			   .number = i);
	}
	for (unsigned int i = 0; i < m->options.threads; i++)
		machine_new_thread(m, i);
}

/* Initialize the machine and put its entities. 0, or a negative errno of the sink. */
static inline int machine_begin(struct machine *m, const struct machine_options *options,
				struct sink *sink, struct error *err)
{
	*m = (struct machine){.options = *options,
			      .scene = {sink, err, 0},
			      .pace = 8,
			      .random = options->seed * 2 + 88172645463325253ULL,
			      .now = MACHINE_START};
	m->threads = calloc(options->threads, sizeof(*m->threads));
	m->cpus = calloc(options->cpus, sizeof(*m->cpus));
	m->actors = calloc(options->actors + 1, sizeof(*m->actors));
	if (!m->threads || !m->cpus || !m->actors)
		abort();
	machine_entities(m);
	for (unsigned int i = 0; i < options->threads; i++) {
		const struct machine_thread *t = &m->threads[i];
		const struct slice seen = {
			.time = m->now, .lane = t->lane, .state = t->state, .wait = t->wait};

		machine_put_slice(m, &seen);
		machine_plan(m, m->now + machine_about(m, t->rest / 2), options->cpus + i);
	}
	for (unsigned int i = 0; i < options->cpus; i++)
		m->cpus[i] = (struct machine_cpu){.since = m->now, .until = UINT64_MAX};
	return m->scene.ret;
}

/* Let the CPU run the first thread of its run queue, or idle. */
static inline void machine_choose(struct machine *m, unsigned int cpu)
{
	struct machine_cpu *c = &m->cpus[cpu];
	struct machine_thread *t;

	c->running = c->head;
	c->until = UINT64_MAX;
	if (!c->running)
		return;
	t = &m->threads[c->running - 1];
	c->head = t->next;
	if (!c->head)
		c->tail = 0;
	t->next = 0;
	t->cpu = cpu;
	if (!t->left)
		t->left = machine_about(m, t->run);
	c->until = m->now + (t->left < MACHINE_QUANTUM ? t->left : MACHINE_QUANTUM);
	machine_plan(m, c->until, cpu);
}

static inline void machine_queue(struct machine *m, unsigned int cpu, unsigned int thread)
{
	struct machine_cpu *c = &m->cpus[cpu];

	if (c->tail)
		m->threads[c->tail - 1].next = thread + 1;
	else
		c->head = thread + 1;
	c->tail = thread + 1;
}

/* Return the lane of the waker: a running thread, or the timer. */
static inline uint64_t machine_waker(struct machine *m, unsigned int cpu)
{
	unsigned int other = (unsigned int)(machine_random(m) >> 16) % m->options.cpus;

	return m->cpus[other].running ? m->threads[m->cpus[other].running - 1].lane
				      : machine_timer_lane(m, cpu);
}

static inline void machine_wake(struct machine *m, unsigned int thread)
{
	struct machine_thread *t = &m->threads[thread];

	if (machine_random(m) >> 61 == 0)
		t->cpu = (unsigned int)(machine_random(m) >> 16) % m->options.cpus;
	machine_edge(m, EDGE_WAKEUP, m->now, machine_waker(m, t->cpu), t);
	machine_queue(m, t->cpu, thread);
	if (!m->cpus[t->cpu].running && m->cpus[t->cpu].until == UINT64_MAX) {
		m->cpus[t->cpu].until = m->now + 16 * (1 + machine_random(m) % 256);
		machine_plan(m, m->cpus[t->cpu].until, t->cpu);
	}
}

/* Lose the records of a CPU for some time; the loss is put when it begins. */
static inline void machine_lose(struct machine *m, unsigned int cpu)
{
	struct slice s = {.time = m->now, .lane = machine_cpu_lane(cpu), .state = STATE_UNKNOWN};

	s.end = m->now + machine_spread(m, 12, 24) / 16 * 16;
	m->cpus[cpu].lost = s.end;
	machine_put_slice(m, &s);
}

/* Wake a thread that is about to sleep: it runs again at once, or the wake-up has no effect. */
static inline void machine_wake_early(struct machine *m, unsigned int cpu, unsigned int thread)
{
	struct machine_thread *t = &m->threads[thread];

	machine_edge(m, EDGE_WAKEUP, m->now, machine_timer_lane(m, cpu), t);
	m->now += 16;
	machine_slice(m, cpu, t->state, t->wait);
	if (machine_random(m) >> 63)
		machine_queue(m, cpu, thread);
	else
		machine_plan(m, m->now + machine_about(m, t->sleep), m->options.cpus + thread);
}

/* Return the length of a sleep, which is mostly short. */
static inline uint64_t machine_pause(struct machine *m, const struct machine_thread *t)
{
	bool rests = machine_random(m) >> 32 < (1ULL << 32) / MACHINE_BURST;

	return machine_about(m, rests ? t->rest : t->sleep) * m->pace / 8;
}

static inline void machine_sleep(struct machine *m, unsigned int cpu)
{
	unsigned int thread = m->cpus[cpu].running - 1;
	struct machine_thread *t = &m->threads[thread];
	bool dies = machine_chance(m, m->options.deaths);

	if (machine_chance(m, m->options.early)) {
		machine_wake_early(m, cpu, thread);
		return;
	}
	machine_slice(m, cpu, dies ? STATE_DEAD : t->state, dies ? 0 : t->wait);
	if (!dies) {
		machine_plan(m, m->now + machine_pause(m, t), m->options.cpus + thread);
		return;
	}
	if (m->options.ends)
		machine_put_thread(m, t, m->now);
	machine_new_thread(m, thread);
	machine_edge(m, EDGE_FORK, m->now, machine_timer_lane(m, cpu), &m->threads[thread]);
	machine_queue(m, m->threads[thread].cpu, thread);
	t = &m->threads[thread];
	if (!m->cpus[t->cpu].running && m->cpus[t->cpu].until == UINT64_MAX && t->cpu != cpu) {
		m->cpus[t->cpu].until = m->now + 160;
		machine_plan(m, m->cpus[t->cpu].until, t->cpu);
	}
}

static inline void machine_switch(struct machine *m, unsigned int cpu)
{
	struct machine_cpu *c = &m->cpus[cpu];
	struct machine_thread *t;

	if (!c->running) {
		machine_slice(m, cpu, 0, 0);
	} else {
		t = &m->threads[c->running - 1];
		t->left -= m->now - c->since < t->left ? m->now - c->since : t->left;
		if (t->left) {
			machine_queue(m, cpu, c->running - 1);
			machine_slice(m, cpu, STATE_PREEMPTED, 0);
		} else {
			machine_sleep(m, cpu);
		}
	}
	if (m->now >= c->lost && machine_chance(m, m->options.losses))
		machine_lose(m, cpu);
	machine_choose(m, cpu);
}

static inline void machine_change_pace(struct machine *m)
{
	static const unsigned int paces[] = {8, 8, 4, 16, 80, 400};

	m->pace = paces[(machine_random(m) >> 16) % 6];
	m->phase_end = m->now + machine_spread(m, 27, 32);
}

/* End the slice of a random actor: it ran on a thread, waited, or nothing is known of the time. */
static inline void machine_act(struct machine *m)
{
	struct machine_actor *a = &m->actors[(machine_random(m) >> 16) % m->options.actors];
	const struct machine_thread *t =
		&m->threads[(machine_random(m) >> 16) % m->options.threads];
	struct slice s = {.time = a->end, .end = m->now, .lane = a->lane, .state = STATE_SLEEPING};
	unsigned int what = machine_random(m) >> 62;

	if (m->now == a->end)
		return;
	a->end = m->now;
	if (what == 0)
		return;
	if (what == 1) {
		s.wait = WAIT_POLL;
	} else {
		s.state = STATE_RUNNING;
		s.value = t->id;
		if (s.time + t->run < s.end)
			s.time = s.end - t->run;
	}
	machine_put_slice(m, &s);
}

/* Run one more event: a switch or a wake-up. 0, or a negative errno of the sink. */
static inline int machine_step(struct machine *m)
{
	struct machine_event e = machine_next(m);

	m->now = e.time > m->now ? e.time : m->now + 16;
	if (m->now > m->phase_end)
		machine_change_pace(m);
	if (e.what < m->options.cpus)
		machine_switch(m, e.what);
	else
		machine_wake(m, e.what - m->options.cpus);
	if (m->options.actors)
		machine_act(m);
	return m->scene.ret;
}

/* End the recording, and the current slices with it, as a recorder does. */
static inline int machine_end(struct machine *m)
{
	for (unsigned int i = 0; i < m->options.cpus; i++)
		if (m->now < m->cpus[i].lost)
			m->now = m->cpus[i].lost;
	m->now += 16;
	for (unsigned int i = 0; i < m->options.cpus; i++)
		if (m->cpus[i].since < m->now)
			machine_slice(m, i, 0, 0);
	machine_put_host(m, m->now);
	return m->scene.ret;
}

static inline void machine_free(struct machine *m)
{
	free(m->threads);
	free(m->cpus);
	free(m->actors);
	vector_free(&m->heap);
}

#endif
