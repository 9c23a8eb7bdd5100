/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small machine, simulated tick by tick: its true states, the records that a recorder would
 * store, and, lane by lane, the states that can be known from these records.
 */
#ifndef SKEIN_TESTS_SMALL_MACHINE_H
#define SKEIN_TESTS_SMALL_MACHINE_H

#include <stdlib.h>
#include <string.h>

#include "base/record.h"
#include "base/vector.h"
#include "suite.h"

#define TICKS 400
#define CPUS 3
#define THREADS 6
#define CPU(n) (1 + (uint64_t)(n))
#define LANE(n) (100 + (uint64_t)(n))
#define THREAD(n) (1000 + (uint64_t)(n))
#define TIMER 90 /* lane of an interrupt */
#define NOBODY (-1)

/* check.h writes to a pipe at every assertion, which is too slow for a million of them. */
#define HOLDS(condition) \
	do { \
		if (!(condition)) \
			ck_abort_msg("%s", #condition); \
	} while (0)

/* The state of one lane in one tick. state 0: the lane did not exist. */
struct cell {
	uint8_t state, wait;
	uint64_t who; /* RUNNING: CPU + 1, or the thread on a CPU lane; RUNNABLE: the waker */
	/* After an early wake-up: until the thread runs, this state is a correct result, too. */
	uint8_t asleep, asleep_wait;
};

struct record {
	enum record_kind kind;
	uint64_t order, tie;
	union {
		struct slice slice;
		struct edge edge;
	};
};

enum truth { UNBORN, RUNNING, RUNNABLE, PREEMPTED, BLOCKED, DEAD };

struct life_record {
	enum truth truth;
	int cpu;
	uint64_t start; /* begin of its slice */
	uint8_t state, wait; /* state and wait when BLOCKED */
	uint64_t died;
	/* What follows from the records: whether the thread is known, and its state. */
	bool heard, known;
	struct cell claim;
	bool early;
	uint64_t left;
	uint64_t spurious, spurious_by; /* last wake-up in its slice, and the waker */
};

struct gap {
	uint64_t time, end;
};

struct machine {
	struct life_record lives[THREADS];
	int runs[CPUS]; /* thread or NOBODY */
	uint64_t since[CPUS];
	struct gap gaps[CPUS]; /* end 0: no gap */
	bool one_gap, seen_at_start, resync;
	bool hasty; /* states are cut early: less is known */
	bool silent; /* gaps are found at their end: more is known */
	unsigned int seed;
	struct cell painted[THREADS][TICKS], cpus[CPUS][TICKS];
	VECTOR(struct record) records;
};

static unsigned int chance(unsigned int of)
{
	return (unsigned int)rand() % of;
}

static bool in_gap(const struct machine *m, int cpu, uint64_t time)
{
	return time >= m->gaps[cpu].time && time < m->gaps[cpu].end;
}

static bool any_gap(const struct machine *m, uint64_t time)
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		if (in_gap(m, cpu, time))
			return true;
	return false;
}

/* Return whether the records will have the thread's slice, with this tick in it. */
static bool runs_recorded(const struct machine *m, const struct life_record *l, uint64_t time)
{
	return l->truth == RUNNING && !in_gap(m, l->cpu, time);
}

static void add_slice(struct machine *m, const struct slice *s)
{
	const struct record r = {
		.kind = KIND_SLICE,
		.order = slice_order(s),
		.tie = (s->lane * 7919 + slice_order(s) * 31) % 61,
		.slice = *s,
	};

	HOLDS(vector_push(&m->records, r) == 0);
}

static void add_edge(struct machine *m, enum edge_kind kind, uint64_t from, int to, uint64_t time)
{
	const struct record r = {
		.kind = KIND_EDGE,
		.order = time,
		.tie = 100,
		.edge =
			{
				.time = time,
				.end = time,
				.from = from,
				.to = LANE(to),
				.kind = kind,
				.value = from % 5,
			},
	};

	HOLDS(vector_push(&m->records, r) == 0);
}

/* Store a slice except the part in the gap of its CPU. */
static void record_slice(struct machine *m, int cpu, struct slice s)
{
	const struct gap *g = &m->gaps[cpu];
	struct slice part = s;

	s.lane = part.lane = CPU(cpu);
	if (s.end <= g->time || s.time >= g->end || !g->end) {
		if (s.time < s.end)
			add_slice(m, &s);
		return;
	}
	if (s.time < g->time) {
		part.end = g->time;
		part.left = part.wait = 0;
		add_slice(m, &part);
	}
	if (s.time <= g->time) {
		part = (struct slice){.time = g->time, .end = g->end, .lane = CPU(cpu)};
		part.state = STATE_UNKNOWN;
		add_slice(m, &part);
	}
	if (s.end > g->end) {
		s.time = g->end;
		add_slice(m, &s);
	}
}

static bool leaving_recorded(const struct machine *m, int cpu, uint64_t time)
{
	const struct gap *g = &m->gaps[cpu];

	return !g->end || time <= g->time || time > g->end;
}

/* Return a random CPU, or NOBODY if its records of that time are lost. */
static int recording_cpu(const struct machine *m, uint64_t time)
{
	int cpu = (int)chance(CPUS);

	return in_gap(m, cpu, time) ? NOBODY : cpu;
}

static void block(struct life_record *l)
{
	static const uint8_t states[] = {STATE_SLEEPING, STATE_DISK, STATE_STOPPED,
					 STATE_THROTTLED};

	l->state = states[chance(4)];
	l->wait = 1 + chance(WAIT_COUNT - 1);
}

/* Let a timer wake a thread that is about to sleep. */
static bool wake_early(struct machine *m, struct life_record *l, int thread, uint64_t now)
{
	const struct gap *g = &m->gaps[l->cpu];
	uint64_t time = l->start; /* begin of the recorded part of its slice */

	if (time < g->end && now > g->time)
		time = g->end;
	if (now < time + 2 || chance(3))
		return false;
	time += 1 + chance((unsigned int)(now - time - 1));
	if (recording_cpu(m, time) == NOBODY)
		return false;
	add_edge(m, EDGE_WAKEUP, TIMER, thread, time);
	if (l->spurious <= time) {
		l->spurious = time;
		l->spurious_by = TIMER;
	}
	return true;
}

/* Set what a reader of the slice knows after it. */
static void leave_claim(struct machine *m, struct life_record *l, const struct slice *s,
			uint64_t now)
{
	l->known = !any_gap(m, now) && leaving_recorded(m, l->cpu, now) && s->left;
	l->claim = (struct cell){.state = (uint8_t)s->left, .wait = (uint8_t)s->wait};
	if (!l->early)
		return;
	l->left = now;
	l->claim = (struct cell){
		.state = STATE_RUNNABLE,
		.who = l->spurious_by,
		.asleep = (uint8_t)s->left,
		.asleep_wait = (uint8_t)s->wait,
	};
}

static void leave(struct machine *m, int cpu, uint64_t now, bool over)
{
	int thread = m->runs[cpu];
	struct life_record *l = &m->lives[thread];
	struct slice s = {.time = l->start, .end = now, .state = STATE_RUNNING};

	s.value = THREAD(thread);
	l->early = false;
	if (over) {
		record_slice(m, cpu, s);
		return;
	}
	switch (chance(8)) {
	case 0:
		l->truth = RUNNABLE;
		s.left = STATE_RUNNABLE;
		break;
	case 1:
	case 2:
		l->truth = PREEMPTED;
		s.left = STATE_PREEMPTED;
		break;
	case 3:
		if (!chance(4)) {
			l->truth = DEAD;
			l->died = now;
			s.left = STATE_DEAD;
			break;
		}
		/* fallthrough */
	default:
		block(l);
		s.left = l->state;
		s.wait = l->wait;
		l->early = wake_early(m, l, thread, now);
		l->truth = l->early ? RUNNABLE : BLOCKED;
	}
	record_slice(m, cpu, s);
	leave_claim(m, l, &s, now);
	m->runs[cpu] = NOBODY;
	m->since[cpu] = now;
}

/* Set the thread asleep since its early wake-up: a later wake-up may be lost. */
static void paint_asleep(struct machine *m, int thread, uint64_t now)
{
	struct life_record *l = &m->lives[thread];

	for (uint64_t i = l->left; l->early && l->known && i < now; i++) {
		struct cell *c = &m->painted[thread][i];

		*c = (struct cell){.state = c->asleep, .wait = c->asleep_wait};
	}
	l->early = false;
}

static void be_unsure(struct machine *m, uint64_t now)
{
	for (int i = 0; any_gap(m, now) && i < THREADS; i++) {
		struct life_record *l = &m->lives[i];

		if (runs_recorded(m, l, now))
			continue;
		paint_asleep(m, i, now);
		l->known = false;
	}
}

static uint8_t state_of(const struct life_record *l)
{
	static const uint8_t states[] = {
		[RUNNING] = STATE_RUNNING,
		[RUNNABLE] = STATE_RUNNABLE,
		[PREEMPTED] = STATE_PREEMPTED,
		[DEAD] = STATE_DEAD,
	};

	return l->truth == BLOCKED ? l->state : states[l->truth];
}

/* Put the state of every thread, as a recorder does at its begin and after a loss. */
static void look(struct machine *m, uint64_t now)
{
	for (int i = 0; i < THREADS; i++) {
		struct life_record *l = &m->lives[i];
		struct slice s = {.time = now, .lane = LANE(i), .state = state_of(l)};

		if (l->truth == UNBORN || l->truth == DEAD)
			continue;
		s.wait = l->truth == BLOCKED ? l->wait : 0;
		add_slice(m, &s);
		if (!l->known && !any_gap(m, now))
			l->claim =
				(struct cell){.state = (uint8_t)s.state, .wait = (uint8_t)s.wait};
		l->known = l->known || !any_gap(m, now);
		l->heard = true;
	}
}

static void hear_waking(struct machine *m, struct life_record *l, uint64_t from, uint64_t now)
{
	bool can_run =
		l->known && (l->claim.state == STATE_RUNNABLE || l->claim.state == STATE_PREEMPTED);

	l->heard = true;
	if (can_run || any_gap(m, now))
		return;
	l->known = true;
	l->claim = (struct cell){.state = STATE_RUNNABLE, .who = from};
}

static void wake(struct machine *m, int thread, uint64_t now)
{
	struct life_record *l = &m->lives[thread];
	int cpu = (int)chance(CPUS);
	uint64_t from = m->runs[cpu] == NOBODY ? TIMER : LANE(m->runs[cpu]);
	bool recorded = !in_gap(m, cpu, now);

	if (l->truth == UNBORN || l->truth == BLOCKED) {
		if (recorded) {
			add_edge(m, l->truth == UNBORN ? EDGE_FORK : EDGE_WAKEUP, from, thread,
				 now);
			hear_waking(m, l, from, now);
		}
		l->truth = RUNNABLE;
	} else if (l->truth == RUNNING && l->start < now && recorded) {
		add_edge(m, EDGE_WAKEUP, from, thread, now);
		l->spurious = now;
		l->spurious_by = from;
		if (!runs_recorded(m, l, now))
			hear_waking(m, l, from, now);
		l->heard = true;
	} else if ((l->truth == RUNNABLE || l->truth == PREEMPTED) && !l->early && recorded) {
		add_edge(m, EDGE_WAKEUP, from, thread, now);
		hear_waking(m, l, from, now);
	}
}

static void dispatch(struct machine *m, int cpu, uint64_t now)
{
	int thread = (int)chance(THREADS);
	struct life_record *l = &m->lives[thread];
	const struct slice idle = {.time = m->since[cpu], .end = now, .state = STATE_IDLE};

	if (m->runs[cpu] != NOBODY || !chance(4) || (l->truth != RUNNABLE && l->truth != PREEMPTED))
		return;
	record_slice(m, cpu, idle);
	m->runs[cpu] = thread;
	m->since[cpu] = now;
	l->truth = RUNNING;
	l->cpu = cpu;
	l->start = now;
	l->spurious = 0;
}

static void paint(struct machine *m, uint64_t now)
{
	for (int i = 0; i < THREADS; i++) {
		struct life_record *l = &m->lives[i];
		struct cell *c = &m->painted[i][now];

		if (runs_recorded(m, l, now)) {
			*c = (struct cell){.state = STATE_RUNNING, .who = CPU(l->cpu)};
			l->heard = true;
			l->early = l->known = false;
		} else if (l->truth == DEAD || !l->heard) {
			continue;
		} else if (l->known) {
			*c = l->claim;
		} else {
			c->state = STATE_UNKNOWN;
		}
	}
	for (int cpu = 0; cpu < CPUS; cpu++) {
		struct cell *c = &m->cpus[cpu][now];

		c->state = m->runs[cpu] == NOBODY ? STATE_IDLE : STATE_RUNNING;
		c->who = m->runs[cpu] == NOBODY ? 0 : THREAD(m->runs[cpu]);
		if (in_gap(m, cpu, now))
			*c = (struct cell){.state = STATE_UNKNOWN};
	}
}

static void tick(struct machine *m, uint64_t now)
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		if (m->runs[cpu] != NOBODY && m->since[cpu] < now && !chance(12))
			leave(m, cpu, now, false);
	be_unsure(m, now);
	if (m->seen_at_start && now == 2)
		look(m, now);
	for (int cpu = 0; m->resync && cpu < CPUS; cpu++)
		if (m->gaps[cpu].end && now == m->gaps[cpu].end + 1)
			look(m, now);
	for (int i = 0; i < THREADS; i++)
		if (!chance(m->lives[i].truth == UNBORN ? 60 : 15))
			wake(m, i, now);
	for (int cpu = 0; cpu < CPUS; cpu++)
		dispatch(m, cpu, now);
	paint(m, now);
}

static int by_order(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	if (x->tie != y->tie)
		return x->tie < y->tie ? -1 : 1;
	return (x->kind == KIND_SLICE && x->slice.lane == y->slice.lane)
		       ? (x->slice.time > y->slice.time) - (x->slice.time < y->slice.time)
		       : 0;
}

static void begin(struct machine *m, unsigned int seed)
{
	memset(m, 0, sizeof(*m));
	m->seed = seed;
	srand(seed);
	m->one_gap = chance(2);
	m->resync = chance(2);
	m->seen_at_start = chance(2);
	for (int cpu = 0; cpu < CPUS; cpu++) {
		m->runs[cpu] = NOBODY;
		m->since[cpu] = 1;
		if (chance(3) || (m->one_gap && cpu))
			continue;
		m->gaps[cpu].time = 20 + chance(TICKS / 2);
		m->gaps[cpu].end = m->gaps[cpu].time + 1 + chance(80);
	}
	for (int i = 0; i < THREADS; i++) {
		static const enum truth first[] = {UNBORN, BLOCKED, RUNNABLE};

		m->lives[i].truth = first[chance(3)];
		block(&m->lives[i]);
	}
}

static void simulate(struct machine *m, unsigned int seed)
{
	begin(m, seed);
	for (uint64_t now = 1; now < TICKS; now++)
		tick(m, now);
	for (int cpu = 0; cpu < CPUS; cpu++) {
		const struct slice idle = {
			.time = m->since[cpu], .end = TICKS, .state = STATE_IDLE};

		if (m->runs[cpu] != NOBODY)
			leave(m, cpu, TICKS, true);
		else
			record_slice(m, cpu, idle);
	}
	for (int i = 0; i < THREADS; i++)
		if (m->lives[i].truth != RUNNING)
			paint_asleep(m, i, TICKS);
	qsort(m->records.items, m->records.count, sizeof(struct record), by_order);
}

#endif
