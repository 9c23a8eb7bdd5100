// SPDX-License-Identifier: Apache-2.0
/*
 * make_samples FILE TURNS [CPUS THREADS EACH]: write the trace of CPUs on which threads take turns
 * of 10 ms, one after the other, with EACH samples in each turn, a stack of the wait before it, and
 * one thread more that sleeps all the time. So a test knows which function ran where: in turn N of
 * a CPU (from 0) function N % 7 of "work 0" to "work 6" runs, below "main" and "loop", and in every
 * 1,000th turn "rare" instead. TURNS is the number of turns of each CPU.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "scene.h"
#include "trace/trace.h"

#define START 5000000000000ULL /* ns */
#define TURN 10000000ULL /* ns */
#define WORKS 7
#define RARE 1000 /* turns between those of the function "rare" */
#define CPU_LANE(n) (1 + (uint64_t)(n))
#define THREAD_LANE(n) (10000 + (uint64_t)(n))
#define STACK_WAIT 3 /* stack.id; those of functions follow */
#define STACK_OF(work) (STACK_WAIT + 1 + (uint64_t)(work))
#define EVENT_CPU 1
#define EVENT_WAITS 2

struct turns {
	unsigned int count, cpus, threads, each;
	struct scene scene;
};

static void put_functions(struct scene *s)
{
	char name[32];

	scene_mapping(s, .id = 1, .process = 1, .kind = MAPPING_FILE, .path = "/usr/bin/turns",
		      .build_id = "aa");
	for (unsigned int i = 0; i < WORKS + 4; i++) {
		static const char *const first[] = {"main", "loop", "wait_for_turn"};

		if (i < 3)
			snprintf(name, sizeof(name), "%s", first[i]);
		else if (i < 3 + WORKS)
			snprintf(name, sizeof(name), "work %u", i - 3);
		else
			snprintf(name, sizeof(name), "rare");
		scene_function(s, .id = i + 1, .mapping = 1, .name = name);
		scene_frame(s, .id = i + 1, .kind = FRAME_NATIVE, .mapping = 1,
			    .address = 0x1000 + i, .function = i + 1,
			    .flags = i ? 0 : FRAME_FLAG_START);
		scene_stack(s, .id = i + 1, .parent = i < 2 ? i : 2, .frame = i + 1);
	}
}

static void put_entities(struct turns *t, uint64_t end)
{
	struct scene *s = &t->scene;

	scene_host(s, .id = 1, .hostname = "turns", .cpus = t->cpus, .start = START, .end = end);
	if (end)
		return;
	scene_event(s, .id = EVENT_CPU, .host = 1, .name = "cpu-clock", .unit = "ns",
		    .period = TURN / t->each, .frequency = 100 * t->each);
	scene_event(s, .id = EVENT_WAITS, .host = 1, .name = EVENT_OFF_CPU, .unit = "ns");
	scene_process(s, .id = 1, .host = 1, .pid = 100, .comm = "turns");
	for (unsigned int i = 0; i < t->cpus; i++)
		scene_lane(s, .id = CPU_LANE(i), .host = 1, .kind = LANE_CPU, .number = i);
	for (unsigned int i = 0; i <= t->threads; i++) {
		scene_thread(s, .id = i + 1, .process = 1, .tid = 100 + i, .start = START,
			     .comm = i < t->threads ? "turner" : "sleeper", .lane = THREAD_LANE(i));
		scene_lane(s, .id = THREAD_LANE(i), .host = 1, .kind = LANE_THREAD,
			   .number = i + 1);
		scene_slice(s, .time = START, .lane = THREAD_LANE(i), .state = STATE_SLEEPING,
			    .wait = WAIT_SLEEP);
	}
	put_functions(s);
}

/* Put the samples of a turn, and before them the wait of its thread, if it had a turn before. */
static void put_samples(struct turns *t, unsigned int turn, unsigned int cpu, unsigned int thread)
{
	uint64_t begin = START + turn * TURN;
	uint64_t waited = t->threads / t->cpus * TURN - TURN;
	uint64_t stack = STACK_OF(turn % RARE == RARE - 1 ? WORKS : turn % WORKS);

	if (turn * TURN > waited)
		scene_sample(&t->scene, .time = begin + 1000, .event = EVENT_WAITS,
			     .thread = thread + 1, .cpu = cpu, .stack = STACK_WAIT,
			     .weight = waited, .length = waited, .wait = WAIT_SLEEP);
	for (unsigned int i = 0; i < t->each; i++)
		scene_sample(&t->scene, .time = begin + (2 * i + 1) * TURN / (2 * t->each),
			     .event = EVENT_CPU, .thread = thread + 1, .cpu = cpu, .stack = stack,
			     .weight = TURN / t->each);
}

static void put_turns(struct turns *t, struct sink *sink)
{
	for (unsigned int turn = 0; turn < t->count && !t->scene.ret; turn++) {
		uint64_t begin = START + turn * TURN;

		for (unsigned int cpu = 0; cpu < t->cpus; cpu++) {
			unsigned int thread = (turn * t->cpus + cpu) % t->threads;

			scene_edge(&t->scene, .time = begin, .end = begin, .from = CPU_LANE(cpu),
				   .to = THREAD_LANE(thread), .kind = EDGE_WAKEUP, .value = cpu);
			scene_slice(&t->scene, .time = begin, .end = begin + TURN,
				    .lane = CPU_LANE(cpu), .state = STATE_RUNNING,
				    .value = thread + 1, .left = STATE_SLEEPING,
				    .wait = WAIT_SLEEP);
			put_samples(t, turn, cpu, thread);
		}
		if (turn % 100 == 99 && !t->scene.ret)
			t->scene.ret = sink_tick(sink, begin + TURN, t->scene.err);
	}
}

static unsigned int number_of(int argc, char **argv, int at, unsigned int usual)
{
	return argc > at ? (unsigned int)strtoul(argv[at], NULL, 10) : usual;
}

int main(int argc, char **argv)
{
	struct turns t = {
		.count = number_of(argc, argv, 2, 0),
		.cpus = number_of(argc, argv, 3, 2),
		.threads = number_of(argc, argv, 4, 8),
		.each = number_of(argc, argv, 5, 1),
	};
	struct error err = {""};
	struct sink *sink = NULL;
	int ret;

	if (!t.count || !t.cpus || !t.each || t.threads < t.cpus || t.threads % t.cpus)
		return log_error(2, "usage: make_samples FILE TURNS [CPUS THREADS EACH]; THREADS "
				    "is a multiple of CPUS");
	ret = trace_writer(&sink, argv[1], &err);
	if (!ret) {
		t.scene = (struct scene){sink, &err, 0};
		put_entities(&t, 0);
		put_turns(&t, sink);
		put_entities(&t, START + t.count * TURN);
		ret = t.scene.ret;
	}
	if (!ret)
		ret = sink->ops->finish(sink, &err);
	sink_free(sink);
	return ret < 0 ? log_failure(1, &err) : 0;
}
