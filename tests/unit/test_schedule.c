// SPDX-License-Identifier: Apache-2.0
/*
 * schedule.c: from records of switches to slices and edges. Plain memory stands in for the arrays
 * of the BPF programs: this file implements switches.h.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "capture/clock.h"
#include "capture/schedule.h"
#include "process_stubs.h"
#include "suite.h"

#define CPUS 2
#define MOST 512

struct switches {
	struct wire_switch records[CPUS][MOST];
	size_t count[CPUS], taken[CPUS];
	uint64_t lost[CPUS]; /* reported at the next copying */
	size_t most; /* most records copied at once */
};

static struct switches array;

static uint64_t rounded(uint64_t time)
{
	return time / SCHEDULE_RESOLUTION * SCHEDULE_RESOLUTION;
}

unsigned int switches_cpus(const struct switches *s)
{
	(void)s;
	return CPUS;
}

void switches_take(struct switches *s, unsigned int cpu, size_t most, struct switch_batch *out)
{
	size_t left = s->count[cpu] - s->taken[cpu];
	size_t count = left < most ? left : most;

	if (count > s->most)
		count = s->most;
	memcpy(out->records, s->records[cpu] + s->taken[cpu], count * sizeof(*out->records));
	s->taken[cpu] += count;
	out->count = count;
	out->lost = s->lost[cpu];
	s->lost[cpu] = 0;
	out->more = s->taken[cpu] < s->count[cpu];
}

/* Records that the schedule has written. */
static struct {
	struct sink sink;
	struct slice slices[MOST];
	struct edge edges[MOST];
	struct lane lanes[MOST];
	struct loss losses[MOST];
	size_t slice_count, edge_count, lane_count, loss_count;
	uint64_t last; /* time in the order of the records */
} kept;

static void in_order(uint64_t time)
{
	ck_assert_uint_ge(time, kept.last);
	kept.last = time;
}

static int keep(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	(void)s;
	(void)err;
	if (kind == KIND_SLICE) {
		kept.slices[kept.slice_count++] = *(const struct slice *)record;
		in_order(slice_order(record));
	} else if (kind == KIND_EDGE) {
		kept.edges[kept.edge_count++] = *(const struct edge *)record;
		in_order(((const struct edge *)record)->time);
	} else if (kind == KIND_LANE) {
		kept.lanes[kept.lane_count++] = *(const struct lane *)record;
	} else if (kind == KIND_LOSS) {
		kept.losses[kept.loss_count++] = *(const struct loss *)record;
	}
	return 0;
}

static const struct sink_ops keep_ops = {.put = keep};

/* The recording under test; stamps count from its beginning, which is now. */
static struct {
	struct process_table *table;
	struct switch_order *order;
	struct schedule *schedule;
	uint64_t begin, last_lane, last_loss;
	uint32_t unwanted; /* a thread that is not selected */
	struct {
		uint64_t time;
		struct life_record life;
	} lives[8]; /* records of other rings, in order */
	size_t life_count, life_done;
} run;

/* Handle the records of other rings up to a time, ns. */
static void live_until(uint64_t time)
{
	for (; run.life_done < run.life_count && run.lives[run.life_done].time <= time;
	     run.life_done++) {
		const struct life_record *l = &run.lives[run.life_done].life;
		uint64_t at = run.lives[run.life_done].time;

		ck_assert_int_eq(process_table_life(run.table, l, at, NULL), 0);
		if (l->kind == LIFE_COMM)
			ck_assert_int_eq(schedule_renamed(run.schedule, l->tid, at, NULL), 0);
	}
}

/* Handle the switches up to mark, ns, and before each the records of other rings. */
static void release(uint64_t mark)
{
	struct switch_record r;
	uint64_t time;

	while ((time = switch_order_next_time(run.order)) != UINT64_MAX && time <= mark) {
		live_until(time);
		switch_order_release(run.order, &r);
		ck_assert_int_eq(schedule_record(run.schedule, &r, NULL), 0);
	}
}

static bool wanted(void *context, const struct process_entry *p, const struct thread_entry *t)
{
	(void)context;
	(void)p;
	return t->tid != run.unwanted;
}

static void unknown(void *context, uint32_t tid)
{
	(void)context;
	(void)tid;
}

/* The events by which threads begin to wait for monitors. */
static struct {
	unsigned int count;
	uint32_t tids[8];
	uint64_t classes[8];
} monitors;

static int on_event(void *context, const struct schedule_event *t, struct error *err)
{
	(void)context;
	(void)err;
	if (t->kind != THREAD_LEAVES || t->lock != WIRE_LOCK_MONITOR)
		return 0;
	ck_assert_uint_lt(monitors.count, 8);
	monitors.tids[monitors.count] = t->thread->tid;
	monitors.classes[monitors.count++] = t->class;
	return 0;
}

static void begin_with_cpus(bool online)
{
	struct process_context table = {
		.sink = &kept.sink,
		.host = 1,
		.last_lane = &run.last_lane,
		.cgroup_path = no_text,
		.place = no_process_place,
	};
	struct schedule_context schedule = {
		.cpus = CPUS,
		.sink = &kept.sink,
		.host = 1,
		.last_lane = &run.last_lane,
		.last_loss = &run.last_loss,
		.wanted = wanted,
		.unknown = unknown,
		.on_event = on_event,
		.waits = true,
	};

	memset(&kept, 0, sizeof(kept));
	memset(&array, 0, sizeof(array));
	memset(&run, 0, sizeof(run));
	array.most = MOST;
	kept.sink = (struct sink){&keep_ops, WANT_ALL};
	/* far enough in the past for all stamps of a test */
	run.begin = rounded(clock_boot_ns() - NSEC_PER_SEC);
	ck_assert_int_eq(process_table_new(&run.table, &table, NULL), 0);
	schedule.table = run.table;
	run.order = switch_order_new(&array);
	ck_assert_ptr_nonnull(run.order);
	ck_assert_int_eq(schedule_new(&run.schedule, &schedule, NULL), 0);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		ck_assert_int_eq(schedule_cpu_begins(run.schedule, cpu, run.begin, online, NULL),
				 0);
}

static void begin(void)
{
	begin_with_cpus(true);
}

static void over(void)
{
	schedule_free(run.schedule);
	switch_order_free(run.order);
	process_table_free(run.table);
}

/* Release all records, and end the recording at a time (us after its beginning). */
static void end(uint64_t us)
{
	do {
		ck_assert_int_eq(switch_order_copy(run.order), 0);
		release(UINT64_MAX);
	} while (switch_order_has_more(run.order));
	ck_assert_int_eq(schedule_end(run.schedule, run.begin + us * 1000, NULL), 0);
}

static void record(unsigned int cpu, uint64_t us, enum wire_switch_kind kind, unsigned int how,
		   unsigned int detail, uint64_t first, uint64_t second, uint64_t number)
{
	struct wire_switch *r = &array.records[cpu][array.count[cpu]++];
	uint64_t time = run.begin + us * 1000;

	r->head = (time & ((1ULL << WIRE_TIME_BITS) - 1)) | (uint64_t)kind << WIRE_TIME_BITS |
		  (uint64_t)how << (WIRE_TIME_BITS + 4) | (uint64_t)detail << (WIRE_TIME_BITS + 8);
	r->body = first | second << WIRE_TID_BITS | number << 2 * WIRE_TID_BITS;
}

static void leave(unsigned int cpu, uint64_t us, uint32_t previous, enum wire_state state,
		  uint32_t next_tid)
{
	record(cpu, us, WIRE_SWITCH, state, 0, next_tid, previous, 0);
}

static void is_slice(size_t i, uint64_t from, uint64_t to, uint64_t lane, enum slice_state state,
		     uint64_t value, enum slice_state left)
{
	const struct slice *s = &kept.slices[i];

	ck_assert_uint_lt(i, kept.slice_count);
	ck_assert_uint_eq(s->time, run.begin + rounded(from * 1000));
	ck_assert_uint_eq(s->end, run.begin + rounded(to * 1000));
	ck_assert_uint_eq(s->lane, lane);
	ck_assert_uint_eq(s->state, state);
	ck_assert_uint_eq(s->value, value);
	ck_assert_uint_eq(s->left, left);
}

static void is_edge(size_t i, uint64_t us, enum edge_kind kind, uint64_t from, uint64_t to,
		    uint64_t value)
{
	const struct edge *e = &kept.edges[i];

	ck_assert_uint_lt(i, kept.edge_count);
	ck_assert_uint_eq(e->time, run.begin + rounded(us * 1000));
	ck_assert_uint_eq(e->kind, kind);
	ck_assert_uint_eq(e->from, from);
	ck_assert_uint_eq(e->to, to);
	ck_assert_uint_eq(e->value, value);
}

START_TEST(slices_tile)
{
	begin();
	leave(0, 100, 11, WIRE_SLEEPING, 12);
	leave(0, 250, 12, WIRE_PREEMPTED, 0);
	leave(0, 300, 0, WIRE_RUNNABLE, 12);
	end(400);
	ck_assert_uint_eq(kept.slice_count, 5);
	is_slice(0, 0, 100, 1, STATE_RUNNING, 1, STATE_SLEEPING);
	is_slice(1, 100, 250, 1, STATE_RUNNING, 2, STATE_PREEMPTED);
	is_slice(2, 250, 300, 1, STATE_IDLE, 0, STATE_NONE);
	is_slice(3, 300, 400, 1, STATE_RUNNING, 2, STATE_NONE);
	is_slice(4, 0, 400, 2, STATE_IDLE, 0, STATE_NONE);
	over();
}
END_TEST

START_TEST(wake_ups_know_who_and_where)
{
	begin();
	record(0, 10, WIRE_WAKING, WIRE_BY_TASK, 0, 12, 11, 0);
	record(0, 20, WIRE_WAKING, WIRE_BY_TASK, 0, 12, 11, 0);
	record(0, 20, WIRE_MIGRATE, 0, 0, 12, 0, 1);
	record(0, 30, WIRE_WAKING, WIRE_BY_TIMER, 0, 12, 11, 1);
	record(0, 40, WIRE_NEW, WIRE_BY_TASK, 0, 13, 11, 1);
	record(0, 50, WIRE_WAKING, WIRE_BY_TASK, 0, 12, 0, 0);
	record(1, 60, WIRE_MIGRATE, 0, 0, 12, 1, 0);
	end(100);
	ck_assert_uint_eq(kept.edge_count, 6);
	is_edge(0, 10, EDGE_WAKEUP, 4, 3, 1);
	is_edge(1, 20, EDGE_WAKEUP, 4, 3, 2);
	/* woken by an interrupt, not by the interrupted thread */
	is_edge(2, 30, EDGE_WAKEUP, 5, 3, 2);
	is_edge(3, 40, EDGE_FORK, 4, 6, 2);
	is_edge(4, 50, EDGE_WAKEUP, 7, 3, 1); /* nor by the idle thread */
	is_edge(5, 60, EDGE_MIGRATION, 2, 1, 1);
	ck_assert_uint_eq(kept.lanes[4].kind, LANE_INTERRUPT);
	ck_assert_uint_eq(kept.lanes[4].parent, 1);
	ck_assert_uint_eq(kept.lanes[4].number, INTERRUPT_TIMER);
	over();
}
END_TEST

START_TEST(cpus_are_merged)
{
	begin();
	array.most = 3; /* several rounds */
	for (uint64_t i = 0; i < 100; i++) {
		leave(0, 10 + 7 * i, i % 2 ? 11 : 12, WIRE_SLEEPING, i % 2 ? 12 : 11);
		leave(1, 10 + 5 * i, i % 2 ? 21 : 22, WIRE_SLEEPING, i % 2 ? 22 : 21);
	}
	/* one round of a recorder: up to the mark */
	ck_assert_int_eq(switch_order_copy(run.order), 0);
	release(switch_order_mark(run.order));
	ck_assert(switch_order_has_more(run.order));
	array.most = MOST;
	end(1000); /* keep() has checked the order */
	ck_assert_uint_eq(kept.slice_count, 202);
	over();
}
END_TEST

START_TEST(a_loss_is_a_hole)
{
	begin();
	leave(0, 100, 11, WIRE_SLEEPING, 12);
	ck_assert_int_eq(switch_order_copy(run.order), 0);
	array.lost[0] = 1234;
	record(0, 500, WIRE_WAKING, WIRE_BY_TASK, 0, 12, 11, 0);
	leave(0, 600, 13, WIRE_SLEEPING, 14);
	end(700);
	ck_assert(schedule_take_snapshot_due(run.schedule));
	ck_assert(!schedule_take_snapshot_due(run.schedule));
	/* thread 12 began to run at 100, and nothing more is known of it */
	is_slice(0, 0, 100, 1, STATE_RUNNING, 1, STATE_SLEEPING);
	is_slice(1, 100, 600, 1, STATE_UNKNOWN, 0, STATE_NONE);
	is_slice(2, 600, 700, 1, STATE_RUNNING, 4, STATE_NONE);
	ck_assert_uint_eq(kept.loss_count, 1);
	ck_assert_uint_eq(kept.losses[0].count, 1234);
	/* loss ids are unique among all sources of losses */
	ck_assert_uint_eq(kept.losses[0].id, 1);
	ck_assert_uint_eq(run.last_loss, 1);
	ck_assert_uint_eq(kept.losses[0].reason, LOSS_SWITCHES_LOST);
	ck_assert_uint_eq(kept.losses[0].cpu, 1);
	over();
}
END_TEST

START_TEST(a_new_name_divides_a_slice)
{
	begin();
	leave(0, 100, 0, WIRE_RUNNABLE, 11);
	run.lives[run.life_count].time = run.begin + 200000;
	run.lives[run.life_count++].life = (struct life_record){
		.kind = LIFE_COMM, .pid = 11, .tid = 11, .text = "new", .exec = 1};
	leave(0, 300, 11, WIRE_DEAD, 0);
	end(400);
	is_slice(0, 0, 100, 1, STATE_IDLE, 0, STATE_NONE);
	is_slice(1, 100, 200, 1, STATE_RUNNING, 1, STATE_RUNNING);
	is_slice(2, 200, 300, 1, STATE_RUNNING, 2, STATE_DEAD);
	over();
}
END_TEST

START_TEST(others_have_no_names)
{
	begin();
	run.unwanted = 12;
	leave(0, 100, 11, WIRE_SLEEPING, 12);
	leave(0, 200, 12, WIRE_SLEEPING, 11);
	record(0, 250, WIRE_WAKING, WIRE_BY_TASK, 0, 12, 11, 0);
	/* the BPF programs omit switches between unselected threads */
	record(0, 300, WIRE_SWITCH, WIRE_SLEEPING, WIRE_NEXT_UNSELECTED, 13, 11, 0);
	run.lives[run.life_count++].time = run.begin + 350000;
	run.lives[0].life =
		(struct life_record){.kind = LIFE_COMM, .pid = 13, .tid = 13, .text = "new"};
	record(0, 400, WIRE_SWITCH, WIRE_SLEEPING, WIRE_PREV_UNSELECTED, 11, 15, 0);
	end(500);
	is_slice(0, 0, 100, 1, STATE_RUNNING, 1, STATE_SLEEPING);
	is_slice(1, 100, 200, 1, STATE_RUNNING, 0, STATE_NONE);
	is_slice(2, 200, 300, 1, STATE_RUNNING, 1, STATE_SLEEPING);
	is_slice(3, 300, 400, 1, STATE_RUNNING, 0, STATE_NONE);
	is_slice(4, 400, 500, 1, STATE_RUNNING, 1, STATE_NONE);
	ck_assert_uint_eq(kept.edge_count, 0);
	over();
}
END_TEST

/* Switches between two unselected threads are omitted, those from and to an idle CPU are not. */
START_TEST(others_and_idle_are_told_apart)
{
	struct wire_task other = {.pid = 21,
				  .tid = 21,
				  .cpu = 1,
				  .state = WIRE_RUNNING,
				  .flags = WIRE_PREV_UNSELECTED};
	const unsigned int both = WIRE_PREV_UNSELECTED | WIRE_NEXT_UNSELECTED;

	begin();
	other.time = run.begin + 1;
	ck_assert_int_eq(schedule_task_found(run.schedule, &other, NULL), 0);
	record(0, 100, WIRE_SWITCH, WIRE_SLEEPING, WIRE_NEXT_UNSELECTED, 0, 11, 0);
	record(0, 200, WIRE_SWITCH, WIRE_RUNNABLE, both, 13, 0, 0);
	record(0, 300, WIRE_SWITCH, WIRE_SLEEPING, both, 0, 15, 0);
	record(0, 400, WIRE_SWITCH, WIRE_RUNNABLE, WIRE_PREV_UNSELECTED, 11, 0, 0);
	end(500);
	is_slice(0, 0, 100, 1, STATE_RUNNING, 1, STATE_SLEEPING);
	is_slice(1, 100, 200, 1, STATE_IDLE, 0, STATE_NONE);
	is_slice(2, 200, 300, 1, STATE_RUNNING, 0, STATE_NONE);
	is_slice(3, 300, 400, 1, STATE_IDLE, 0, STATE_NONE);
	is_slice(4, 400, 500, 1, STATE_RUNNING, 1, STATE_NONE);
	is_slice(5, 0, 500, 2, STATE_RUNNING, 0, STATE_NONE);
	over();
}
END_TEST

START_TEST(a_snapshot_tells_what_no_record_has)
{
	struct wire_task asleep = {.pid = 31, .tid = 31, .call = 0, .state = WIRE_SLEEPING};
	struct wire_task running = {.pid = 41, .tid = 41, .cpu = 1, .state = WIRE_RUNNING};
	struct wire_task seen = {.pid = 11, .tid = 11, .state = WIRE_SLEEPING};

	begin();
	leave(0, 1, 11, WIRE_SLEEPING, 0);
	ck_assert_int_eq(switch_order_copy(run.order), 0);
	release(run.begin + 2000);
	asleep.time = running.time = seen.time = run.begin + 3000;
	ck_assert_int_eq(schedule_task_found(run.schedule, &asleep, NULL), 0);
	ck_assert_int_eq(schedule_task_found(run.schedule, &running, NULL), 0);
	ck_assert_int_eq(schedule_task_found(run.schedule, &seen, NULL), 0);
	end(500);
	ck_assert_uint_eq(kept.slice_count, 4);
	ck_assert_uint_eq(kept.slices[1].end, 0); /* open: a snapshot saw this state */
	ck_assert_uint_eq(kept.slices[1].state, STATE_SLEEPING);
	ck_assert_uint_eq(kept.slices[1].wait, WAIT_FAULT);
	is_slice(2, 1, 500, 1, STATE_IDLE, 0, STATE_NONE);
	ck_assert_uint_eq(kept.slices[3].state, STATE_RUNNING);
	ck_assert_uint_eq(kept.slices[3].lane, 2);
	over();
}
END_TEST

START_TEST(a_clock_that_jumps_is_counted)
{
	begin();
	leave(0, 100, 11, WIRE_SLEEPING, 12);
	leave(0, 50, 12, WIRE_SLEEPING, 11);
	leave(0, 200, 11, WIRE_SLEEPING, 12);
	record(0, 250, 9, 0, 0, 11, 12, 0); /* an unknown kind of record */
	end(300);
	ck_assert_uint_eq(schedule_counts(run.schedule)->disorder, 2);
	for (size_t i = 0; i < kept.slice_count; i++)
		ck_assert_uint_lt(kept.slices[i].time, kept.slices[i].end);
	over();
}
END_TEST

/* The CPU is found offline at 250, and is back online before its last records are read. */
START_TEST(a_cpu_may_go_and_come)
{
	begin();
	leave(0, 100, 0, WIRE_RUNNABLE, 11);
	leave(0, 110, 11, WIRE_SLEEPING, 0);
	schedule_cpu_gone(run.schedule, 0, run.begin + 250000);
	leave(0, 300, 0, WIRE_RUNNABLE, 11);
	leave(0, 310, 11, WIRE_SLEEPING, 0);
	end(400);
	is_slice(0, 0, 100, 1, STATE_IDLE, 0, STATE_NONE);
	is_slice(1, 100, 110, 1, STATE_RUNNING, 1, STATE_SLEEPING);
	is_slice(2, 110, 300, 1, STATE_OFFLINE, 0, STATE_NONE);
	is_slice(3, 300, 310, 1, STATE_RUNNING, 1, STATE_SLEEPING);
	is_slice(4, 310, 400, 1, STATE_IDLE, 0, STATE_NONE);
	over();
}
END_TEST

START_TEST(a_cpu_may_come_late_or_never)
{
	begin();
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		schedule_cpu_begins(run.schedule, cpu, run.begin, false, NULL);
	leave(1, 300, 0, WIRE_RUNNABLE, 11);
	end(400);
	ck_assert_uint_eq(kept.slice_count, 3);
	is_slice(0, 0, 300, 2, STATE_OFFLINE, 0, STATE_NONE);
	is_slice(1, 0, 400, 1, STATE_OFFLINE, 0, STATE_NONE);
	is_slice(2, 300, 400, 2, STATE_RUNNING, 1, STATE_NONE);
	over();
}
END_TEST

/* All slices have a lane, also if the first record of a CPU comes after lost ones. */
START_TEST(a_cpu_may_come_with_a_loss)
{
	begin_with_cpus(false);
	array.lost[1] = 5;
	leave(1, 300, 0, WIRE_RUNNABLE, 11);
	end(400);
	ck_assert_uint_ge(kept.slice_count, 2);
	for (size_t i = 0; i < kept.slice_count; i++)
		ck_assert_uint_ne(kept.slices[i].lane, 0);
	over();
	begin_with_cpus(false);
	leave(1, 300, 12, WIRE_RUNNABLE, 11); /* the switch to thread 12 is missing */
	end(400);
	ck_assert_uint_eq(schedule_counts(run.schedule)->unreported, 1);
	for (size_t i = 0; i < kept.slice_count; i++)
		ck_assert_uint_ne(kept.slices[i].lane, 0);
	over();
}
END_TEST

static void is_seen(size_t i, uint64_t us, uint64_t lane, enum slice_state state, uint64_t since)
{
	const struct slice *s = &kept.slices[i];

	ck_assert_uint_lt(i, kept.slice_count);
	ck_assert_uint_eq(s->time, run.begin + rounded(us * 1000));
	ck_assert_uint_eq(s->end, 0);
	ck_assert_uint_eq(s->lane, lane);
	ck_assert_uint_eq(s->state, state);
	ck_assert_uint_eq(s->value, run.begin + rounded(since * 1000));
}

/* The fork of the second thread and the end of the first one are missing. */
START_TEST(a_number_used_again_has_another_lane)
{
	struct wire_task first = {.pid = 31, .tid = 31, .born = 1, .state = WIRE_SLEEPING};
	struct wire_task second = {.pid = 31, .tid = 31, .state = WIRE_SLEEPING};

	begin();
	first.time = run.begin + 1000;
	second.time = run.begin + 2000;
	second.born = run.begin + 1500;
	ck_assert_int_eq(schedule_task_found(run.schedule, &first, NULL), 0);
	ck_assert_int_eq(schedule_task_found(run.schedule, &second, NULL), 0);
	ck_assert_uint_eq(kept.slice_count, 2);
	ck_assert_uint_ne(kept.slices[0].lane, kept.slices[1].lane);
	over();
}
END_TEST

/* Some kernels report that a thread begins to run, but not that it leaves. */
START_TEST(a_switch_may_not_be_told)
{
	begin();
	leave(0, 100, 11, WIRE_SLEEPING, 12);
	leave(0, 200, 13, WIRE_SLEEPING, 0);
	leave(0, 300, 14, WIRE_DISK, 11);
	end(400);
	ck_assert_uint_eq(schedule_counts(run.schedule)->unreported, 2);
	is_slice(0, 0, 100, 1, STATE_RUNNING, 1, STATE_SLEEPING);
	is_slice(1, 100, 200, 1, STATE_UNKNOWN, 2, STATE_NONE);
	is_seen(2, 200, 4, STATE_UNKNOWN, 100);
	is_seen(3, 200, 5, STATE_SLEEPING, 100);
	is_slice(4, 200, 300, 1, STATE_UNKNOWN, 4, STATE_NONE);
	is_seen(5, 300, 6, STATE_DISK, 200);
	is_slice(6, 300, 400, 1, STATE_RUNNING, 1, STATE_NONE);
	over();
}
END_TEST

static void last_wait_is(uint32_t tid, uint64_t us, uint64_t left, uint64_t woken)
{
	struct found_wait w;

	ck_assert_int_eq(schedule_find_wait(run.schedule, tid, run.begin + us * 1000, &w, NULL), 0);
	ck_assert_uint_eq(w.left, left ? run.begin + left * 1000 : 0);
	ck_assert_uint_eq(w.woken, woken ? run.begin + woken * 1000 : 0);
}

/* A stack that was chosen for one wait is not given to another one. */
START_TEST(a_thread_woken_twice_has_waited_unseen)
{
	begin();
	leave(0, 100, 11, WIRE_SLEEPING, 12);
	record(0, 150, WIRE_WAKING, WIRE_BY_TASK, 0, 11, 12, 0);
	end(400);
	last_wait_is(11, 160, 100, 150);
	last_wait_is(12, 160, 0, 0);
	over();
	begin();
	leave(0, 100, 11, WIRE_SLEEPING, 12);
	record(0, 150, WIRE_WAKING, WIRE_BY_TASK, 0, 11, 12, 0);
	record(0, 250, WIRE_WAKING, WIRE_BY_TASK, 0, 11, 12, 0);
	end(400);
	last_wait_is(11, 260, 0, 0);
	over();
	begin();
	leave(0, 100, 11, WIRE_SLEEPING, 12);
	record(0, 150, WIRE_WAKING, WIRE_BY_TASK, 0, 11, 12, 0);
	record(0, 250, WIRE_WAKING, WIRE_BY_TASK, 0, 11, 12, 0);
	leave(0, 300, 11, WIRE_SLEEPING, 12);
	record(0, 350, WIRE_WAKING, WIRE_BY_TIMER, 0, 11, 12, 0);
	end(400);
	last_wait_is(11, 360, 300, 350);
	over();
}
END_TEST

/* The same where only thread 11 is selected: every switch from or to it should be there. */
START_TEST(a_switch_of_a_selected_thread_may_be_missing)
{
	begin();
	record(0, 100, WIRE_SWITCH, WIRE_SLEEPING, WIRE_NEXT_UNSELECTED, 20, 11, 0);
	record(0, 250, WIRE_WAKING, WIRE_BY_TASK, 0, 11, 20, 0);
	/* the switch from thread 20 or a later one to thread 11 is missing */
	record(0, 300, WIRE_SWITCH, WIRE_DISK, WIRE_NEXT_UNSELECTED, 21, 11, 0);
	record(0, 400, WIRE_SWITCH, WIRE_SLEEPING, WIRE_PREV_UNSELECTED, 11, 22, 0);
	/* the switch from thread 11 to thread 23 is missing */
	record(0, 500, WIRE_SWITCH, WIRE_SLEEPING, WIRE_PREV_UNSELECTED, 11, 23, 0);
	end(600);
	ck_assert_uint_eq(schedule_counts(run.schedule)->unreported, 2);
	is_slice(0, 0, 100, 1, STATE_RUNNING, 1, STATE_SLEEPING);
	is_slice(1, 100, 300, 1, STATE_UNKNOWN, 1, STATE_NONE);
	is_seen(2, 300, 3, STATE_DISK, 100);
	is_slice(3, 300, 400, 1, STATE_RUNNING, 0, STATE_NONE);
	is_slice(4, 400, 500, 1, STATE_UNKNOWN, 1, STATE_NONE);
	is_seen(5, 500, 3, STATE_UNKNOWN, 400);
	is_slice(6, 500, 600, 1, STATE_RUNNING, 1, STATE_NONE);
	over();
}
END_TEST

static void enter(unsigned int cpu, uint64_t us, uint32_t previous, uint64_t class)
{
	if (class) {
		record(cpu, us, WIRE_MONITOR, 0, 0, 0, 0, 0);
		array.records[cpu][array.count[cpu] - 1].body = class;
	}
	record(cpu, us, WIRE_SWITCH, WIRE_SLEEPING, 0, 0, previous,
	       WIRE_CALL(1 + SYS_futex, WIRE_LOCK_MONITOR));
}

/* A class belongs to the switch directly after it, on the same CPU, if that is not lost. */
START_TEST(classes_of_monitors)
{
	begin();
	memset(&monitors, 0, sizeof(monitors));
	enter(0, 100, 11, UINT64_MAX);
	enter(1, 100, 21, 7ULL << WIRE_CLASS_BITS | 0x5000);
	record(0, 200, WIRE_SWITCH, WIRE_RUNNABLE, 0, 12, 0, 0);
	enter(0, 300, 12, 0);
	record(0, 400, WIRE_MONITOR, 0, 0, 1, 1, 1);
	ck_assert_int_eq(switch_order_copy(run.order), 0);
	array.lost[0] = 5;
	record(0, 600, WIRE_SWITCH, WIRE_RUNNABLE, 0, 13, 0, 0);
	enter(0, 700, 13, 0);
	end(800);
	ck_assert_uint_eq(schedule_counts(run.schedule)->disorder, 0);
	ck_assert_uint_eq(monitors.count, 4);
	ck_assert_uint_eq(monitors.tids[0] + monitors.tids[1], 11 + 21);
	ck_assert_uint_eq(monitors.classes[monitors.tids[0] != 11], UINT64_MAX);
	ck_assert_uint_eq(monitors.classes[monitors.tids[0] == 11],
			  7ULL << WIRE_CLASS_BITS | 0x5000);
	ck_assert_uint_eq(monitors.tids[2], 12);
	ck_assert_uint_eq(monitors.classes[2], 0);
	ck_assert_uint_eq(monitors.tids[3], 13);
	ck_assert_uint_eq(monitors.classes[3], 0);
	over();
}
END_TEST

SUITE("schedule", classes_of_monitors, a_switch_of_a_selected_thread_may_be_missing,
      a_number_used_again_has_another_lane, a_switch_may_not_be_told,
      a_thread_woken_twice_has_waited_unseen, slices_tile, wake_ups_know_who_and_where,
      cpus_are_merged, a_loss_is_a_hole, a_new_name_divides_a_slice, others_have_no_names,
      others_and_idle_are_told_apart, a_snapshot_tells_what_no_record_has,
      a_clock_that_jumps_is_counted, a_cpu_may_go_and_come, a_cpu_may_come_late_or_never,
      a_cpu_may_come_with_a_loss)
