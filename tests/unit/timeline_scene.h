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

#include <stdbool.h>

#include "base/pipe.h"

#define TL_START 1000000000ULL
#define TL_TIME(n) (TL_START + (n)*10000000ULL)

static const struct host tl_hosts[] = {
	{1, "web-1", "m", "b", "6.1.0-18-amd64", "x86_64", 2, 8ULL << 30, 1700000000000000000LL,
	 -500000000LL, TL_TIME(0), TL_TIME(100)},
};
static const struct event tl_events[] = {
	{1, 1, "cpu-clock", "ns", 10000000, 100},
	{2, 1, "cycles", "count", 5000000, 0},
};
static const struct process tl_processes[] = {
	{1, 1, 100, 100, 1, 5, 5, 0, "server", "/usr/bin/server", "/s", ""},
	{2, 1, 200, 200, 1, 6, 6, 0, "evil\x1b[2J</script>\n", "", "/", ""},
	{3, 1, 2, 2, 0, 1, 1, 0, "kthreadd", "", "/", ""},
	{4, 1, 300, 300, 100, TL_TIME(30), TL_TIME(30), TL_TIME(49), "child", "/bin/child", "/",
	 ""},
	{5, 1, 300, 300, 100, TL_TIME(60), TL_TIME(60), 0, "again", "/bin/again", "/", ""},
	{6, 1, 400, 400, 300, TL_TIME(81), TL_TIME(81), TL_TIME(88), "leader", "/bin/group", "/",
	 ""},
};
static const struct thread tl_threads[] = {
	{1, 1, 100, 5, TL_TIME(50), "server", 10},
	{2, 1, 101, 5, 0, "pool", 11},
	{3, 2, 200, 6, 0, "evil\x1b[2J</script>\n", 12},
	{4, 3, 2, 1, 0, "kthreadd", 13},
	{5, 4, 300, TL_TIME(30), TL_TIME(49), "child", 14},
	{6, 5, 300, TL_TIME(60), 0, "again", 15},
	{7, 1, 100, TL_TIME(50), TL_TIME(97), "renamed", 10},
	{8, 1, 100, TL_TIME(97), 0, "once more", 10},
	{9, 6, 400, TL_TIME(81), TL_TIME(83), "leader", 16},
	{10, 6, 401, TL_TIME(81), TL_TIME(88), "member", 17},
	{11, 1, 102, 5, TL_TIME(54), "unseen", 18},
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
	{TL_TIME(2), 1, 1, 0, 1, 10000000, 0},
	{TL_TIME(5), 1, 1, 0, 2, 10000000, SAMPLE_FLAG_KERNEL},
	{TL_TIME(12), 1, 3, 1, 5, 10000000, 0},
	{TL_TIME(15), 1, 3, 1, 0, 10000000, 0},
	{TL_TIME(25), 1, 2, 0, 1, 10000000, 0},
	{TL_TIME(26), 2, 2, 0, 2, 5000000, SAMPLE_FLAG_KERNEL},
};

#define TL_RUN(from, to, cpu, thread, left, wait) \
	{.slice = {TL_TIME(from), TL_TIME(to), cpu, STATE_RUNNING, thread, left, wait}}
#define TL_CPU(from, to, cpu, state) \
	{ \
		.slice = { TL_TIME(from), TL_TIME(to), cpu, state, 0, 0, 0 } \
	}
#define TL_SEEN(at, lane, state, wait) \
	{ \
		.slice = { TL_TIME(at), 0, lane, state, 0, 0, wait } \
	}
#define TL_EDGE(at, from, to, kind, cpu) \
	{.is_edge = true, .edge = {TL_TIME(at), TL_TIME(at), from, to, kind, cpu, 0}}

/* The records, in the order in which they are stored. */
static const struct tl_record {
	bool is_edge;
	struct slice slice;
	struct edge edge;
} tl_records[] = {
	TL_SEEN(0, 13, STATE_UNUSED, 0),
	TL_SEEN(0, 11, STATE_SLEEPING, WAIT_POLL),
	TL_SEEN(0, 18, STATE_SLEEPING, WAIT_LOCK), /* dies while records are lost */
	TL_EDGE(5, 10, 11, EDGE_WAKEUP, 2), /* the server wakes a thread of the pool */
	TL_RUN(0, 8, 1, 1, STATE_SLEEPING, WAIT_LOCK),
	TL_CPU(0, 10, 2, STATE_IDLE),
	TL_EDGE(12, 4, 12, EDGE_WAKEUP, 2), /* the network */
	TL_EDGE(18, 11, 10, EDGE_WAKEUP, 1),
	TL_CPU(8, 20, 1, STATE_IDLE),
	TL_RUN(10, 20, 2, 2, STATE_PREEMPTED, 0),
	TL_EDGE(22, 3, 10, EDGE_WAKEUP, 1), /* no effect: the thread runs */
	TL_RUN(20, 24, 1, 1, STATE_DISK, WAIT_IO),
	TL_RUN(24, 28, 1, 2, STATE_SLEEPING, WAIT_POLL),
	TL_RUN(20, 30, 2, 3, STATE_RUNNABLE, 0),
	TL_EDGE(30, 12, 14, EDGE_FORK, 1),
	TL_CPU(28, 31, 1, STATE_IDLE),
	TL_EDGE(35, 3, 10, EDGE_WAKEUP, 2), /* the timer */
	TL_RUN(31, 48, 1, 5, STATE_DEAD, 0),
	TL_EDGE(49, 10, 11, EDGE_WAKEUP, 1), /* a little before the end of its slice (next line) */
	TL_RUN(48, 50, 1, 2, STATE_SLEEPING, WAIT_POLL),
	TL_CPU(50, 52, 1, STATE_IDLE),
	TL_RUN(30, 53, 2, 3, 0, 0), /* the following records are lost */
	TL_CPU(53, 55, 2, STATE_UNKNOWN),
	TL_SEEN(55, 12, STATE_SLEEPING, WAIT_PIPE),
	TL_RUN(52, 58, 1, 2, STATE_SLEEPING, WAIT_SLEEP),
	TL_EDGE(60, 10, 15, EDGE_FORK, 1),
	TL_CPU(58, 65, 1, STATE_IDLE),
	TL_RUN(55, 70, 2, 7, STATE_STOPPED, WAIT_OTHER),
	TL_RUN(65, 80, 1, 6, STATE_SLEEPING, WAIT_CHILD),
	TL_EDGE(81, 15, 16, EDGE_FORK, 1),
	TL_EDGE(81, 16, 17, EDGE_FORK, 1),
	TL_CPU(80, 82, 1, STATE_IDLE),
	TL_RUN(82, 83, 1, 9, STATE_DEAD, 0), /* the first thread of a process dies first */
	TL_RUN(83, 88, 1, 10, STATE_DEAD, 0),
	TL_EDGE(90, 15, 10, EDGE_WAKEUP, 2),
	TL_CPU(70, 95, 2, STATE_IDLE),
	TL_CPU(88, 100, 1, STATE_IDLE),
	TL_RUN(95, 97, 2, 7, STATE_RUNNING, 0), /* changes its name */
	TL_RUN(97, 100, 2, 8, 0, 0), /* the end of the recording */
};
static const struct loss tl_losses[] = {
	{1, 1, 1, 1, LOSS_RING_FULL, TL_TIME(3), TL_TIME(4), 2, 20000000},
	{2, 1, 0, 2, LOSS_SWITCHES_LOST, TL_TIME(53), TL_TIME(55), 17, 0},
};

#define TL_PUT_ALL(kind, list) \
	for (size_t i = 0; i < sizeof(list) / sizeof((list)[0]) && !rc; i++) \
		rc = put_##kind(to, &(list)[i], err);

/* Return the slice as it is without losses: a thread went to sleep, and the CPU was idle. */
static inline struct slice tl_found(struct slice s)
{
	if (s.state == STATE_UNKNOWN)
		s.state = STATE_IDLE;
	else if (s.end == TL_TIME(53))
		s.left = STATE_SLEEPING;
	return s;
}

struct timeline_scene {
	struct source source;
	bool whole;
};

static inline int timeline_scene_run(struct source *source, struct sink *to, struct error *err)
{
	bool whole = ((const struct timeline_scene *)source)->whole;
	int rc = 0;

	TL_PUT_ALL(host, tl_hosts)
	TL_PUT_ALL(event, tl_events)
	TL_PUT_ALL(process, tl_processes)
	TL_PUT_ALL(thread, tl_threads)
	TL_PUT_ALL(lane, tl_lanes)
	TL_PUT_ALL(mapping, tl_mappings)
	TL_PUT_ALL(function, tl_functions)
	TL_PUT_ALL(frame, tl_frames)
	TL_PUT_ALL(stack, tl_stacks)
	TL_PUT_ALL(sample, tl_samples)
	for (size_t i = 0; i < sizeof(tl_records) / sizeof(tl_records[0]) && !rc; i++) {
		struct slice s = whole ? tl_found(tl_records[i].slice) : tl_records[i].slice;

		rc = tl_records[i].is_edge ? put_edge(to, &tl_records[i].edge, err)
					   : put_slice(to, &s, err);
	}
	if (!whole)
		TL_PUT_ALL(loss, tl_losses)
	return rc;
}

static inline void timeline_scene_free(struct source *s)
{
	(void)s;
}

static const struct source_ops timeline_scene_ops = {.run = timeline_scene_run,
						     .free = timeline_scene_free};

/* Return the scene as a source, which need not be freed. whole: without losses. */
static inline struct source *timeline_scene_source(bool whole)
{
	static struct timeline_scene scenes[] = {{{&timeline_scene_ops}, false},
						 {{&timeline_scene_ops}, true}};

	return &scenes[whole].source;
}

#endif
