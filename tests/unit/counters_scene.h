/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second of two programs whose counters change at random times, from 1 ns apart on: of a
 * runtime, of a process that ends, of a thread and of a CPU; a value for a single nanosecond,
 * totals of which one falls, and a time in which values were lost. As a source.
 */
#ifndef SKEIN_TESTS_COUNTERS_SCENE_H
#define SKEIN_TESTS_COUNTERS_SCENE_H

#include "scene.h"
#include "synthetic.h"

#define CS_START 7000000000ULL
#define CS_MS 1000000ULL
#define CS_AT(ms) (CS_START + (ms)*CS_MS)
#define CS_SPIKE (CS_AT(333) + 333) /* ns; CS_SPIKE_HEIGHT holds for 1 ns */
#define CS_SPIKE_HEIGHT (900LL << 20)
#define CS_LOST_FROM CS_AT(400)
#define CS_LOST_TO CS_AT(430)
#define CS_SHORT_END CS_AT(600) /* of the second process */
#define CS_CHANGES 200

enum { CS_HEAP = 1, CS_SAFEPOINTS, CS_COLLECTIONS, CS_LIVE, CS_PRESSURE, CS_CAPACITY, CS_NAMES };

static const struct host cs_hosts[] = {
	{1, "web-1", "m", "b", "6.1.0-18-amd64", "x86_64", 1, 8ULL << 30, 1700000000000000000LL, 0,
	 CS_START, CS_AT(1000)},
};
static const struct process cs_processes[] = {
	{1, 1, 100, 100, 1, 5, 5, 0, "java", "/usr/bin/java", "/shop", "", 0, "shop"},
	{2, 1, 200, 200, 1, 6, 6, CS_SHORT_END, "short", "/usr/bin/short", "/", "", 0, ""},
};
static const struct thread cs_threads[] = {
	{1, 1, 100, 5, 0, "java", 11, 0, "main"},
	{2, 2, 200, 6, CS_SHORT_END, "short", 12, 0, ""},
};
static const struct lane cs_lanes[] = {
	{1, 1, 0, LANE_CPU, 0, "CPU 0"},      {9, 1, 0, LANE_PROCESS, 1, "java"},
	{10, 1, 0, LANE_PROCESS, 2, "short"}, {11, 1, 9, LANE_THREAD, 1, "java"},
	{12, 1, 10, LANE_THREAD, 2, "short"}, {21, 1, 9, LANE_RUNTIME, 0, "JVM"},
};
static const struct name cs_names[] = {
	{CS_HEAP, "heap used"},
	{CS_SAFEPOINTS, "time in safepoints"},
	{CS_COLLECTIONS, "number of <collections>"},
	{CS_LIVE, "threads live"},
	{CS_PRESSURE, "pressure"},
	{CS_CAPACITY, "heap capacity"},
	{CS_NAMES, "{\"arguments\":\"of a span\"}"},
};
/* The lane of each counter. */
static const uint64_t cs_lane_of[CS_NAMES] = {0, 21, 21, 10, 12, 1, 21};

#undef AT
#define AT(ms) CS_AT(ms)
static const struct scene_step cs_records[] = {
	SEEN(0, 12, STATE_SLEEPING, WAIT_POLL), RAN(1, 0, 300, 1, STATE_SLEEPING, WAIT_PARK),
	LINKED(310, 11, 12, EDGE_WAKEUP, 1),	RAN(1, 300, 600, 2, STATE_DEAD, 0),
	CPU_WAS(1, 600, 1000, STATE_IDLE),
};
static const struct loss cs_losses[] = {
	{1, 1, 0, 0, LOSS_SPANS_NOT_STORED, CS_LOST_FROM, CS_LOST_TO, 5, 0},
};

struct cs_values {
	struct counter list[CS_CHANGES * CS_NAMES + 8];
	size_t count;
};

static inline void cs_put(struct cs_values *v, uint64_t time, uint64_t name, int64_t value)
{
	v->list[v->count++] = (struct counter){time, cs_lane_of[name], name, value};
}

/* Put values of one counter, of which half come within some ns of the one before. */
static inline void cs_put_changes(struct cs_values *v, uint64_t name, uint64_t *seed)
{
	bool total = name == CS_SAFEPOINTS || name == CS_COLLECTIONS;
	uint64_t end = name == CS_COLLECTIONS || name == CS_LIVE ? CS_SHORT_END : CS_AT(990);
	uint64_t time = CS_AT(20) + synthetic_random(seed) % (20 * CS_MS);
	int64_t value = 0;

	for (int i = 0; i < CS_CHANGES && time < end; i++) {
		uint64_t r = synthetic_random(seed);

		value = total ? value + (int64_t)(r % 1000000)
			      : (int64_t)(r % (512ULL << 20)) - (name == CS_PRESSURE ? 1 << 28 : 0);
		if (name == CS_COLLECTIONS && i == 30)
			value = 3;
		if (time < CS_SPIKE - 1 || time > CS_SPIKE + 1)
			cs_put(v, time, name, value);
		/* two at the same time, too */
		time += r >> 63 ? r >> 40 & 7 : (r >> 32) % (12 * CS_MS);
	}
}

/* Return all values, the same for each call. */
static inline const struct cs_values *cs_values(void)
{
	static struct cs_values v;
	uint64_t seed = 20260131;

	if (v.count)
		return &v;
	cs_put(&v, CS_AT(1), CS_CAPACITY, 512 << 20);
	for (uint64_t name = CS_HEAP; name <= CS_PRESSURE; name++)
		cs_put_changes(&v, name, &seed);
	cs_put(&v, CS_SPIKE, CS_HEAP, CS_SPIKE_HEIGHT);
	cs_put(&v, CS_SPIKE + 1, CS_HEAP, 1 << 20);
	return &v;
}

static inline void counters_build(struct scene *s, const void *unused)
{
	const struct cs_values *v = cs_values();

	(void)unused;
	SCENE_PUT_ALL(s, HOST, cs_hosts);
	SCENE_PUT_ALL(s, PROCESS, cs_processes);
	SCENE_PUT_ALL(s, THREAD, cs_threads);
	SCENE_PUT_ALL(s, LANE, cs_lanes);
	SCENE_PUT_ALL(s, NAME, cs_names);
	for (size_t i = 0; i < SCENE_COUNT(cs_records); i++)
		scene_step(s, &cs_records[i]);
	scene_put_all(s, KIND_COUNTER, v->list, v->count);
	SCENE_PUT_ALL(s, LOSS, cs_losses);
}

DEFINE_SCENE(counters_scene_source, counters_build)

#endif
