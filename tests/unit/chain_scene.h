/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording of one wait that other threads held up, as a source; tests/readers/make_trace.c
 * writes it to a file. "waiter" waits for a lock from 10 to 90 ms. "starter" ran from the start and
 * woke "holder" at 25 ms. That waited for a CPU from 25 to 28 and from 50 to 60, for a disk from 70
 * to 80 and again for a CPU until 81, ran else, and ended the wait at 90.
 *
 *	CPU 0	0 starter 30 idle 90 waiter 100
 *	CPU 1	0 waiter 10 idle 28 holder 50 hog 60 holder 70 idle 81 holder 95 idle 100
 */
#ifndef SKEIN_TESTS_CHAIN_SCENE_H
#define SKEIN_TESTS_CHAIN_SCENE_H

#include "scene.h"

#define CHAIN_START 1000000000ULL
#undef AT
#define AT(ms) (CHAIN_START + (ms)*1000000ULL)

enum { CHAIN_WAITER = 1, CHAIN_HOLDER, CHAIN_STARTER, CHAIN_HOG };
enum { CHAIN_CPU_0 = 1, CHAIN_CPU_1, CHAIN_BLOCK = 21 };
#define CHAIN_LANE(thread) (10 + (thread))

static const struct host chain_scene_hosts[] = {
	{1, "web-1", "m", "b", "6.1.0-18-amd64", "x86_64", 2, 8ULL << 30, 1700000000000000000LL, 0,
	 CHAIN_START, AT(100)},
};
static const struct process chain_scene_processes[] = {
	{1, 1, 100, 100, 1, 5, CHAIN_START, 0, "db", "/usr/bin/db", "/", "", 0, "db"},
};
static const struct thread chain_scene_threads[] = {
	{CHAIN_WAITER, 1, 100, CHAIN_START, 0, "waiter", CHAIN_LANE(CHAIN_WAITER), 0, ""},
	{CHAIN_HOLDER, 1, 101, CHAIN_START, 0, "holder", CHAIN_LANE(CHAIN_HOLDER), 0, ""},
	{CHAIN_STARTER, 1, 102, CHAIN_START, 0, "<b>start\x1b[2J", CHAIN_LANE(CHAIN_STARTER), 0,
	 ""},
	{CHAIN_HOG, 1, 103, CHAIN_START, 0, "hog", CHAIN_LANE(CHAIN_HOG), 0, ""},
};
static const struct lane chain_scene_lanes[] = {
	{CHAIN_CPU_0, 1, 0, LANE_CPU, 0, "CPU 0"},
	{CHAIN_CPU_1, 1, 0, LANE_CPU, 1, "CPU 1"},
	{CHAIN_LANE(CHAIN_WAITER), 1, 0, LANE_THREAD, CHAIN_WAITER, ""},
	{CHAIN_LANE(CHAIN_HOLDER), 1, 0, LANE_THREAD, CHAIN_HOLDER, ""},
	{CHAIN_LANE(CHAIN_STARTER), 1, 0, LANE_THREAD, CHAIN_STARTER, ""},
	{CHAIN_LANE(CHAIN_HOG), 1, 0, LANE_THREAD, CHAIN_HOG, ""},
	{CHAIN_BLOCK, 1, CHAIN_CPU_1, LANE_INTERRUPT, INTERRUPT_BLOCK, ""},
};

/* In the order in which they are put. */
static const struct scene_step chain_scene_records[] = {
	SEEN(0, CHAIN_LANE(CHAIN_HOLDER), STATE_SLEEPING, WAIT_LOCK),
	SEEN(0, CHAIN_LANE(CHAIN_HOG), STATE_SLEEPING, WAIT_POLL),
	RAN(CHAIN_CPU_1, 0, 10, CHAIN_WAITER, STATE_SLEEPING, WAIT_LOCK),
	LINKED(25, CHAIN_LANE(CHAIN_STARTER), CHAIN_LANE(CHAIN_HOLDER), EDGE_WAKEUP, 2),
	CPU_WAS(CHAIN_CPU_1, 10, 28, STATE_IDLE),
	RAN(CHAIN_CPU_0, 0, 30, CHAIN_STARTER, STATE_SLEEPING, WAIT_SLEEP),
	RAN(CHAIN_CPU_1, 28, 50, CHAIN_HOLDER, STATE_PREEMPTED, 0),
	RAN(CHAIN_CPU_1, 50, 60, CHAIN_HOG, STATE_SLEEPING, WAIT_POLL),
	RAN(CHAIN_CPU_1, 60, 70, CHAIN_HOLDER, STATE_DISK, WAIT_IO),
	LINKED(80, CHAIN_BLOCK, CHAIN_LANE(CHAIN_HOLDER), EDGE_WAKEUP, 2),
	CPU_WAS(CHAIN_CPU_1, 70, 81, STATE_IDLE),
	LINKED(90, CHAIN_LANE(CHAIN_HOLDER), CHAIN_LANE(CHAIN_WAITER), EDGE_WAKEUP, 1),
	CPU_WAS(CHAIN_CPU_0, 30, 90, STATE_IDLE),
	RAN(CHAIN_CPU_1, 81, 95, CHAIN_HOLDER, STATE_SLEEPING, WAIT_POLL),
	CPU_WAS(CHAIN_CPU_1, 95, 100, STATE_IDLE),
	RAN(CHAIN_CPU_0, 90, 100, CHAIN_WAITER, 0, 0),
};

static inline void chain_scene_build(struct scene *s, const void *unused)
{
	(void)unused;
	SCENE_PUT_ALL(s, HOST, chain_scene_hosts);
	SCENE_PUT_ALL(s, PROCESS, chain_scene_processes);
	SCENE_PUT_ALL(s, THREAD, chain_scene_threads);
	SCENE_PUT_ALL(s, LANE, chain_scene_lanes);
	for (size_t i = 0; i < SCENE_COUNT(chain_scene_records); i++)
		scene_step(s, &chain_scene_records[i]);
}

DEFINE_SCENE(chain_scene_source, chain_scene_build)

#endif
