/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second of one CPU with samples of CPU time, stacks of waits and those of wakers: a thread waits
 * twice for a lock, of which one stack was taken, another one sleeps. As a source.
 */
#ifndef SKEIN_TESTS_SERVER_SCENE_H
#define SKEIN_TESTS_SERVER_SCENE_H

#include "scene.h"

#undef AT
#define AT(n) (1000000000ULL + (n)*10000000ULL)
#define WAIT_MS(n) ((n)*1000000ULL)

static const struct host ws_hosts[] = {
	{1, "web-1", "m", "b", "6.18.0", "x86_64", 1, 8ULL << 30, 1700000000000000000LL, 0, AT(0),
	 AT(100)},
};
static const struct event ws_events[] = {
	{1, 1, "cpu-clock", "ns", WAIT_MS(10), 100},
	{2, 1, "off-cpu", "ns", 0, 0},
	{3, 1, "off-cpu-wakers", "ns", 0, 0},
};
static const struct process ws_processes[] = {
	{1, 1, 100, 100, 1, 5, 5, 0, "server", "/usr/bin/server", "/s", "", 0, ""},
};
static const struct thread ws_threads[] = {
	{1, 1, 100, 5, 0, "server", 10, 0, ""},
	{2, 1, 101, 5, 0, "pool", 11, 0, ""},
};
static const struct lane ws_lanes[] = {
	{1, 1, 0, LANE_CPU, 0, "CPU 0"},
	{3, 1, 1, LANE_INTERRUPT, INTERRUPT_TIMER, "timer"},
	{10, 1, 0, LANE_THREAD, 1, "server"},
	{11, 1, 0, LANE_THREAD, 2, "pool"},
};
static const struct mapping ws_mappings[] = {
	{1, 1, MAPPING_FILE, 0, 100000, "/usr/bin/server", "aabb"},
	{2, 1, MAPPING_KERNEL, 0, 0, "[kernel]", ""},
};
static const struct function ws_functions[] = {
	{1, 1, "main", "", "main.c", 10, 0},	   {2, 1, "work", "", "main.c", 20, 0},
	{3, 1, "take_lock", "", "main.c", 30, 0},  {4, 2, "futex_wait", "", "", 0, 0},
	{5, 2, "hrtimer_nanosleep", "", "", 0, 0}, {6, 1, "give_lock", "", "main.c", 40, 0},
};
#define WS_FRAME(id, kind, mapping) \
	{ \
		id, FRAME_##kind, mapping, 0x1000 * (id), id, 0, \
			FRAME_FLAG_LOOKED_UP | ((id) == 1 ? FRAME_FLAG_START : 0) \
	}
static const struct frame ws_frames[] = {
	WS_FRAME(1, NATIVE, 1), WS_FRAME(2, NATIVE, 1), WS_FRAME(3, NATIVE, 1),
	WS_FRAME(4, KERNEL, 2), WS_FRAME(5, KERNEL, 2), WS_FRAME(6, NATIVE, 1),
};
static const struct stack ws_stacks[] = {
	{1, 0, 1}, /* main */
	{2, 1, 2}, /* main work */
	{3, 1, 3}, /* main take_lock */
	{4, 3, 4}, /* main take_lock futex_wait */
	{5, 1, 5}, /* main hrtimer_nanosleep */
	{6, 1, 6}, /* main give_lock */
};
static const struct sample ws_samples[] = {
	{AT(5), 1, 1, 0, 2, WAIT_MS(10), 0, 0, 0, 0, 0},
	{AT(15), 1, 2, 0, 3, WAIT_MS(10), 0, 0, 0, 0, 0},
	{AT(18), 3, 2, 0, 6, WAIT_MS(80), 0, WAIT_MS(80), WAIT_LOCK, 0, 1},
	{AT(20) + 1000, 2, 1, 0, 4, WAIT_MS(80), SAMPLE_FLAG_KERNEL, WAIT_MS(80), WAIT_LOCK,
	 0x7f0012345678, 2},
	{AT(40) + 1000, 2, 2, 0, 5, WAIT_MS(200), SAMPLE_FLAG_KERNEL | SAMPLE_FLAG_BY_TIMER,
	 WAIT_MS(200), WAIT_SLEEP, 0, 0},
	{AT(45), 1, 2, 0, 2, WAIT_MS(10), 0, 0, 0, 0, 0},
};
static const struct scene_step ws_records[] = {
	RAN(1, 0, 10, 1, STATE_SLEEPING, WAIT_LOCK),
	LINKED(18, 11, 10, EDGE_WAKEUP, 1),
	RAN(1, 10, 20, 2, STATE_SLEEPING, WAIT_SLEEP),
	RAN(1, 20, 30, 1, STATE_SLEEPING, WAIT_LOCK),
	LINKED(40, 3, 11, EDGE_WAKEUP, 1),
	CPU_WAS(1, 30, 40, STATE_IDLE),
	LINKED(50, 11, 10, EDGE_WAKEUP, 1),
	RAN(1, 40, 60, 2, STATE_SLEEPING, WAIT_SLEEP),
	RAN(1, 60, 100, 1, 0, 0),
};

static inline void server_scene_build(struct scene *s, const void *unused)
{
	(void)unused;
	SCENE_PUT_ALL(s, HOST, ws_hosts);
	SCENE_PUT_ALL(s, EVENT, ws_events);
	SCENE_PUT_ALL(s, PROCESS, ws_processes);
	SCENE_PUT_ALL(s, THREAD, ws_threads);
	SCENE_PUT_ALL(s, LANE, ws_lanes);
	SCENE_PUT_ALL(s, MAPPING, ws_mappings);
	SCENE_PUT_ALL(s, FUNCTION, ws_functions);
	SCENE_PUT_ALL(s, FRAME, ws_frames);
	SCENE_PUT_ALL(s, STACK, ws_stacks);
	SCENE_PUT_ALL(s, SAMPLE, ws_samples);
	for (size_t i = 0; i < SCENE_COUNT(ws_records); i++)
		scene_step(s, &ws_records[i]);
}
DEFINE_SCENE(server_scene_source, server_scene_build)

#endif
