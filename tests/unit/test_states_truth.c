// SPDX-License-Identifier: Apache-2.0
/*
 * States compared with a simulation: the records of a simulated machine must give the states that
 * the machine was in.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/states.h"
#include "base/vector.h"
#include "small_machine.h"
#include "suite.h"

struct given {
	VECTOR(struct stretch) list;
};

static int note(void *context, const struct stretch *s, struct error *err)
{
	struct given *given = context;

	(void)err;
	HOLDS(s->time < s->end);
	return vector_push(&given->list, *s);
}

static void put(struct states *s, enum record_kind kind, const void *record)
{
	HOLDS(states_put(s, kind, record, NULL) == 0);
}

static struct states *new_states(const struct machine *m, struct given *given)
{
	const struct states_events events = {.stretch = note, .context = given};
	struct states *s;

	ck_assert_int_eq(states_new(&s, &events, NULL), 0);
	for (uint64_t i = 0; i < CPUS; i++)
		put(s, KIND_LANE, &(struct lane){.id = CPU(i), .kind = LANE_CPU, .number = i});
	for (uint64_t i = 0; i < THREADS; i++) {
		const struct thread t = {
			.id = THREAD(i), .lane = LANE(i), .end = m ? m->lives[i].died : 0};
		const struct lane l = {.id = LANE(i), .kind = LANE_THREAD, .number = t.id};

		put(s, KIND_THREAD, &t);
		put(s, KIND_LANE, &l);
	}
	return s;
}

static void put_records(struct states *s, const struct machine *m, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		put(s, m->records.items[i].kind, &m->records.items[i].slice);
}

static struct cell cell_of(const struct stretch *s)
{
	struct cell c = {.state = s->state, .wait = s->wait};

	if (s->state == STATE_RUNNABLE)
		c.who = s->waker;
	else if (s->state == STATE_RUNNING)
		c.who = s->lane < LANE(0) ? s->thread : s->cpu;
	return c;
}

/* Check a cell. Several gaps may make more cells UNKNOWN than necessary, but none wrong. */
static bool fits(const struct machine *m, const struct cell *c, const struct cell *painted,
		 bool cut)
{
	if (c->state == painted->state && c->wait == painted->wait && c->who == painted->who)
		return true;
	if (cut && painted->asleep && c->state == painted->asleep &&
	    c->wait == painted->asleep_wait)
		return true;
	if (m->silent) /* states other than running may have been output before the hole is found */
		return painted->state != STATE_RUNNING && (c->state != STATE_RUNNING || !c->who);
	if (c->state == STATE_UNKNOWN && painted->state)
		return m->hasty || !m->one_gap;
	return m->hasty && (!c->state || (c->state == painted->state && !c->who));
}

/* Draw the stretches of one lane as cells; the stretches must not overlap or leave holes. */
static void draw(const struct given *given, uint64_t lane, struct cell *cells)
{
	uint64_t at = 0;

	memset(cells, 0, TICKS * sizeof(*cells));
	for (size_t i = 0; i < given->list.count; i++) {
		const struct stretch *s = &given->list.items[i];

		if (s->lane != lane)
			continue;
		HOLDS(!at || s->time == at);
		HOLDS(s->end <= TICKS);
		for (at = s->time; at < s->end; at++)
			cells[at] = cell_of(s);
		if (s->state == STATE_RUNNABLE)
			HOLDS(s->target == s->waker % 5);
	}
}

static void check_lane(const struct machine *m, const struct given *given, uint64_t lane,
		       const struct cell *painted, bool cut)
{
	struct cell cells[TICKS];

	draw(given, lane, cells);
	for (int at = 0; at < TICKS; at++)
		if (!fits(m, &cells[at], &painted[at], cut))
			ck_abort_msg("seed %u, lane %d at %d: given %s/%d/%d, was %s/%d/%d",
				     m->seed, (int)lane, at, slice_state_word(cells[at].state),
				     cells[at].wait, (int)cells[at].who,
				     slice_state_word(painted[at].state), painted[at].wait,
				     (int)painted[at].who);
}

static void check(const struct machine *m, const struct given *given, bool cut)
{
	for (int i = 0; i < CPUS; i++)
		check_lane(m, given, CPU(i), m->cpus[i], cut);
	for (int i = 0; i < THREADS; i++)
		check_lane(m, given, LANE(i), m->painted[i], cut);
}

static void end_all(struct states *s)
{
	ck_assert_int_eq(states_end(s, TICKS, NULL), 0);
	ck_assert_uint_eq(states_disorder(s), 0);
	states_free(s);
}

START_TEST(what_is_told_is_the_truth)
{
	static struct machine m;

	for (unsigned int seed = 1; seed <= 3000; seed++) {
		struct given given = {0};
		struct states *s;

		simulate(&m, seed);
		s = new_states(&m, &given);
		put_records(s, &m, 0, m.records.count);
		end_all(s);
		check(&m, &given, false);
		vector_free(&given.list);
		vector_free(&m.records);
	}
}
END_TEST

/* Check that all lanes that existed before time have stretches up to it. */
static void check_told_until(const struct machine *m, const struct given *given, uint64_t time)
{
	struct cell cells[TICKS];

	for (int i = 0; time && i < THREADS; i++) {
		draw(given, LANE(i), cells);
		if (m->painted[i][time - 1].state && !cells[time - 1].state)
			ck_abort_msg("seed %u, lane %d is not reported at %d", m->seed,
				     (int)LANE(i), (int)time - 1);
	}
}

START_TEST(cuts_change_nothing)
{
	static struct machine m;

	for (unsigned int seed = 1; seed <= 1000; seed++) {
		struct given given = {0};
		struct states *s;

		simulate(&m, seed);
		s = new_states(&m, &given);
		for (size_t i = 0; i < m.records.count; i++) {
			uint64_t settled = states_settled(s);

			put_records(s, &m, i, i + 1);
			if (chance(20) || !settled)
				continue;
			settled -= chance(3);
			HOLDS(states_cut(s, settled, NULL) == 0);
			check_told_until(&m, &given, settled);
		}
		end_all(s);
		check(&m, &given, true);
		vector_free(&given.list);
		vector_free(&m.records);
	}
}
END_TEST

/* A cut beyond the settled time loses information, but no running thread is shown as waiting. */
START_TEST(hasty_cuts_tell_nothing_wrong)
{
	static struct machine m;

	for (unsigned int seed = 1; seed <= 1000; seed++) {
		struct given given = {0};
		struct states *s;

		simulate(&m, seed);
		m.hasty = true;
		s = new_states(&m, &given);
		for (size_t i = 0; i < m.records.count; i++) {
			put_records(s, &m, i, i + 1);
			if (!chance(20))
				HOLDS(states_cut(s, m.records.items[i].order, NULL) == 0);
		}
		end_all(s);
		check(&m, &given, true);
		vector_free(&given.list);
		vector_free(&m.records);
	}
}
END_TEST

/* Damage removes slices, without a record of the loss. */
START_TEST(holes_are_as_gaps)
{
	static struct machine m;

	for (unsigned int seed = 1; seed <= 2000; seed++) {
		struct given given = {0};
		struct states *s;

		simulate(&m, seed);
		m.silent = true;
		s = new_states(&m, &given);
		for (size_t i = 0; i < m.records.count; i++)
			if (m.records.items[i].kind != KIND_SLICE ||
			    m.records.items[i].slice.lane > CPUS ||
			    m.records.items[i].slice.state != STATE_UNKNOWN)
				put_records(s, &m, i, i + 1);
		end_all(s);
		check(&m, &given, false);
		vector_free(&given.list);
		vector_free(&m.records);
	}
}
END_TEST

static int keep(void *context, const struct stretch *s)
{
	struct given *snapshot = context;

	return vector_push(&snapshot->list, *s);
}

static int by_lane(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static void check_same(struct given *all, size_t from, struct given *rest)
{
	ck_assert_uint_eq(all->list.count - from, rest->list.count);
	if (!rest->list.count)
		return;
	qsort(all->list.items + from, rest->list.count, sizeof(struct stretch), by_lane);
	qsort(rest->list.items, rest->list.count, sizeof(struct stretch), by_lane);
	for (size_t i = 0; i < rest->list.count; i++) {
		const struct stretch *x = &all->list.items[from + i], *y = &rest->list.items[i];

		HOLDS(x->time == y->time);
		HOLDS(x->end == y->end);
		HOLDS(x->lane == y->lane);
		HOLDS(x->thread == y->thread);
		HOLDS(x->state == y->state);
		HOLDS(x->wait == y->wait);
		HOLDS(x->cpu == y->cpu);
		HOLDS(x->waker == y->waker);
		HOLDS(x->target == y->target);
		HOLDS(x->whole == y->whole);
	}
}

/* Stop after some records, output all lanes, and continue in another object. */
static void check_resumed(const struct machine *m, size_t stop)
{
	struct given all = {0}, snapshot = {0}, rest = {0};
	struct states *s = new_states(m, &all), *other = new_states(m, &rest);
	size_t given;

	put_records(s, m, 0, stop);
	if (stop % 3 == 0 && states_settled(s))
		ck_assert_int_eq(states_cut(s, states_settled(s), NULL), 0);
	given = all.list.count;
	ck_assert_int_eq(states_each(s, keep, &snapshot), 0);
	for (size_t i = 0; i < snapshot.list.count; i++) {
		HOLDS(!snapshot.list.items[i].end);
		HOLDS(states_resume(other, &snapshot.list.items[i], NULL) == 0);
	}
	ck_assert_uint_eq(states_settled(s), states_settled(other));
	put_records(s, m, stop, m->records.count);
	put_records(other, m, stop, m->records.count);
	end_all(s);
	end_all(other);
	check_same(&all, given, &rest);
	vector_free(&all.list);
	vector_free(&rest.list);
	vector_free(&snapshot.list);
}

START_TEST(resumed_is_as_if_never_stopped)
{
	static struct machine m;

	for (unsigned int seed = 1; seed <= 150; seed++) {
		simulate(&m, seed);
		for (size_t stop = 0; stop <= m.records.count; stop += 1 + chance(9))
			check_resumed(&m, stop);
		vector_free(&m.records);
	}
}
END_TEST

static uint64_t any(uint64_t of)
{
	static const uint64_t strange[] = {0, 1, 1ULL << 63, UINT64_MAX, UINT32_MAX, 1ULL << 32};

	return chance(12) ? chance((unsigned int)of) : strange[chance(6)];
}

static void put_garbage(struct states *s)
{
	const struct slice slice = {
		.time = any(500),
		.end = any(500),
		.lane = chance(2) ? CPU(any(CPUS)) : LANE(any(THREADS)),
		.state = any(STATE_COUNT + 1),
		.value = THREAD(any(THREADS)),
		.left = any(STATE_COUNT + 1),
		.wait = any(WAIT_COUNT + 1),
	};
	const struct edge edge = {
		.time = any(500),
		.from = any(200),
		.to = LANE(any(THREADS)),
		.kind = any(EDGE_KIND_COUNT),
		.value = any(9),
	};
	const struct thread thread = {
		.id = THREAD(any(THREADS + 3)), .lane = LANE(any(THREADS)), .end = any(300)};
	const struct lane lane = {
		.id = any(130), .kind = any(LANE_KIND_COUNT), .number = THREAD(any(THREADS))};

	put(s, KIND_SLICE, &slice);
	put(s, KIND_EDGE, &edge);
	if (!chance(8))
		put(s, KIND_THREAD, &thread);
	if (!chance(8))
		put(s, KIND_LANE, &lane);
	if (!chance(30))
		HOLDS(states_cut(s, any(500), NULL) == 0);
}

static void check_tiles(struct given *given)
{
	if (given->list.count)
		qsort(given->list.items, given->list.count, sizeof(struct stretch), by_lane);
	for (size_t i = 1; i < given->list.count; i++) {
		const struct stretch *x = &given->list.items[i - 1], *y = &given->list.items[i];

		HOLDS(x->lane != y->lane || x->end <= y->time);
	}
}

/* Lanes with records of two threads are output one after the other. */
static void check_garbage(struct states *s, struct given *given)
{
	for (int i = 0; i < 100; i++)
		put_garbage(s);
	ck_assert_int_eq(states_end(s, UINT64_MAX, NULL), 0);
	states_free(s);
	check_tiles(given);
	vector_free(&given->list);
}

START_TEST(garbage_is_cut_to_what_fits)
{
	for (unsigned int seed = 1; seed <= 3000; seed++) {
		struct given given = {0}, snapshot = {0};
		struct states *s = new_states(NULL, &given);

		srand(seed);
		for (int i = 0; i < 100; i++)
			put_garbage(s);
		ck_assert_int_eq(states_each(s, keep, &snapshot), 0);
		check_garbage(s, &given);
		s = new_states(NULL, &given);
		for (size_t i = 0; i < snapshot.list.count; i++) {
			struct stretch x = snapshot.list.items[i];

			x.lane = chance(9) ? x.lane : any(130);
			x.state = (enum slice_state)any(STATE_COUNT + 1);
			HOLDS(states_resume(s, &x, NULL) == 0);
		}
		check_garbage(s, &given);
		vector_free(&snapshot.list);
	}
}
END_TEST

SUITE("states against the truth", what_is_told_is_the_truth, cuts_change_nothing,
      hasty_cuts_tell_nothing_wrong, holes_are_as_gaps, resumed_is_as_if_never_stopped,
      garbage_is_cut_to_what_fits)
