/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second of two CPUs, with everything that a timeline can have: waits of several classes,
 * wake-ups by threads and interrupts, forks and deaths, a pid used twice, a thread asleep
 * throughout, one that changes its name, lost records, samples, a hostile name. As a source.
 *
 * Times are in units of 10 ms from the beginning, which is at 1 s.
 */
#ifndef SKEIN_TESTS_TIMELINE_SCENE_H
#define SKEIN_TESTS_TIMELINE_SCENE_H

#include "scene.h"

#define TL_START 1000000000ULL
#undef AT
#define AT(n) (TL_START + (n)*10000000ULL)

static const struct host tl_hosts[] = {
	{1, "web-1", "m", "b", "6.1.0-18-amd64", "x86_64", 2, 8ULL << 30, 1700000000000000000LL,
	 -500000000LL, AT(0), AT(100)},
};
static const struct event tl_events[] = {
	{1, 1, "cpu-clock", "ns", 10000000, 100},
	{2, 1, "cycles", "count", 5000000, 0},
};
static const struct process tl_processes[] = {
	{1, 1, 100, 100, 1, 5, 5, 0, "server", "/usr/bin/server", "/s", "", 0, ""},
	{2, 1, 200, 200, 1, 6, 6, 0, "evil\x1b[2J</script>\n", "", "/", "", 0, ""},
	{3, 1, 2, 2, 0, 1, 1, 0, "kthreadd", "", "/", "", 0, ""},
	{4, 1, 300, 300, 100, AT(30), AT(30), AT(49), "child", "/bin/child", "/", "", 0, ""},
	{5, 1, 300, 300, 100, AT(60), AT(60), 0, "again", "/bin/again", "/", "", 0, ""},
	{6, 1, 400, 400, 300, AT(81), AT(81), AT(88), "leader", "/bin/group", "/", "", 0, ""},
};
static const struct thread tl_threads[] = {
	{1, 1, 100, 5, AT(50), "server", 10, 0, ""},
	{2, 1, 101, 5, 0, "pool", 11, 0, ""},
	{3, 2, 200, 6, 0, "evil\x1b[2J</script>\n", 12, 0, ""},
	{4, 3, 2, 1, 0, "kthreadd", 13, 0, ""},
	{5, 4, 300, AT(30), AT(49), "child", 14, 0, ""},
	{6, 5, 300, AT(60), 0, "again", 15, 0, ""},
	{7, 1, 100, AT(50), AT(97), "renamed", 10, 0, ""},
	{8, 1, 100, AT(97), 0, "once more", 10, 0, ""},
	{9, 6, 400, AT(81), AT(83), "leader", 16, 0, ""},
	{10, 6, 401, AT(81), AT(88), "member", 17, 0, ""},
	{11, 1, 102, 5, AT(54), "unseen", 18, 0, ""},
};
static const struct lane tl_lanes[] = {
	{1, 1, 0, LANE_CPU, 0, "CPU 0"},
	{2, 1, 0, LANE_CPU, 1, "CPU 1"},
	{3, 1, 1, LANE_INTERRUPT, INTERRUPT_TIMER, "timer"},
	{4, 1, 2, LANE_INTERRUPT, INTERRUPT_NETWORK, "network"},
	{10, 1, 0, LANE_THREAD, 1, "server"},
	{11, 1, 0, LANE_THREAD, 2, "pool"},
	{12, 1, 0, LANE_THREAD, 3, "evil"},
	{13, 1, 0, LANE_THREAD, 4, "kthreadd"},
	{14, 1, 0, LANE_THREAD, 5, "child"},
	{15, 1, 0, LANE_THREAD, 6, "again"},
	{16, 1, 0, LANE_THREAD, 9, "leader"},
	{17, 1, 0, LANE_THREAD, 10, "member"},
	{18, 1, 0, LANE_THREAD, 11, "unseen"},
};
static const struct mapping tl_mappings[] = {
	{1, 1, MAPPING_FILE, 0, 100000, "/usr/bin/server", "aabb"},
	{2, 1, MAPPING_KERNEL, 0, 0, "[kernel]", ""},
};
static const struct function tl_functions[] = {
	{1, 1, "main", "", "main.c", 10, 0},
	{2, 2, "do_syscall_64", "", "", 0, 0},
	{3, 1, "", "", "", 0, 0x2340},
};
static const struct frame tl_frames[] = {
	{1, FRAME_NATIVE, 1, 0x1000, 1, 12, FRAME_FLAG_START | FRAME_FLAG_LOOKED_UP},
	{2, FRAME_KERNEL, 2, 0xffffffff81000010, 2, 0, FRAME_FLAG_LOOKED_UP},
	{3, FRAME_NATIVE, 1, 0x2345, 3, 0, FRAME_FLAG_LOOKED_UP}, /* has no name */
	{4, FRAME_NATIVE, 0, 0x7ffff123, 0, 0, 0}, /* in no mapping */
	{5, FRAME_END, 0, END_DEPTH, 0, 0, 0},
};
static const struct stack tl_stacks[] = {
	{1, 0, 1}, /* main */
	{2, 1, 2}, /* main do_syscall_64 */
	{3, 0, 5}, /* too deep */
	{4, 3, 3}, /* too deep, unnamed code */
	{5, 4, 4}, /* too deep, unnamed code, a frame in no mapping */
};
static const struct sample tl_samples[] = {
	{AT(2), 1, 1, 0, 1, 10000000, 0, 0, 0, 0, 0},
	{AT(5), 1, 1, 0, 2, 10000000, SAMPLE_FLAG_KERNEL, 0, 0, 0, 0},
	{AT(12), 1, 3, 1, 5, 10000000, 0, 0, 0, 0, 0},
	{AT(15), 1, 3, 1, 0, 10000000, 0, 0, 0, 0, 0},
	{AT(25), 1, 2, 0, 1, 10000000, 0, 0, 0, 0, 0},
	{AT(26), 2, 2, 0, 2, 5000000, SAMPLE_FLAG_KERNEL, 0, 0, 0, 0},
};

/* The records, in the order in which they are stored. */
static const struct scene_step tl_records[] = {
	SEEN(0, 13, STATE_UNUSED, 0),
	SEEN(0, 11, STATE_SLEEPING, WAIT_POLL),
	SEEN(0, 18, STATE_SLEEPING, WAIT_LOCK), /* dies while records are lost */
	LINKED(5, 10, 11, EDGE_WAKEUP, 2), /* the server wakes a thread of the pool */
	RAN(1, 0, 8, 1, STATE_SLEEPING, WAIT_LOCK),
	CPU_WAS(2, 0, 10, STATE_IDLE),
	LINKED(12, 4, 12, EDGE_WAKEUP, 2), /* the network */
	LINKED(18, 11, 10, EDGE_WAKEUP, 1),
	CPU_WAS(1, 8, 20, STATE_IDLE),
	RAN(2, 10, 20, 2, STATE_PREEMPTED, 0),
	LINKED(22, 3, 10, EDGE_WAKEUP, 1), /* no effect: the thread runs */
	RAN(1, 20, 24, 1, STATE_DISK, WAIT_IO),
	RAN(1, 24, 28, 2, STATE_SLEEPING, WAIT_POLL),
	RAN(2, 20, 30, 3, STATE_RUNNABLE, 0),
	LINKED(30, 12, 14, EDGE_FORK, 1),
	CPU_WAS(1, 28, 31, STATE_IDLE),
	LINKED(35, 3, 10, EDGE_WAKEUP, 2), /* the timer */
	RAN(1, 31, 48, 5, STATE_DEAD, 0),
	LINKED(49, 10, 11, EDGE_WAKEUP, 1), /* a little before the end of its slice (next line) */
	RAN(1, 48, 50, 2, STATE_SLEEPING, WAIT_POLL),
	CPU_WAS(1, 50, 52, STATE_IDLE),
	RAN(2, 30, 53, 3, 0, 0), /* the following records are lost */
	CPU_WAS(2, 53, 55, STATE_UNKNOWN),
	SEEN(55, 12, STATE_SLEEPING, WAIT_PIPE),
	RAN(1, 52, 58, 2, STATE_SLEEPING, WAIT_SLEEP),
	LINKED(60, 10, 15, EDGE_FORK, 1),
	CPU_WAS(1, 58, 65, STATE_IDLE),
	RAN(2, 55, 70, 7, STATE_STOPPED, WAIT_OTHER),
	RAN(1, 65, 80, 6, STATE_SLEEPING, WAIT_CHILD),
	LINKED(81, 15, 16, EDGE_FORK, 1),
	LINKED(81, 16, 17, EDGE_FORK, 1),
	CPU_WAS(1, 80, 82, STATE_IDLE),
	RAN(1, 82, 83, 9, STATE_DEAD, 0), /* the first thread of a process dies first */
	RAN(1, 83, 88, 10, STATE_DEAD, 0),
	LINKED(90, 15, 10, EDGE_WAKEUP, 2),
	CPU_WAS(2, 70, 95, STATE_IDLE),
	CPU_WAS(1, 88, 100, STATE_IDLE),
	RAN(2, 95, 97, 7, STATE_RUNNING, 0), /* changes its name */
	RAN(2, 97, 100, 8, 0, 0), /* the end of the recording */
};
static const struct loss tl_losses[] = {
	{1, 1, 1, 1, LOSS_RING_FULL, AT(3), AT(4), 2, 20000000},
	{2, 1, 0, 2, LOSS_SWITCHES_LOST, AT(53), AT(55), 17, 0},
};

/* Return the slice as it is without losses: a thread went to sleep, and the CPU was idle. */
static inline struct slice tl_found(struct slice s)
{
	if (s.state == STATE_UNKNOWN)
		s.state = STATE_IDLE;
	else if (s.end == AT(53))
		s.left = STATE_SLEEPING;
	return s;
}

/* whole: NULL to build the scene with its losses. */
static inline void timeline_build(struct scene *s, const void *whole)
{
	SCENE_PUT_ALL(s, HOST, tl_hosts);
	SCENE_PUT_ALL(s, EVENT, tl_events);
	SCENE_PUT_ALL(s, PROCESS, tl_processes);
	SCENE_PUT_ALL(s, THREAD, tl_threads);
	SCENE_PUT_ALL(s, LANE, tl_lanes);
	SCENE_PUT_ALL(s, MAPPING, tl_mappings);
	SCENE_PUT_ALL(s, FUNCTION, tl_functions);
	SCENE_PUT_ALL(s, FRAME, tl_frames);
	SCENE_PUT_ALL(s, STACK, tl_stacks);
	SCENE_PUT_ALL(s, SAMPLE, tl_samples);
	for (size_t i = 0; i < SCENE_COUNT(tl_records); i++) {
		struct scene_step step = tl_records[i];

		if (whole)
			step.slice = tl_found(step.slice);
		scene_step(s, &step);
	}
	if (!whole)
		SCENE_PUT_ALL(s, LOSS, tl_losses);
}

/* Return the scene as a source, which need not be freed. whole: without losses. */
static inline struct source *timeline_scene_source(bool whole)
{
	static struct scene_source lossy = SCENE_OF(timeline_build, NULL),
				   complete = SCENE_OF(timeline_build, "whole");

	return whole ? &complete.source : &lossy.source;
}

#endif
