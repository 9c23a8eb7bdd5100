/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording of interrupts on two CPUs, of 100 ms, as a source; tests/readers/make_trace.c writes
 * it to a file. On CPU 0 a softirq from 20 to 40 ms is interrupted from 25 to 30 ms; both CPUs have
 * more runs than spans. A driver has chosen a hostile name.
 */
#ifndef SKEIN_TESTS_HANDLER_SCENE_H
#define SKEIN_TESTS_HANDLER_SCENE_H

#include "scene.h"

#define HANDLER_START 1000000000ULL
#undef AT
#define AT(ms) (HANDLER_START + (ms)*1000000ULL)

enum { HANDLER_CPU_0 = 1, HANDLER_CPU_1, HANDLER_LANE_0, HANDLER_LANE_1, HANDLER_THREAD_LANE };
enum { NAME_NET = 1, NAME_TIMER, NAME_DEVICE };
#define HOSTILE_DEVICE "irq 24 <b>disk\x1b[2J\xff"

static const struct host handler_scene_hosts[] = {
	{1, "web-1", "m", "b", "6.1.0-18-amd64", "x86_64", 2, 8ULL << 30, 1700000000000000000LL, 0,
	 HANDLER_START, AT(100)},
};
static const struct process handler_scene_processes[] = {
	{1, 1, 100, 100, 1, 5, HANDLER_START, 0, "db", "/usr/bin/db", "/", "", 0, "db"},
};
static const struct thread handler_scene_threads[] = {
	{1, 1, 100, HANDLER_START, 0, "db", HANDLER_THREAD_LANE, 0, ""},
};
static const struct lane handler_scene_lanes[] = {
	{HANDLER_CPU_0, 1, 0, LANE_CPU, 0, "CPU 0"},
	{HANDLER_CPU_1, 1, 0, LANE_CPU, 1, "CPU 1"},
	{HANDLER_LANE_0, 1, HANDLER_CPU_0, LANE_HANDLERS, 0, "interrupts of CPU 0"},
	{HANDLER_LANE_1, 1, HANDLER_CPU_1, LANE_HANDLERS, 1, "interrupts of CPU 1"},
	{HANDLER_THREAD_LANE, 1, 0, LANE_THREAD, 1, ""},
};
static const struct name handler_scene_names[] = {
	{NAME_NET, "softirq net_rx"},
	{NAME_TIMER, "local timer"},
	{NAME_DEVICE, HOSTILE_DEVICE},
};
static const struct scene_step handler_scene_records[] = {
	RAN(HANDLER_CPU_0, 0, 50, 1, STATE_SLEEPING, WAIT_POLL),
	CPU_WAS(HANDLER_CPU_0, 50, 100, STATE_IDLE),
	CPU_WAS(HANDLER_CPU_1, 0, 100, STATE_IDLE),
};
static const struct span handler_scene_spans[] = {
	{AT(25), AT(30), HANDLER_LANE_0, NAME_TIMER, 0, SPAN_INTERRUPT, ORIGIN_KERNEL},
	{AT(20), AT(40), HANDLER_LANE_0, NAME_NET, 0, SPAN_SOFTIRQ, ORIGIN_KERNEL},
	{AT(60), AT(62), HANDLER_LANE_1, NAME_DEVICE, 0, SPAN_INTERRUPT, ORIGIN_KERNEL},
	{AT(70), AT(71), HANDLER_LANE_1, NAME_TIMER, 0, SPAN_INTERRUPT, ORIGIN_KERNEL},
};
static const struct handler handler_scene_sums[] = {
	{HANDLER_LANE_0, 3, "softirq net_rx", SPAN_SOFTIRQ, 11, 15200000, 20000000, 0},
	{HANDLER_LANE_0, 16, "local timer", SPAN_INTERRUPT, 401, 5400000, 5000000, 2},
	{HANDLER_LANE_1, 16, "local timer", SPAN_INTERRUPT, 100, 1100000, 1000000, 0},
	{HANDLER_LANE_1, 56, HOSTILE_DEVICE, SPAN_INTERRUPT, 1, 2000000, 2000000, 0},
};

static inline void handler_scene_build(struct scene *s, const void *unused)
{
	(void)unused;
	SCENE_PUT_ALL(s, HOST, handler_scene_hosts);
	SCENE_PUT_ALL(s, PROCESS, handler_scene_processes);
	SCENE_PUT_ALL(s, THREAD, handler_scene_threads);
	SCENE_PUT_ALL(s, LANE, handler_scene_lanes);
	SCENE_PUT_ALL(s, NAME, handler_scene_names);
	for (size_t i = 0; i < SCENE_COUNT(handler_scene_records); i++)
		scene_step(s, &handler_scene_records[i]);
	SCENE_PUT_ALL(s, SPAN, handler_scene_spans);
	SCENE_PUT_ALL(s, HANDLER, handler_scene_sums);
	scene_loss(s, .id = 1, .host = 1, .reason = LOSS_INTERRUPTS_LOST, .time = AT(25),
		   .end = AT(30), .count = 2);
}

DEFINE_SCENE(handler_scene_source, handler_scene_build)

#endif
