// SPDX-License-Identifier: Apache-2.0
/* Sums of the scheduler's records, compared with a scene that was added up by hand. */
#include <string.h>

#include "analyze/sched_rows.h"
#include "sched_scene.h"
#include "suite.h"

static struct sched *read_scene(uint64_t from, uint64_t to)
{
	struct sched_query q = {.from = from * MS, .to = to * MS};
	struct sched *s = NULL;
	struct error err = {""};

	ck_assert_msg(!sched_read(&s, sched_scene_source(), &q, &err), "%s", err.text);
	return s;
}

static const struct sched_thread *thread(const struct sched *s, uint64_t id)
{
	for (size_t i = 0; i < s->threads.count; i++)
		if (s->threads.items[i].id == id)
			return &s->threads.items[i];
	ck_abort_msg("no thread %u", (unsigned int)id);
	return NULL;
}

/*
 * Compare the times in ms, in the order of struct sched_times; classes are given as pairs, ended by
 * 0.
 */
static void check_times(const struct sched *s, uint64_t id, uint64_t running, uint64_t woken,
			uint64_t preempted, uint64_t stopped, uint64_t unused, uint64_t unknown,
			const uint64_t *classes)
{
	const struct sched_times *t = &thread(s, id)->times;
	struct sched_times want = {
		.running = running * MS,
		.queued = {[QUEUED_WOKEN] = woken * MS, [QUEUED_PREEMPTED] = preempted * MS},
		.stopped = stopped * MS,
		.unused = unused * MS,
		.unknown = unknown * MS,
	};

	for (; *classes; classes += 2)
		want.blocked[classes[0]] = classes[1] * MS;
	ck_assert_uint_eq(t->running, want.running);
	ck_assert_uint_eq(t->queued[QUEUED_WOKEN], want.queued[QUEUED_WOKEN]);
	ck_assert_uint_eq(t->queued[QUEUED_PREEMPTED], want.queued[QUEUED_PREEMPTED]);
	ck_assert_uint_eq(t->unknown, want.unknown);
	ck_assert_mem_eq(t, &want, sizeof(want));
}

#define CLASSES(...) ((const uint64_t[]){__VA_ARGS__ 0})

START_TEST(times_of_threads)
{
	struct sched *s = read_scene(0, 0);

	check_times(s, SCENE_LOAD, 50, 5, 20, 0, 0, 0, CLASSES(WAIT_SLEEP, 17, WAIT_POLL, 8, ));
	check_times(s, SCENE_DB, 30, 3, 0, 0, 0, 8,
		    CLASSES(WAIT_POLL, 8, WAIT_LOCK, 49, WAIT_PIPE, 2, ));
	check_times(s, SCENE_DB_IO, 15, 5, 0, 0, 0, 8, CLASSES(WAIT_LOCK, 51, WAIT_IO, 21, ));
	check_times(s, SCENE_EVIL, 7, 5, 5, 55, 0, 8, CLASSES(WAIT_CHILD, 20, ));
	check_times(s, SCENE_KWORKER, 0, 0, 0, 0, 92, 8, CLASSES());
	ck_assert_uint_eq(sched_life(&s->times), 5 * 100 * MS);
	ck_assert_uint_eq(sched_queued(&s->times), 43 * MS);
	ck_assert_uint_eq(s->disorder, 0);
	sched_free(s);
}
END_TEST

static void check_counts(const struct sched *s, uint64_t id, uint64_t voluntary,
			 uint64_t involuntary, uint64_t wakeups, uint64_t wakes,
			 uint64_t longest_woken, uint64_t longest_preempted)
{
	const struct sched_counts *c = &thread(s, id)->counts;

	ck_assert_uint_eq(c->switches[SWITCH_VOLUNTARY], voluntary);
	ck_assert_uint_eq(c->switches[SWITCH_INVOLUNTARY], involuntary);
	ck_assert_uint_eq(c->wakeups, wakeups);
	ck_assert_uint_eq(c->wakes, wakes);
	ck_assert_uint_eq(c->longest[QUEUED_WOKEN], longest_woken * MS);
	ck_assert_uint_eq(c->longest[QUEUED_PREEMPTED], longest_preempted * MS);
}

START_TEST(counts_of_threads)
{
	struct sched *s = read_scene(0, 0);

	check_counts(s, SCENE_LOAD, 2, 1, 2, 0, 3, 20);
	check_counts(s, SCENE_DB, 2, 0, 2, 1, 2, 0);
	check_counts(s, SCENE_DB_IO, 2, 0, 2, 1, 4, 0);
	check_counts(s, SCENE_EVIL, 1, 1, 1, 0, 5, 5);
	check_counts(s, SCENE_KWORKER, 0, 0, 0, 0, 0, 0);
	ck_assert_uint_eq(s->counts.wakeups, 7);
	ck_assert_uint_eq(s->counts.waits[QUEUED_WOKEN], 7);
	ck_assert_uint_eq(s->counts.waited[QUEUED_WOKEN], 18 * MS);
	ck_assert_uint_eq(s->counts.waits[QUEUED_PREEMPTED], 2);
	sched_free(s);
}
END_TEST

static void check_cpu(const struct sched_cpu *c, uint64_t busy, uint64_t idle, uint64_t unknown,
		      uint64_t switches, uint64_t waits, uint64_t waited, uint64_t max)
{
	ck_assert_uint_eq(c->busy, busy * MS);
	ck_assert_uint_eq(c->idle, idle * MS);
	ck_assert_uint_eq(c->unknown, unknown * MS);
	ck_assert_uint_eq(c->switches, switches);
	ck_assert_uint_eq(c->waits[QUEUED_WOKEN].count, waits);
	ck_assert_uint_eq(c->waits[QUEUED_WOKEN].sum, waited * MS);
	ck_assert_uint_eq(c->waits[QUEUED_WOKEN].max, max * MS);
}

START_TEST(cpus)
{
	struct sched *s = read_scene(0, 0);
	const struct series *busy;

	ck_assert_uint_eq(s->cpus.count, 2);
	check_cpu(s->cpus.items[0], 70, 30, 0, 6, 3, 7, 3);
	check_cpu(s->cpus.items[1], 32, 60, 8, 10, 4, 11, 5);
	ck_assert_uint_eq(s->cpus.items[0]->waits[QUEUED_PREEMPTED].max, 20 * MS);
	ck_assert_uint_eq(s->cpus.items[1]->waits[QUEUED_PREEMPTED].max, 5 * MS);
	busy = &s->cpus.items[0]->busy_when;
	ck_assert_double_eq_tol(series_sum(busy, AT(0), AT(100)), 70e6, 10);
	ck_assert_double_eq_tol(series_sum(busy, AT(35), AT(65)), 10e6, 0.4e6);
	ck_assert_double_eq_tol(series_sum(&s->cpus.items[1]->unknown_when, AT(80), AT(100)), 8e6,
				10);
	/* 10-30: load; 46-50: db-io; 55-60: evil; 57-60 and 78-80: load; ... */
	ck_assert_double_eq_tol(series_sum(&s->waiting_when, AT(0), AT(100)), 43e6, 10);
	sched_free(s);
}
END_TEST

static const struct sched_process *process(const struct sched *s, uint64_t id)
{
	for (size_t i = 0; i < s->processes.count; i++)
		if (s->processes.items[i].id == id)
			return &s->processes.items[i];
	ck_abort_msg("no process %u", (unsigned int)id);
	return NULL;
}

START_TEST(how_many_at_once)
{
	struct sched *s = read_scene(0, 0);

	ck_assert_uint_eq(s->at_once.done.count, 3);
	ck_assert_uint_eq(s->at_once.done.items[1], 62 * MS);
	ck_assert_uint_eq(s->at_once.done.items[2], 20 * MS);
	ck_assert_uint_eq(process(s, 1)->at_once.done.items[1], 35 * MS);
	ck_assert_uint_eq(process(s, 1)->at_once.done.items[2], 5 * MS);
	ck_assert_uint_eq(process(s, 2)->at_once.done.count, 2);
	ck_assert_uint_eq(process(s, 2)->at_once.done.items[1], 50 * MS);
	sched_free(s);
}
END_TEST

/* A range contains the parts of slices that lie in it; waits and switches belong to their end. */
START_TEST(a_range)
{
	struct sched *s = read_scene(20, 60);

	ck_assert_uint_eq(s->from, AT(20));
	ck_assert_uint_eq(s->to, AT(60));
	check_times(s, SCENE_LOAD, 10, 3, 10, 0, 0, 0, CLASSES(WAIT_SLEEP, 17, ));
	check_times(s, SCENE_DB, 10, 0, 0, 0, 0, 0, CLASSES(WAIT_LOCK, 30, ));
	check_times(s, SCENE_EVIL, 0, 5, 0, 35, 0, 0, CLASSES());
	check_counts(s, SCENE_LOAD, 1, 0, 1, 0, 0, 20);
	check_counts(s, SCENE_DB_IO, 1, 0, 1, 1, 4, 0);
	check_cpu(s->cpus.items[0], 20, 20, 0, 2, 0, 0, 0);
	check_cpu(s->cpus.items[1], 15, 25, 0, 3, 2, 5, 4);
	ck_assert_uint_eq(s->at_once.done.items[2], 5 * MS);
	ck_assert_uint_eq(s->at_once.done.items[1], 25 * MS);
	sched_free(s);
}
END_TEST

START_TEST(a_range_beyond_the_end)
{
	struct sched *s = read_scene(90, 500);

	ck_assert_uint_eq(s->to, AT(100));
	check_times(s, SCENE_DB, 0, 0, 0, 0, 0, 8, CLASSES(WAIT_PIPE, 2, ));
	sched_free(s);
	s = read_scene(200, 300);
	ck_assert_uint_eq(s->to, s->from);
	ck_assert_uint_eq(sched_life(&s->times), 0);
	sched_free(s);
}
END_TEST

/* CPU 1 has records only after 5 ms, and the recording has no end time. */
static void late_build(struct scene *s, const void *unused)
{
	(void)unused;
	scene_host(s, .id = 1, .start = AT(0));
	SCENE_PUT_ALL(s, THREAD, sched_scene_threads);
	SCENE_PUT_ALL(s, LANE, sched_scene_lanes);
	scene_slice(s, AT(5), AT(10), SCENE_CPU_1, STATE_RUNNING, SCENE_DB, STATE_SLEEPING,
		    WAIT_IO);
	scene_slice(s, AT(0), AT(12), SCENE_CPU_0, STATE_RUNNING, SCENE_LOAD, 0, 0);
}

START_TEST(a_killed_recording)
{
	struct scene_source late = SCENE_OF(late_build, NULL);
	struct sched_query q = {0};
	struct sched *s = NULL;
	struct error err;

	ck_assert_int_eq(sched_read(&s, &late.source, &q, &err), 0);
	ck_assert_uint_eq(s->to - s->from, 12 * MS);
	check_cpu(s->cpus.items[0], 12, 0, 0, 0, 0, 0, 0);
	check_cpu(s->cpus.items[1], 5, 0, 0, 1, 0, 0, 0);
	ck_assert_uint_eq(s->at_once.done.items[1], 7 * MS);
	ck_assert_uint_eq(s->at_once.done.items[2], 5 * MS);
	check_times(s, SCENE_DB, 5, 0, 0, 0, 0, 0, CLASSES(WAIT_IO, 2, ));
	sched_free(s);
}
END_TEST

/* A program executes another: the slice ends, but the thread stays on the CPU. */
static void renamed_build(struct scene *s, const void *unused)
{
	static const struct scene_step steps[] = {
		LINKED(2, LANE_OF(SCENE_LOAD), LANE_OF(SCENE_DB), EDGE_WAKEUP, 1),
		RAN(SCENE_CPU_0, 0, 5, SCENE_LOAD, STATE_RUNNING, 0),
		LINKED(6, LANE_OF(SCENE_LOAD), LANE_OF(SCENE_DB), EDGE_WAKEUP, 1),
		RAN(SCENE_CPU_0, 5, 8, 9, STATE_SLEEPING, WAIT_PIPE),
		CPU_WAS(SCENE_CPU_0, 8, 20, STATE_IDLE),
	};

	(void)unused;
	scene_host(s, .id = 1, .start = AT(0), .end = AT(20));
	SCENE_PUT_ALL(s, THREAD, sched_scene_threads);
	scene_thread(s, 9, 9, 200, AT(5), 0, "gcc", LANE_OF(SCENE_LOAD), 0, "");
	SCENE_PUT_ALL(s, LANE, sched_scene_lanes);
	for (size_t i = 0; i < SCENE_COUNT(steps); i++)
		scene_step(s, &steps[i]);
}

START_TEST(a_new_name)
{
	struct scene_source renamed = SCENE_OF(renamed_build, NULL);
	struct sched_query q = {0};
	struct sched *s = NULL;
	struct error err;

	ck_assert_int_eq(sched_read(&s, &renamed.source, &q, &err), 0);
	ck_assert_uint_eq(s->disorder, 0);
	check_times(s, SCENE_LOAD, 5, 0, 0, 0, 0, 0, CLASSES());
	check_times(s, 9, 3, 0, 0, 0, 0, 0, CLASSES(WAIT_PIPE, 12, ));
	check_counts(s, SCENE_LOAD, 0, 0, 0, 1, 0, 0);
	check_counts(s, 9, 1, 0, 0, 1, 0, 0);
	ck_assert_uint_eq(s->cpus.items[0]->switches, 1);
	ck_assert_uint_eq(s->at_once.done.items[1], 8 * MS);
	sched_free(s);
}
END_TEST

static bool is_db(const void *context, const struct thread *t)
{
	return t->id == *(const uint64_t *)context;
}

/* Sums of CPUs and the machine cover all threads; processes and pairs only requested ones. */
START_TEST(only_some_threads)
{
	const uint64_t db = SCENE_DB;
	struct sched_query q = {.selected = is_db, .context = &db};
	struct sched *s = NULL;
	struct error err;

	ck_assert_int_eq(sched_read(&s, sched_scene_source(), &q, &err), 0);
	ck_assert_uint_eq(s->cpus.items[0]->busy, 70 * MS);
	ck_assert_uint_eq(s->counts.wakeups, 7);
	ck_assert_uint_eq(process(s, 1)->waits[QUEUED_WOKEN].count, 2);
	ck_assert_uint_eq(process(s, 1)->at_once.done.count, 2);
	ck_assert_uint_eq(process(s, 1)->at_once.done.items[1], 30 * MS);
	ck_assert_uint_eq(process(s, 2)->waits[QUEUED_WOKEN].count, 0);
	/* timer and block device woke db, and db woke db-io */
	ck_assert_uint_eq(s->wakes.count, 3);
	sched_free(s);
}
END_TEST

static struct sched_rows rows_of(const struct sched *s, enum group_by by, struct profile **p,
				 struct sched_names *n)
{
	struct sched_rows rows;
	struct error err;

	ck_assert_int_eq(profile_read(p, sched_scene_source(), NULL, &err), 0);
	ck_assert_int_eq(sched_names_of(n, *p), 0);
	ck_assert_int_eq(sched_rows_of(&rows, s, n, by), 0);
	return rows;
}

static const char *name_of(const struct sched_rows *r, uint32_t waker)
{
	return waker < r->list.count ? r->list.items[waker].name : sched_interrupt_name(waker);
}

static uint64_t woke(const struct sched_rows *r, const char *by, const char *of)
{
	for (size_t i = 0; i < r->wakes.count; i++)
		if (!strcmp(name_of(r, r->wakes.items[i].from), by) &&
		    !strcmp(name_of(r, r->wakes.items[i].to), of))
			return r->wakes.items[i].count;
	return 0;
}

START_TEST(rows_by_process)
{
	struct sched *s = read_scene(0, 0);
	struct sched_names names;
	struct profile *p;
	struct sched_rows rows = rows_of(s, GROUP_PROCESS, &p, &names);
	const struct sched_row *r = &rows.list.items[rows.order.items[0]];

	ck_assert_uint_eq(rows.order.count, 4);
	/* load ran 50 and waited 25, db's threads ran 45 and waited 8 */
	ck_assert_str_eq(r->name, "load");
	r = &rows.list.items[rows.order.items[1]];
	ck_assert_str_eq(r->name, "db");
	ck_assert_uint_eq(r->threads, 2);
	ck_assert_uint_eq(r->processes, 1);
	ck_assert_uint_eq(r->times.running, 45 * MS);
	ck_assert_uint_eq(r->times.blocked[WAIT_LOCK], 100 * MS);
	ck_assert_uint_eq(r->waits[QUEUED_WOKEN].count, 4);
	ck_assert_uint_eq(r->waits[QUEUED_WOKEN].max, 4 * MS);
	ck_assert_uint_eq(r->at_once.items[2], 5 * MS);
	ck_assert_str_eq(name_of(&rows, r->waker), "[block device]");
	ck_assert_uint_eq(r->by_waker, 2);
	ck_assert_uint_eq(woke(&rows, "db", "db"), 1);
	ck_assert_uint_eq(woke(&rows, "[timer]", "load"), 2);
	sched_rows_free(&rows);
	sched_names_free(&names);
	profile_free(p);
	sched_free(s);
}
END_TEST

START_TEST(rows_by_thread)
{
	struct sched *s = read_scene(0, 0);
	struct sched_names names;
	struct profile *p;
	struct sched_rows rows = rows_of(s, GROUP_THREAD, &p, &names);

	ck_assert_uint_eq(rows.order.count, 5);
	ck_assert_uint_eq(rows.list.items[rows.order.items[4]].thread->id, SCENE_KWORKER);
	ck_assert_uint_eq(woke(&rows, "db", "db-io"), 1);
	ck_assert_uint_eq(woke(&rows, "db-io", "e\x1b[2Jvil;\n\xff"), 1);
	ck_assert_uint_eq(woke(&rows, "[block device]", "db-io"), 1);
	ck_assert_uint_eq(rows.wakes.items[0].count, 2);
	sched_rows_free(&rows);
	sched_names_free(&names);
	profile_free(p);
	sched_free(s);
}
END_TEST

SUITE("sched", times_of_threads, counts_of_threads, cpus, how_many_at_once, a_range,
      a_range_beyond_the_end, a_killed_recording, a_new_name, only_some_threads, rows_by_process,
      rows_by_thread)
