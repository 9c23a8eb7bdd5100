// SPDX-License-Identifier: Apache-2.0
/*
 * Sums of stacks of waits that divide exact times, compared with sums made by hand: the scene of
 * the scheduler, with stacks of some of its waits.
 */
#include <string.h>

#include "analyze/names.h"
#include "analyze/profile.h"
#include "analyze/wait_division.h"
#include "sched_scene.h"
#include "suite.h"

#define PERIOD (2 * MS)
enum { CPU_TIME = 1, OFF_CPU };

static const struct event division_events[] = {
	{CPU_TIME, 1, "cpu-clock", "ns", MS, 0},
	{OFF_CPU, 1, EVENT_OFF_CPU, "ns", PERIOD, 0},
};
static const struct frame division_frames[] = {{7, FRAME_KERNEL, 0, 0x10, 0, 0, 0}};
static const struct stack division_stacks[] = {{5, 0, 7}, {6, 5, 7}};

#define WAITED(at, thread, stack, weight, length, wait) \
	{AT(at), OFF_CPU, thread, 0, stack, weight, 0, length, wait, 0, 0}
#define SHORT(at) WAITED(at, SCENE_LOAD, 6, PERIOD, MS / 2, WAIT_SLEEP)

static const struct sample division_samples[] = {
	/* of 49 ms of db's main thread all have a stack; of the 51 ms of the other 4 ms have */
	WAITED(79, SCENE_DB, 5, 49 * MS, 49 * MS, WAIT_LOCK),
	WAITED(20, SCENE_DB_IO, 6, PERIOD, MS / 2, WAIT_LOCK),
	WAITED(21, SCENE_DB_IO, 6, PERIOD, MS / 2, WAIT_LOCK),
	/* 20 ms by chance, where 17 ms were slept; 9 ms for certain where 8 ms were waited */
	SHORT(41),
	SHORT(42),
	SHORT(43),
	SHORT(44),
	SHORT(45),
	SHORT(46),
	SHORT(47),
	SHORT(48),
	SHORT(49),
	SHORT(50),
	WAITED(80, SCENE_LOAD, 5, 9 * MS, 9 * MS, WAIT_POLL),
};

static void division_build(struct scene *s, const void *without_switches)
{
	if (!without_switches)
		sched_scene_build(s, NULL);
	SCENE_PUT_ALL(s, EVENT, division_events);
	SCENE_PUT_ALL(s, FRAME, division_frames);
	SCENE_PUT_ALL(s, STACK, division_stacks);
	SCENE_PUT_ALL(s, SAMPLE, division_samples);
	scene_sum(s, CPU_TIME, SCENE_LOAD, 5, 3, 3 * MS, 0, 0);
	scene_sum(s, OFF_CPU, SCENE_DB, 5, 1, 49 * MS, 0, WAIT_LOCK);
	scene_sum(s, OFF_CPU, SCENE_DB_IO, 6, 2, 4 * MS, 0, WAIT_LOCK);
	scene_sum(s, OFF_CPU, SCENE_LOAD, 6, 10, 20 * MS, 0, WAIT_SLEEP);
	scene_sum(s, OFF_CPU, SCENE_LOAD, 5, 1, 9 * MS, 0, WAIT_POLL);
}

DEFINE_SCENE(division_scene, division_build)

static void build_without_switches(struct scene *s, const void *unused)
{
	(void)unused;
	division_build(s, "");
}

DEFINE_SCENE(stacks_only_scene, build_without_switches)

struct groups_of_test {
	struct names keys;
	bool without_evil;
};

static int group_of_test(void *context, const struct process *p, const struct thread *t,
			 uint32_t *out)
{
	struct groups_of_test *g = context;

	ck_assert_ptr_nonnull(t->comm);
	if (g->without_evil && t->id == SCENE_EVIL)
		return 1;
	return names_intern_text(&g->keys, p->comm, out);
}

struct divided {
	struct groups_of_test groups;
	struct wait_division division;
	struct source *source;
	struct profile *profile;
};

static void divided_read(struct divided *d, struct source *inner)
{
	struct error err = {""};

	d->division.records = inner;
	d->division.group = group_of_test;
	d->division.context = &d->groups;
	ck_assert_int_eq(wait_division_source(&d->source, inner, &d->division, &err), 0);
	ck_assert_msg(!profile_read(&d->profile, d->source, NULL, &err), "%s", err.text);
}

static void divided_free(struct divided *d)
{
	profile_free(d->profile);
	source_free(d->source);
	names_free(&d->groups.keys);
}

/* Return the ns of a thread (0: of all) in an event, at a stack; 0: without a stack. */
static uint64_t time_at(const struct divided *d, uint64_t event, uint64_t thread, uint64_t stack)
{
	const struct profile *p = d->profile;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < p->count.sums; i++) {
		const struct profile_sum *s = &p->sums[i];
		bool taken = profile_stack_end(p, s->stack) != END_NOT_TAKEN;

		if (p->events[s->event].id != event ||
		    (thread && p->threads[s->thread].t.id != thread))
			continue;
		ck_assert(taken == (s->count > 0));
		if (taken ? stack && s->stack == profile_stack_by_id(p, stack) : !stack)
			ns += s->weight;
	}
	return ns;
}

START_TEST(parts_add_up_to_exact_times)
{
	struct divided d = {0};

	divided_read(&d, division_scene());
	ck_assert_uint_eq(time_at(&d, OFF_CPU, SCENE_DB, 5), 49 * MS);
	ck_assert_uint_eq(time_at(&d, OFF_CPU, SCENE_DB_IO, 6), 4 * MS);
	/* 47 ms of locks and 21 ms of I/O; 8 ms of poll and 2 ms of pipes */
	ck_assert_uint_eq(time_at(&d, OFF_CPU, SCENE_DB_IO, 0), (47 + 21) * MS);
	ck_assert_uint_eq(time_at(&d, OFF_CPU, SCENE_DB, 0), (8 + 2) * MS);
	ck_assert_uint_eq(time_at(&d, OFF_CPU, SCENE_LOAD, 6), 17 * MS);
	ck_assert_uint_eq(time_at(&d, OFF_CPU, SCENE_LOAD, 5), 8 * MS);
	ck_assert_uint_eq(time_at(&d, OFF_CPU, SCENE_LOAD, 0), 0);
	ck_assert_uint_eq(time_at(&d, OFF_CPU, SCENE_EVIL, 0), 20 * MS);
	ck_assert_uint_eq(time_at(&d, CPU_TIME, 0, 5), 3 * MS);
	divided_free(&d);
}
END_TEST

/* The range cuts what was waited, not the lengths of its samples. */
START_TEST(parts_of_a_range)
{
	struct divided d = {.division = {.from = 40 * MS, .to = 50 * MS}};

	divided_read(&d, division_scene());
	ck_assert_uint_eq(time_at(&d, OFF_CPU, SCENE_LOAD, 6), 10 * MS);
	ck_assert_uint_eq(time_at(&d, OFF_CPU, SCENE_DB, 5) + time_at(&d, OFF_CPU, SCENE_DB_IO, 6) +
				  time_at(&d, OFF_CPU, SCENE_DB, 0) +
				  time_at(&d, OFF_CPU, SCENE_DB_IO, 0),
			  (10 + 6) * MS);
	divided_free(&d);
}
END_TEST

START_TEST(threads_that_are_not_selected_have_no_time)
{
	struct divided d = {.groups.without_evil = true};

	divided_read(&d, division_scene());
	ck_assert_uint_eq(time_at(&d, OFF_CPU, SCENE_EVIL, 0), 0);
	ck_assert_uint_eq(time_at(&d, OFF_CPU, SCENE_LOAD, 6), 17 * MS);
	divided_free(&d);
}
END_TEST

/* Without records of switches nothing is known that could be divided. */
START_TEST(stacks_alone_stay_as_they_are)
{
	struct divided d = {0};

	divided_read(&d, stacks_only_scene());
	ck_assert_uint_eq(time_at(&d, OFF_CPU, 0, 6), 24 * MS);
	ck_assert_uint_eq(time_at(&d, OFF_CPU, 0, 5), 58 * MS);
	ck_assert_uint_eq(time_at(&d, OFF_CPU, 0, 0), 0);
	divided_free(&d);
}
END_TEST

SUITE("wait_division", parts_add_up_to_exact_times, parts_of_a_range,
      threads_that_are_not_selected_have_no_time, stacks_alone_stay_as_they_are)
