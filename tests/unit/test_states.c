// SPDX-License-Identifier: Apache-2.0
/* From slices and edges to the states of lanes: one scene for each rule. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/index.h"
#include "analyze/states.h"
#include "base/vector.h"
#include "suite.h"

/* Numbers in every scene: CPU n has lane 1 + n, thread n has lane 100 + n and id 1000 + n. */
#define CPU(n) (1 + (n))
#define LANE(n) (100 + (n))
#define THREAD(n) (1000 + (n))
#define CPUS 4
#define THREADS 8

struct reported {
	VECTOR(struct stretch) list;
};

static int note(void *context, const struct stretch *s, struct error *err)
{
	struct reported *reported = context;

	(void)err;
	ck_assert_uint_lt(s->time, s->end);
	return vector_push(&reported->list, *s);
}

static struct states *new_states(struct reported *reported)
{
	const struct states_events events = {.stretch = note, .context = reported};
	struct states *s = NULL;

	ck_assert_int_eq(states_new(&s, &events, NULL), 0);
	return s;
}

static void put(struct states *s, enum record_kind kind, const void *record)
{
	ck_assert_int_eq(states_put(s, kind, record, NULL), 0);
}

static void put_entities(struct states *s)
{
	for (uint64_t i = 0; i < CPUS; i++)
		put(s, KIND_LANE, &(struct lane){.id = CPU(i), .kind = LANE_CPU, .number = i});
	for (uint64_t i = 0; i < THREADS; i++) {
		put(s, KIND_THREAD, &(struct thread){.id = THREAD(i), .lane = LANE(i)});
		put(s, KIND_LANE,
		    &(struct lane){.id = LANE(i), .kind = LANE_THREAD, .number = THREAD(i)});
	}
}

/* The end of the last slice of each CPU. */
static uint64_t cpu_told[CPUS];

static struct states *begin(struct reported *reported)
{
	struct states *s = new_states(reported);

	memset(cpu_told, 0, sizeof(cpu_told));
	put_entities(s);
	return s;
}

static void put_slice(struct states *s, unsigned int cpu, const struct slice *r)
{
	put(s, KIND_SLICE, r);
	if (cpu_told[cpu] < r->end)
		cpu_told[cpu] = r->end;
}

static void cpu_was(struct states *s, unsigned int cpu, enum slice_state state, uint64_t time,
		    uint64_t end)
{
	put_slice(s, cpu,
		  &(struct slice){.time = time, .end = end, .lane = CPU(cpu), .state = state});
}

/* Put a slice of a CPU; the state of the CPU before it is not certain. */
static void ran_then(struct states *s, unsigned int cpu, unsigned int thread, uint64_t time,
		     uint64_t end, enum slice_state left, enum wait_class wait)
{
	const struct slice r = {
		.time = time,
		.end = end,
		.lane = CPU(cpu),
		.state = STATE_RUNNING,
		.value = THREAD(thread),
		.left = left,
		.wait = wait,
	};

	put_slice(s, cpu, &r);
}

/* Put a slice of a CPU, after an idle slice if there is time since the last one. */
static void ran(struct states *s, unsigned int cpu, unsigned int thread, uint64_t time,
		uint64_t end, enum slice_state left, enum wait_class wait)
{
	if (cpu_told[cpu] && cpu_told[cpu] < time)
		cpu_was(s, cpu, STATE_IDLE, cpu_told[cpu], time);
	ran_then(s, cpu, thread, time, end, left, wait);
}

static void seen(struct states *s, unsigned int thread, uint64_t time, enum slice_state state,
		 enum wait_class wait)
{
	put(s, KIND_SLICE,
	    &(struct slice){.time = time, .lane = LANE(thread), .state = state, .wait = wait});
}

static void edge(struct states *s, enum edge_kind kind, uint64_t from, unsigned int thread,
		 uint64_t time, uint64_t target)
{
	const struct edge r = {
		.time = time,
		.end = time,
		.from = from,
		.to = LANE(thread),
		.kind = kind,
		.value = target,
	};

	put(s, KIND_EDGE, &r);
}

static void woken(struct states *s, unsigned int by, unsigned int thread, uint64_t time)
{
	edge(s, EDGE_WAKEUP, LANE(by), thread, time, 1);
}

/* Return "RUNNING 10-20 ..." for a lane: the states by their words, with the wait after a slash. */
static const char *line_of(const struct reported *reported, uint64_t lane)
{
	static char text[4096];
	size_t at = 0;

	text[0] = 0;
	for (size_t i = 0; i < reported->list.count; i++) {
		const struct stretch *s = &reported->list.items[i];

		if (s->lane != lane)
			continue;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s%s%s %llu-%llu",
				       at ? ", " : "", slice_state_word(s->state),
				       s->wait ? "/" : "", s->wait ? wait_class_word(s->wait) : "",
				       (unsigned long long)s->time, (unsigned long long)s->end);
	}
	return text;
}

/* Return the n-th stretch of a lane. */
static const struct stretch *nth(const struct reported *reported, uint64_t lane, unsigned int n)
{
	for (size_t i = 0; i < reported->list.count; i++)
		if (reported->list.items[i].lane == lane && !n--)
			return &reported->list.items[i];
	ck_abort_msg("too few stretches");
	return NULL;
}

static int count_one(void *context, const struct stretch *s)
{
	(void)s;
	++*(size_t *)context;
	return 0;
}

/* Let the CPUs be idle up to the end. */
static void finish(struct states *s, uint64_t time, uint64_t disorder)
{
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		if (cpu_told[cpu] < time)
			cpu_was(s, cpu, STATE_IDLE, cpu_told[cpu] ? cpu_told[cpu] : 1, time);
	ck_assert_int_eq(states_end(s, time, NULL), 0);
	ck_assert_uint_eq(states_disorder(s), disorder);
}

static void end(struct states *s, struct reported *reported)
{
	states_free(s);
	vector_free(&reported->list);
}

START_TEST(waits_after_a_wake_up_and_after_preemption)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);

	ran(s, 0, 1, 10, 20, STATE_PREEMPTED, 0);
	ran(s, 0, 2, 20, 30, STATE_SLEEPING, WAIT_POLL);
	ran(s, 0, 1, 30, 40, STATE_SLEEPING, WAIT_LOCK);
	woken(s, 3, 1, 45);
	cpu_was(s, 0, STATE_IDLE, 40, 50);
	ran(s, 0, 1, 50, 60, STATE_DISK, WAIT_IO);
	finish(s, 100, 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)),
			 "running 10-20, preempted 20-30, running 30-40, sleeping/lock 40-45, "
			 "runnable 45-50, running 50-60, disk/I/O 60-100");
	ck_assert_str_eq(line_of(&reported, LANE(2)), "running 20-30, sleeping/poll 30-100");
	ck_assert_str_eq(line_of(&reported, CPU(0)),
			 "running 10-20, running 20-30, running 30-40, idle 40-50, running 50-60, "
			 "idle 60-100");
	end(s, &reported);
}
END_TEST

/* The wake-up has an earlier stamp than the end of the slice, and no other wake-up comes. */
START_TEST(an_early_wake_up_counts_from_when_it_left)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);
	const struct stretch *x;

	woken(s, 3, 1, 19);
	ran(s, 0, 1, 10, 20, STATE_SLEEPING, WAIT_LOCK);
	ran(s, 0, 1, 30, 40, STATE_SLEEPING, WAIT_LOCK);
	finish(s, 50, 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)),
			 "running 10-20, runnable 20-30, running 30-40, sleeping/lock 40-50");
	x = nth(&reported, LANE(1), 1);
	ck_assert_int_eq(x->state, STATE_RUNNABLE);
	ck_assert_uint_eq(x->waker, LANE(3));
	ck_assert_uint_eq(x->target, 1);
	ck_assert(x->whole);
	end(s, &reported);
}
END_TEST

START_TEST(an_early_wake_up_with_another_behind_it_is_nothing)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);

	woken(s, 3, 1, 15);
	ran(s, 0, 1, 10, 20, STATE_SLEEPING, WAIT_LOCK);
	woken(s, 2, 1, 25);
	ran(s, 0, 1, 30, 40, STATE_PREEMPTED, 0);
	ran(s, 0, 1, 50, 60, STATE_PREEMPTED, 0);
	finish(s, 60, 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)),
			 "running 10-20, sleeping/lock 20-25, runnable 25-30, running 30-40, "
			 "preempted 40-50, running 50-60");
	end(s, &reported);
}
END_TEST

/* Both wake-ups came while the thread ran; the first seemed to end its sleep. */
START_TEST(wake_ups_of_a_running_thread_end_no_sleep)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);

	woken(s, 3, 1, 19);
	ran(s, 0, 1, 10, 20, STATE_SLEEPING, WAIT_LOCK);
	woken(s, 3, 1, 35);
	woken(s, 2, 1, 38);
	ran(s, 0, 1, 30, 40, STATE_SLEEPING, WAIT_IO);
	ran(s, 0, 1, 44, 50, STATE_PREEMPTED, 0);
	woken(s, 2, 1, 55); /* the thread was runnable anyway */
	ran(s, 0, 1, 60, 70, STATE_DEAD, 0);
	finish(s, 100, 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)),
			 "running 10-20, runnable 20-30, running 30-40, runnable 40-44, "
			 "running 44-50, preempted 50-60, running 60-70");
	ck_assert_uint_eq(nth(&reported, LANE(1), 3)->waker, LANE(2));
	end(s, &reported);
}
END_TEST

START_TEST(a_wake_up_says_who_and_where)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);
	bool found = false;

	ran(s, 2, 1, 10, 20, STATE_SLEEPING, WAIT_LOCK);
	edge(s, EDGE_WAKEUP, 77, 1, 30, 4);
	cpu_was(s, 3, STATE_IDLE, 10, 40);
	ran(s, 3, 1, 40, 50, STATE_SLEEPING, WAIT_LOCK);
	finish(s, 100, 0);
	for (size_t i = 0; i < reported.list.count; i++) {
		const struct stretch *x = &reported.list.items[i];

		if (x->lane != LANE(1))
			continue;
		ck_assert_uint_eq(x->thread, THREAD(1));
		ck_assert_uint_eq(x->cpu, x->time < 40 ? 3 : 4);
		ck_assert_uint_eq(x->waker, x->time == 30 ? 77 : 0);
		ck_assert_uint_eq(x->target, x->time == 30 ? 4 : 0);
		ck_assert_int_eq(x->whole, x->time >= 20 && x->time < 50);
		found = found || x->time == 30;
	}
	ck_assert(found);
	end(s, &reported);
}
END_TEST

START_TEST(a_life_begins_at_its_fork_or_first_record)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);

	edge(s, EDGE_FORK, LANE(3), 1, 10, 1);
	ran(s, 0, 1, 15, 20, STATE_SLEEPING, WAIT_CHILD);
	ran(s, 0, 2, 20, 30, STATE_SLEEPING, WAIT_SLEEP);
	woken(s, 2, 3, 35);
	woken(s, 3, 4, 45);
	ran(s, 0, 4, 40, 50, STATE_SLEEPING, WAIT_PIPE);
	finish(s, 60, 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)),
			 "runnable 10-15, running 15-20, sleeping/child 20-60");
	ck_assert_str_eq(line_of(&reported, LANE(2)), "running 20-30, sleeping/sleep 30-60");
	ck_assert_str_eq(line_of(&reported, LANE(3)), "runnable 35-60");
	ck_assert_str_eq(line_of(&reported, LANE(4)),
			 "running 40-50, sleeping/pipe or socket 50-60");
	end(s, &reported);
}
END_TEST

START_TEST(what_was_asleep_at_the_start_is_known)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);

	seen(s, 1, 10, STATE_SLEEPING, WAIT_POLL);
	seen(s, 2, 10, STATE_RUNNABLE, 0);
	seen(s, 3, 10, STATE_RUNNING, 0);
	seen(s, 4, 10, STATE_PARKED, WAIT_OTHER);
	woken(s, 3, 1, 15);
	cpu_was(s, 1, STATE_IDLE, 5, 18);
	ran(s, 0, 3, 5, 20, STATE_PREEMPTED, 0); /* began before its state was seen */
	ran(s, 0, 2, 20, 25, STATE_SLEEPING, WAIT_POLL);
	ran(s, 1, 1, 18, 30, STATE_SLEEPING, WAIT_POLL);
	finish(s, 40, 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)),
			 "sleeping/poll 10-15, runnable 15-18, running 18-30, sleeping/poll 30-40");
	ck_assert_str_eq(line_of(&reported, LANE(2)),
			 "runnable 10-20, running 20-25, sleeping/poll 25-40");
	ck_assert_str_eq(line_of(&reported, LANE(3)), "running 5-20, preempted 20-40");
	ck_assert_str_eq(line_of(&reported, LANE(4)), "parked/other 10-40");
	end(s, &reported);
}
END_TEST

START_TEST(a_gap_makes_unknown_who_is_not_running_elsewhere)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);

	seen(s, 1, 10, STATE_SLEEPING, WAIT_POLL);
	seen(s, 5, 10, STATE_SLEEPING, WAIT_POLL);
	ran(s, 0, 2, 10, 30, 0, 0);
	cpu_was(s, 0, STATE_UNKNOWN, 30, 60);
	woken(s, 4, 1, 40); /* in the gap: may be running already, or sleep again */
	ran(s, 2, 6, 10, 45, STATE_SLEEPING, WAIT_LOCK); /* leaves within the gap */
	ran(s, 1, 3, 20, 60, STATE_SLEEPING,
	    WAIT_LOCK); /* runs during all of the gap, leaves at its end */
	woken(s, 3, 5, 65);
	seen(s, 6, 70, STATE_SLEEPING, WAIT_IO);
	ran(s, 0, 2, 60, 80, STATE_SLEEPING, WAIT_LOCK);
	ran(s, 1, 5, 60, 90, STATE_SLEEPING, WAIT_LOCK);
	ran(s, 1, 5, 95, 100, 0, 0);
	finish(s, 100, 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)), "sleeping/poll 10-30, unknown 30-100");
	ck_assert_str_eq(line_of(&reported, LANE(2)),
			 "running 10-30, unknown 30-60, running 60-80, sleeping/lock 80-100");
	ck_assert_str_eq(line_of(&reported, LANE(3)), "running 20-60, sleeping/lock 60-100");
	/* Thread 5 was woken while it ran. */
	ck_assert_str_eq(line_of(&reported, LANE(5)),
			 "sleeping/poll 10-30, unknown 30-60, running 60-90, runnable 90-95, "
			 "running 95-100");
	ck_assert_str_eq(line_of(&reported, LANE(6)),
			 "running 10-45, unknown 45-70, sleeping/I/O 70-100");
	ck_assert_str_eq(line_of(&reported, CPU(0)),
			 "running 10-30, unknown 30-60, running 60-80, idle 80-100");
	end(s, &reported);
}
END_TEST

START_TEST(a_hole_between_slices_is_a_gap)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);

	seen(s, 1, 10, STATE_SLEEPING, WAIT_POLL);
	ran(s, 0, 2, 10, 30, STATE_SLEEPING, WAIT_LOCK);
	woken(s, 3, 1, 40);
	woken(s, 3, 2, 65);
	ran_then(s, 0, 1, 60, 70, STATE_SLEEPING, WAIT_IO);
	ran(s, 1, 3, 10, 72, STATE_SLEEPING, WAIT_IO);
	ran(s, 0, 2, 70, 80, STATE_SLEEPING, WAIT_IO);
	finish(s, 90, 0);
	ck_assert_str_eq(line_of(&reported, CPU(0)),
			 "running 10-30, unknown 30-60, running 60-70, running 70-80, idle 80-90");
	ck_assert_str_eq(line_of(&reported, LANE(1)),
			 "sleeping/poll 10-30, unknown 30-60, running 60-70, sleeping/I/O 70-90");
	ck_assert_str_eq(line_of(&reported, LANE(2)),
			 "running 10-30, unknown 30-65, runnable 65-70, running 70-80, "
			 "sleeping/I/O 80-90");
	ck_assert_str_eq(line_of(&reported, LANE(3)), "running 10-72, sleeping/I/O 72-90");
	end(s, &reported);
}
END_TEST

START_TEST(a_new_name_is_the_same_lane)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);
	struct slice renamed = {
		.time = 20,
		.end = 30,
		.lane = CPU(0),
		.state = STATE_RUNNING,
		.value = 5000,
		.left = STATE_SLEEPING,
		.wait = WAIT_SLEEP,
	};
	uint64_t names = 0;

	put(s, KIND_THREAD, &(struct thread){.id = 5000, .lane = LANE(1)});
	ran(s, 0, 1, 10, 20, STATE_PREEMPTED, 0);
	put_slice(s, 0, &renamed);
	finish(s, 40, 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)),
			 "running 10-20, running 20-30, sleeping/sleep 30-40");
	for (size_t i = 0; i < reported.list.count; i++) {
		const struct stretch *x = &reported.list.items[i];

		if (x->lane == LANE(1))
			names += x->thread == (x->time < 20 ? (uint64_t)THREAD(1) : 5000);
	}
	ck_assert_uint_eq(names, 3);
	end(s, &reported);
}
END_TEST

START_TEST(the_dead_are_forgotten)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);

	ran(s, 0, 1, 10, 20, STATE_DEAD, 0);
	woken(s, 3, 1, 25);
	ran(s, 0, 1, 20, 30, STATE_SLEEPING, WAIT_SLEEP); /* a CPU ran the thread after its end */
	put(s, KIND_THREAD, &(struct thread){.id = THREAD(1), .lane = LANE(1), .end = 20});
	woken(s, 3, 1, 35);
	finish(s, 40, 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)), "running 10-20");
	ck_assert_str_eq(line_of(&reported, CPU(0)), "running 10-20, running 20-30, idle 30-40");
	end(s, &reported);
}
END_TEST

/* The thread record has its end, although the last slice is lost. */
START_TEST(who_died_in_a_gap_is_dead)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);

	ran(s, 0, 1, 10, 20, STATE_SLEEPING, WAIT_POLL);
	put(s, KIND_THREAD, &(struct thread){.id = THREAD(1), .lane = LANE(1), .end = 55});
	cpu_was(s, 0, STATE_UNKNOWN, 20, 50);
	finish(s, 90, 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)), "running 10-20, unknown 20-55");
	end(s, &reported);
}
END_TEST

START_TEST(two_cpus_at_once_are_cut_and_counted)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);

	ran(s, 0, 1, 10, 30, STATE_SLEEPING, WAIT_POLL);
	ran(s, 1, 1, 20, 40, STATE_SLEEPING, WAIT_IO);
	ran(s, 0, 2, 25, 45, STATE_SLEEPING, WAIT_IO); /* overlaps the first slice of its CPU */
	ran(s, 1, 2, 5, 35, STATE_SLEEPING, WAIT_IO); /* wholly before the last slice of its CPU */
	finish(s, 50, 3);
	ck_assert_str_eq(line_of(&reported, LANE(1)),
			 "running 10-30, running 30-40, sleeping/I/O 40-50");
	ck_assert_str_eq(line_of(&reported, LANE(2)), "running 30-45, sleeping/I/O 45-50");
	ck_assert_str_eq(line_of(&reported, CPU(0)), "running 10-30, running 30-45, idle 45-50");
	ck_assert_str_eq(line_of(&reported, CPU(1)), "running 20-40, idle 40-50");
	end(s, &reported);
}
END_TEST

START_TEST(a_cut_is_where_all_lanes_are_told)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);

	seen(s, 2, 5, STATE_SLEEPING, WAIT_SLEEP);
	ck_assert_uint_eq(states_settled(s), 0);
	ran(s, 0, 1, 10, 20, STATE_SLEEPING, WAIT_LOCK);
	for (unsigned int cpu = 1; cpu < CPUS; cpu++)
		cpu_was(s, cpu, STATE_IDLE, 10, 35);
	woken(s, 2, 1, 36);
	cpu_was(s, 0, STATE_IDLE, 20, 40);
	ck_assert_uint_eq(states_settled(s), 35);
	ck_assert_int_eq(states_cut(s, 35, NULL), 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)), "running 10-20, sleeping/lock 20-35");
	ck_assert_str_eq(line_of(&reported, LANE(2)), "sleeping/sleep 5-35");
	ck_assert(!reported.list.items[reported.list.count - 1].whole);
	ran(s, 0, 1, 40, 50, STATE_SLEEPING, WAIT_LOCK);
	finish(s, 60, 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)),
			 "running 10-20, sleeping/lock 20-35, sleeping/lock 35-36, runnable 36-40, "
			 "running 40-50, sleeping/lock 50-60");
	end(s, &reported);
}
END_TEST

/* The thread was runnable as far as known, but it may already run: then it did not wait. */
START_TEST(a_cut_beyond_what_is_settled_invents_nothing)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);

	ran(s, 0, 1, 10, 20, STATE_PREEMPTED, 0);
	for (unsigned int cpu = 1; cpu < CPUS; cpu++)
		cpu_was(s, cpu, STATE_IDLE, 10, 50);
	cpu_was(s, 0, STATE_IDLE, 20, 30);
	ck_assert_int_eq(states_cut(s, 45, NULL), 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)),
			 "running 10-20, preempted 20-30, unknown 30-45");
	ran(s, 0, 1, 30, 60, STATE_SLEEPING, WAIT_IO);
	finish(s, 70, 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)),
			 "running 10-20, preempted 20-30, unknown 30-45, running 45-60, "
			 "sleeping/I/O 60-70");
	end(s, &reported);
}
END_TEST

/* The recorder's records of a switch without tracepoint: thread 1 was on the CPU, thread 2 came. */
START_TEST(a_switch_that_was_not_told_concerns_two_threads)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);
	const struct slice hole = {
		.time = 20,
		.end = 40,
		.lane = CPU(0),
		.state = STATE_UNKNOWN,
		.value = THREAD(1),
	};
	struct slice since = {.time = 40, .lane = LANE(1), .state = STATE_UNKNOWN, .value = 20};

	seen(s, 2, 5, STATE_SLEEPING, WAIT_LOCK);
	seen(s, 3, 5, STATE_SLEEPING, WAIT_LOCK);
	ran(s, 0, 1, 10, 15, STATE_PREEMPTED, 0);
	ran(s, 0, 3, 15, 20, STATE_SLEEPING, WAIT_LOCK);
	woken(s, 3, 2, 30);
	put_slice(s, 0, &hole);
	put(s, KIND_SLICE, &since);
	since.lane = LANE(2);
	since.state = STATE_DISK;
	since.wait = WAIT_IO;
	put(s, KIND_SLICE, &since);
	since.lane = LANE(4); /* a thread of which nothing was known */
	put(s, KIND_SLICE, &since);
	ran(s, 0, 3, 40, 50, STATE_SLEEPING, WAIT_LOCK);
	woken(s, 3, 2, 60);
	finish(s, 70, 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)),
			 "running 10-15, preempted 15-20, unknown 20-70");
	ck_assert_str_eq(line_of(&reported, LANE(2)), "sleeping/lock 5-20, unknown 20-40, "
						      "disk/I/O 40-60, runnable 60-70");
	ck_assert_str_eq(line_of(&reported, LANE(3)),
			 "sleeping/lock 5-15, running 15-20, sleeping/lock 20-40, running 40-50, "
			 "sleeping/lock 50-70");
	ck_assert_str_eq(line_of(&reported, LANE(4)), "unknown 20-40, disk/I/O 40-70");
	ck_assert_str_eq(line_of(&reported, CPU(0)), "running 10-15, running 15-20, unknown 20-40, "
						     "running 40-50, idle 50-70");
	end(s, &reported);
}
END_TEST

START_TEST(a_cpu_that_is_offline_hides_nobody)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);

	ran(s, 0, 1, 10, 20, STATE_SLEEPING, WAIT_LOCK);
	ran(s, 1, 2, 10, 20, 0, 0);
	cpu_was(s, 1, STATE_OFFLINE, 20, 50);
	finish(s, 60, 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)), "running 10-20, sleeping/lock 20-60");
	ck_assert_str_eq(line_of(&reported, LANE(2)), "running 10-20, unknown 20-60");
	ck_assert_str_eq(line_of(&reported, CPU(1)), "running 10-20, offline 20-50, idle 50-60");
	end(s, &reported);
}
END_TEST

/* Stamps are rounded down, the end of the recording is not. */
START_TEST(all_lanes_end_with_the_slices)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);

	ran(s, 0, 1, 1000, 1100, STATE_PREEMPTED, 0);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		cpu_was(s, cpu, STATE_IDLE, cpu ? 1000 : 1100, 1200);
	ck_assert_int_eq(states_end(s, 1215, NULL), 0);
	ck_assert_str_eq(line_of(&reported, LANE(1)), "running 1000-1100, preempted 1100-1200");
	end(s, &reported);
}
END_TEST

START_TEST(lanes_that_are_not_there_are_nothing)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);
	const uint64_t strange[] = {0, 50, 1ULL << 63, UINT64_MAX};

	for (size_t i = 0; i < 4; i++) {
		put(s, KIND_SLICE, &(struct slice){.time = 1, .lane = strange[i], .state = 3});
		put(s, KIND_EDGE, &(struct edge){.time = 1, .to = strange[i], .kind = EDGE_WAKEUP});
		put(s, KIND_THREAD, &(struct thread){.id = strange[i]});
		put(s, KIND_LANE, &(struct lane){.id = 99, .kind = strange[i]});
	}
	ck_assert_int_eq(states_end(s, 10, NULL), 0);
	/* up to the last lane, unknown ones are ended threads */
	ck_assert_uint_eq(states_disorder(s), 4);
	ck_assert_uint_eq(reported.list.count, 0);
	end(s, &reported);
}
END_TEST

START_TEST(values_beyond_their_range_are_cut)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);
	struct slice r = {.time = 5, .end = 10, .lane = CPU(0), .state = STATE_RUNNING};

	r.value = THREAD(1);
	r.left = UINT64_MAX;
	r.wait = UINT64_MAX;
	put(s, KIND_SLICE, &r); /* left and wait each count as disorder */
	r.state = UINT64_MAX;
	put(s, KIND_SLICE, &r);
	r = (struct slice){.time = 20, .end = 10, .lane = CPU(0), .state = STATE_IDLE};
	put(s, KIND_SLICE, &r);
	edge(s, EDGE_WAKEUP, UINT64_MAX, 1, 15, UINT64_MAX);
	r = (struct slice){.time = 10, .end = UINT64_MAX, .lane = CPU(0), .state = STATE_RUNNING};
	r.value = THREAD(2);
	put(s, KIND_SLICE, &r);
	cpu_was(s, 0, STATE_IDLE, 20, 30); /* no time is left for this slice */
	ck_assert_int_eq(states_end(s, UINT64_MAX, NULL), 0);
	ck_assert_uint_eq(states_disorder(s), 5);
	ck_assert_str_eq(line_of(&reported, LANE(1)),
			 "running 5-10, unknown 10-15, unknown 15-18446744073709551615");
	ck_assert_uint_eq(nth(&reported, LANE(2), 0)->end, UINT64_MAX);
	end(s, &reported);
}
END_TEST

/* Return the bytes of this process's heap that are in use. */
static size_t heap_bytes(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Many threads that start and end, and one that changes its name all the time. */
START_TEST(the_dead_and_old_names_take_no_room)
{
	struct reported reported = {0};
	struct states *s = begin(&reported);
	size_t alive = 0, bytes = heap_bytes();

	for (uint64_t i = 0; i < 100000; i++) {
		const struct thread t = {.id = 5000 + 2 * i, .lane = 200 + i};
		const struct thread renamed = {.id = 5001 + 2 * i, .lane = LANE(1)};
		struct slice r = {.time = 10 + 2 * i, .end = 11 + 2 * i, .lane = CPU(0)};

		put(s, KIND_THREAD, &t);
		put(s, KIND_LANE,
		    &(struct lane){.id = t.lane, .kind = LANE_THREAD, .number = t.id});
		put(s, KIND_THREAD, &renamed);
		r.state = STATE_RUNNING;
		r.value = t.id;
		r.left = STATE_DEAD;
		put(s, KIND_SLICE, &r);
		r.time++;
		r.end++;
		r.value = renamed.id;
		r.left = STATE_PREEMPTED;
		put(s, KIND_SLICE, &r);
		reported.list.count = 0;
	}
	ck_assert_uint_eq(states_disorder(s), 0);
	ck_assert_int_eq(states_each(s, count_one, &alive), 0);
	ck_assert_uint_eq(alive, 2);
	/* The indexes of lanes and threads have arrays for small ids. */
	ck_assert_uint_lt(heap_bytes(), bytes + 20000 + 2 * INDEX_SMALL * sizeof(uint32_t));
	end(s, &reported);
}
END_TEST

static int refuse(void *context, const struct stretch *s, struct error *err)
{
	(void)context;
	(void)s;
	return error_set(err, -ENOSPC, "no more");
}

START_TEST(an_error_of_the_listener_is_returned)
{
	const struct states_events events = {.stretch = refuse};
	struct slice r = {.time = 5, .end = 10, .lane = CPU(0), .state = STATE_IDLE};
	struct error err = {""};
	struct states *s;

	ck_assert_int_eq(states_new(&s, &events, NULL), 0);
	put_entities(s);
	ck_assert_int_eq(states_put(s, KIND_SLICE, &r, &err), -ENOSPC);
	ck_assert_str_eq(err.text, "no more");
	states_free(s);
	states_free(NULL);
}
END_TEST

SUITE("states", waits_after_a_wake_up_and_after_preemption,
      an_early_wake_up_counts_from_when_it_left, an_early_wake_up_with_another_behind_it_is_nothing,
      wake_ups_of_a_running_thread_end_no_sleep, a_wake_up_says_who_and_where,
      a_life_begins_at_its_fork_or_first_record, what_was_asleep_at_the_start_is_known,
      a_gap_makes_unknown_who_is_not_running_elsewhere, a_hole_between_slices_is_a_gap,
      a_new_name_is_the_same_lane, the_dead_are_forgotten, who_died_in_a_gap_is_dead,
      two_cpus_at_once_are_cut_and_counted, a_cut_is_where_all_lanes_are_told,
      a_cut_beyond_what_is_settled_invents_nothing, a_switch_that_was_not_told_concerns_two_threads,
      a_cpu_that_is_offline_hides_nobody, all_lanes_end_with_the_slices,
      lanes_that_are_not_there_are_nothing, values_beyond_their_range_are_cut,
      the_dead_and_old_names_take_no_room, an_error_of_the_listener_is_returned)
