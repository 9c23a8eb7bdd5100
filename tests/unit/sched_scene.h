/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small recording of the scheduler, as a source: 100 ms of two CPUs, with sums that can be
 * checked by hand. tests/readers/make_trace.c writes it to a file. Times in ms, and the thread that
 * ran between them:
 *
 *	CPU 0	0 load 10 db 30 load 40 idle 60 load 70 idle 80 load 100
 *	CPU 1	0 idle 20 db-io 25 idle 50 db-io 60 evil 65 idle 70 evil 72 idle 80 db 90 idle
 *		92 lost 100
 */
#ifndef SKEIN_TESTS_SCHED_SCENE_H
#define SKEIN_TESTS_SCHED_SCENE_H

#include "scene.h"

#define SCHED_START 1000000000ULL
#define MS 1000000ULL
#undef AT
#define AT(ms) (SCHED_START + (ms)*MS)

/* Ids of threads; the id of a thread's lane is LANE_OF(id). */
enum { SCENE_DB = 1, SCENE_DB_IO, SCENE_LOAD, SCENE_EVIL, SCENE_KWORKER };
enum { SCENE_CPU_0 = 1, SCENE_CPU_1, SCENE_TIMER = 21, SCENE_BLOCK };
#define LANE_OF(thread) (10 + (thread))

static const struct host sched_scene_hosts[] = {
	{1, "web-1", "m", "b", "6.1.0-18-amd64", "x86_64", 2, 8ULL << 30, 1700000000000000000LL, 0,
	 SCHED_START, AT(100)},
};
static const struct process sched_scene_processes[] = {
	{1, 1, 100, 100, 1, 5, SCHED_START, 0, "db", "/usr/bin/db", "/system.slice/db.service", "",
	 0, "db"},
	{2, 1, 200, 200, 1, 6, SCHED_START, 0, "load", "/usr/bin/load", "/user.slice", "", 0, ""},
	{3, 1, 300, 7, 1, 7, SCHED_START, 0, "e\x1b[2Jvil;\n\xff", "/x",
	 "/docker/0123456789abcdef0123", "0123456789abcdef0123", 0, "evil"},
	{4, 1, 2, 2, 0, 1, SCHED_START, 0, "kworker/0:1", "", "/", "", 0, ""},
};
static const struct thread sched_scene_threads[] = {
	{SCENE_DB, 1, 100, SCHED_START, 0, "db", LANE_OF(SCENE_DB), 0, ""},
	{SCENE_DB_IO, 1, 101, SCHED_START, 0, "db-io", LANE_OF(SCENE_DB_IO), 0, ""},
	{SCENE_LOAD, 2, 200, SCHED_START, 0, "load", LANE_OF(SCENE_LOAD), 0, ""},
	{SCENE_EVIL, 3, 300, SCHED_START, 0, "e\x1b[2Jvil;\n\xff", LANE_OF(SCENE_EVIL), 0, ""},
	{SCENE_KWORKER, 4, 2, SCHED_START, 0, "kworker/0:1", LANE_OF(SCENE_KWORKER), 0, ""},
};
static const struct lane sched_scene_lanes[] = {
	{SCENE_CPU_0, 1, 0, LANE_CPU, 0, "CPU 0"},
	{SCENE_CPU_1, 1, 0, LANE_CPU, 1, "CPU 1"},
	{LANE_OF(SCENE_DB), 1, 0, LANE_THREAD, SCENE_DB, ""},
	{LANE_OF(SCENE_DB_IO), 1, 0, LANE_THREAD, SCENE_DB_IO, ""},
	{LANE_OF(SCENE_LOAD), 1, 0, LANE_THREAD, SCENE_LOAD, ""},
	{LANE_OF(SCENE_EVIL), 1, 0, LANE_THREAD, SCENE_EVIL, ""},
	{LANE_OF(SCENE_KWORKER), 1, 0, LANE_THREAD, SCENE_KWORKER, ""},
	{SCENE_TIMER, 1, SCENE_CPU_0, LANE_INTERRUPT, INTERRUPT_TIMER, ""},
	{SCENE_BLOCK, 1, SCENE_CPU_1, LANE_INTERRUPT, INTERRUPT_BLOCK, ""},
};

/* In the order in which they are put. */
static const struct scene_step sched_scene_records[] = {
	SEEN(0, LANE_OF(SCENE_DB), STATE_SLEEPING, WAIT_POLL),
	SEEN(0, LANE_OF(SCENE_DB_IO), STATE_SLEEPING, WAIT_LOCK),
	SEEN(0, LANE_OF(SCENE_EVIL), STATE_STOPPED, 0),
	SEEN(0, LANE_OF(SCENE_KWORKER), STATE_UNUSED, 0),
	LINKED(8, SCENE_TIMER, LANE_OF(SCENE_DB), EDGE_WAKEUP, 1),
	RAN(SCENE_CPU_0, 0, 10, SCENE_LOAD, STATE_PREEMPTED, 0),
	LINKED(19, LANE_OF(SCENE_DB), LANE_OF(SCENE_DB_IO), EDGE_WAKEUP, 2),
	CPU_WAS(SCENE_CPU_1, 0, 20, STATE_IDLE),
	RAN(SCENE_CPU_1, 20, 25, SCENE_DB_IO, STATE_DISK, WAIT_IO),
	RAN(SCENE_CPU_0, 10, 30, SCENE_DB, STATE_SLEEPING, WAIT_LOCK),
	RAN(SCENE_CPU_0, 30, 40, SCENE_LOAD, STATE_SLEEPING, WAIT_SLEEP),
	LINKED(46, SCENE_BLOCK, LANE_OF(SCENE_DB_IO), EDGE_WAKEUP, 2),
	CPU_WAS(SCENE_CPU_1, 25, 50, STATE_IDLE),
	LINKED(55, LANE_OF(SCENE_DB_IO), LANE_OF(SCENE_EVIL), EDGE_WAKEUP, 2),
	LINKED(57, SCENE_TIMER, LANE_OF(SCENE_LOAD), EDGE_WAKEUP, 1),
	CPU_WAS(SCENE_CPU_0, 40, 60, STATE_IDLE),
	RAN(SCENE_CPU_1, 50, 60, SCENE_DB_IO, STATE_SLEEPING, WAIT_LOCK),
	RAN(SCENE_CPU_1, 60, 65, SCENE_EVIL, STATE_RUNNABLE, 0),
	RAN(SCENE_CPU_0, 60, 70, SCENE_LOAD, STATE_SLEEPING, WAIT_POLL),
	CPU_WAS(SCENE_CPU_1, 65, 70, STATE_IDLE),
	RAN(SCENE_CPU_1, 70, 72, SCENE_EVIL, STATE_SLEEPING, WAIT_CHILD),
	LINKED(78, SCENE_TIMER, LANE_OF(SCENE_LOAD), EDGE_WAKEUP, 1),
	LINKED(79, SCENE_BLOCK, LANE_OF(SCENE_DB), EDGE_WAKEUP, 2),
	CPU_WAS(SCENE_CPU_0, 70, 80, STATE_IDLE),
	CPU_WAS(SCENE_CPU_1, 72, 80, STATE_IDLE),
	RAN(SCENE_CPU_1, 80, 90, SCENE_DB, STATE_SLEEPING, WAIT_PIPE),
	CPU_WAS(SCENE_CPU_1, 90, 92, STATE_IDLE),
	CPU_WAS(SCENE_CPU_1, 92, 100, STATE_UNKNOWN),
	RAN(SCENE_CPU_0, 80, 100, SCENE_LOAD, 0, 0),
};

static const struct loss sched_scene_losses[] = {
	{1, 1, 0, 2, LOSS_SWITCHES_LOST, AT(92), AT(100), 1234, 0},
};

static inline void sched_scene_build(struct scene *s, const void *unused)
{
	(void)unused;
	SCENE_PUT_ALL(s, HOST, sched_scene_hosts);
	SCENE_PUT_ALL(s, PROCESS, sched_scene_processes);
	SCENE_PUT_ALL(s, THREAD, sched_scene_threads);
	SCENE_PUT_ALL(s, LANE, sched_scene_lanes);
	for (size_t i = 0; i < SCENE_COUNT(sched_scene_records); i++)
		scene_step(s, &sched_scene_records[i]);
	SCENE_PUT_ALL(s, LOSS, sched_scene_losses);
}

DEFINE_SCENE(sched_scene_source, sched_scene_build)

#endif
