/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second of a JVM and a Python program on two CPUs, with everything that runtimes report:
 * safepoints with what happens in them, collections with their causes, pauses, concurrent phases
 * that overlap, contended monitors, waits for the GIL, a probe of the user, counters of the heap,
 * waits of the classes of runtimes, samples in a collection, what was not seen. As a source.
 *
 * Times are in ms from the beginning, which is at 1 s.
 */
#ifndef SKEIN_TESTS_RUNTIME_SCENE_H
#define SKEIN_TESTS_RUNTIME_SCENE_H

#include "scene.h"

#define RT_START 1000000000ULL
#undef AT
#define AT(n) (RT_START + (uint64_t)((n)*1000000.0))

static const struct host rt_hosts[] = {
	{1, "web-1", "m", "b", "6.1.0-18-amd64", "x86_64", 2, 8ULL << 30, 1700000000000000000LL,
	 -500000000LL, AT(0), AT(1000)},
};
static const struct event rt_events[] = {
	{1, 1, "cpu-clock", "ns", 10000000, 100},
};
static const struct process rt_processes[] = {
	{1, 1, 4711, 4711, 1, 5, 5, 0, "java", "/usr/bin/java", "/shop", "", 0, "shop"},
	{2, 1, 5000, 5000, 1, 6, 6, 0, "python3", "/usr/bin/python3", "/py", "", 0, ""},
};
static const struct thread rt_threads[] = {
	{1, 1, 4711, 5, 0, "java", 30, 0, "main"},
	{2, 1, 4712, 5, 0, "order-worker-nu", 31, 0, "order-worker-number-1"},
	{3, 1, 4713, 5, 0, "VM Thread", 32, 0, "VM Thread"},
	{4, 2, 5000, 6, 0, "python3", 33, 0, ""},
	{5, 2, 5001, 6, 0, "python3", 34, 0, ""},
	{6, 1, 4714, 5, 0, "evil", 35, 0, "evil\x1b[2J</script>\n"},
};
static const struct lane rt_lanes[] = {
	{1, 1, 0, LANE_CPU, 0, "CPU 0"},
	{2, 1, 0, LANE_CPU, 1, "CPU 1"},
	{20, 1, 0, LANE_PROCESS, 1, "java"},
	{21, 1, 20, LANE_RUNTIME, 0, "JVM"},
	{22, 1, 20, LANE_RUNTIME, 0, "concurrent phases"},
	{23, 1, 20, LANE_RUNTIME, 1, "concurrent phases"},
	{24, 1, 0, LANE_PROCESS, 2, "python3"},
	{30, 1, 20, LANE_THREAD, 1, "java"},
	{31, 1, 20, LANE_THREAD, 2, "order-worker-nu"},
	{32, 1, 20, LANE_THREAD, 3, "VM Thread"},
	{33, 1, 24, LANE_THREAD, 4, "python3"},
	{34, 1, 24, LANE_THREAD, 5, "python3"},
	{35, 1, 20, LANE_THREAD, 6, "evil"},
};

/* Numbers of names. */
enum {
	RT_SAFEPOINT = 1,
	RT_REACHING,
	RT_LEAVING,
	RT_COLLECT,
	RT_REVOKE,
	RT_STOP,
	RT_YOUNG,
	RT_OLD,
	RT_REMARK,
	RT_MARK,
	RT_REBUILD,
	RT_MONITOR,
	RT_GENERATION,
	RT_GIL,
	RT_QUERY,
	RT_HEAP,
	RT_THREADS,
	RT_EVIL,
	RT_BY_MAIN,
	RT_BY_VM,
	RT_EVACUATION,
	RT_SYSTEM_GC,
	RT_COLLECTED,
	RT_EVIL_ARGS,
	RT_BROKEN_ARGS,
	RT_NOTE,
};

static const struct name rt_names[] = {
	{RT_SAFEPOINT, "safepoint"},
	{RT_REACHING, "reaching"},
	{RT_LEAVING, "leaving"},
	{RT_COLLECT, "G1CollectForAllocation"},
	{RT_REVOKE, "ThreadDump"},
	{RT_STOP, "stop"},
	{RT_YOUNG, "G1 Young Generation"},
	{RT_OLD, "G1 Old Generation"},
	{RT_REMARK, "Pause Remark"},
	{RT_MARK, "Concurrent Mark"},
	{RT_REBUILD, "Concurrent Rebuild"},
	{RT_MONITOR, "com.shop.Orders"},
	{RT_GENERATION, "generation 2"},
	{RT_GIL, "GIL"},
	{RT_QUERY, "app:query"},
	{RT_HEAP, "heap used"},
	{RT_THREADS, "threads"},
	{RT_EVIL, "evil\x1b[2J</script>\n\xff"},
	{RT_BY_MAIN, "{\"requested_by\":\"main\"}"},
	{RT_BY_VM, "{\"requested_by\":\"order-worker-number-1\",\"concurrent\":false}"},
	{RT_EVACUATION, "{\"cause\":\"G1 Evacuation Pause\",\"pools\":["
			"{\"name\":\"G1 Eden Space\",\"used_before\":52428800,"
			"\"used_after\":0,\"committed\":104857600},{\"name\":\"G1 Old Gen\","
			"\"used_before\":1048576,\"used_after\":2097152}]}"},
	{RT_SYSTEM_GC, "{\"cause\":\"System.gc()\",\"after\":-1}"},
	{RT_COLLECTED, "{\"collected\":1234}"},
	{RT_EVIL_ARGS, "{\"a\\\"<b>\\u001b\":\"\\ud83d\\ude00\\u0000\",\"n\":[1,{\"]\":2}],"
		       "\"r\":1.5e3,\"t\":true,\"z\":null}"},
	{RT_BROKEN_ARGS, "{\"first\":1,\"second\":\"never ends"},
	{RT_NOTE, ""},
};

/*
 * A safepoint of a collection: 0.2 ms to reach it, the operation with the collection in a stop,
 * 0.1 ms to leave it.
 */
#define RT_COLLECTION(from, to, manager, args) \
	{AT(from), AT(to), 21, RT_SAFEPOINT, 0, SPAN_SAFEPOINT, ORIGIN_NOTE}, \
		{AT(from), AT((from) + 0.2), 21, RT_REACHING, 0, SPAN_REACHING, ORIGIN_NOTE}, \
		{AT((from) + 0.2), AT((to)-0.1), 21, RT_COLLECT, RT_BY_VM, SPAN_OPERATION, \
		 ORIGIN_NOTE}, \
		{AT((from) + 0.3), AT((to)-0.2), 21, RT_STOP, 0, SPAN_GC_STOP, ORIGIN_NOTE}, \
		{AT((from) + 0.4), AT((to)-0.3), 21, manager, args, SPAN_COLLECTION, ORIGIN_NOTE}, \
		{AT((to)-0.1), AT(to), 21, RT_LEAVING, 0, SPAN_LEAVING, ORIGIN_NOTE}

/* Not in the order of time: a span may come when it ends, or when it begins. */
static const struct span rt_spans[] = {
	RT_COLLECTION(100, 105, RT_YOUNG, RT_EVACUATION),
	RT_COLLECTION(300, 310, RT_YOUNG, RT_EVACUATION),
	RT_COLLECTION(250, 252, RT_YOUNG, RT_EVACUATION),
	RT_COLLECTION(700, 740, RT_OLD, RT_SYSTEM_GC),
	{AT(500), AT(503), 21, RT_SAFEPOINT, 0, SPAN_SAFEPOINT, ORIGIN_NOTE},
	{AT(500), AT(502.5), 21, RT_REACHING, 0, SPAN_REACHING, ORIGIN_NOTE},
	{AT(502.5), AT(502.9), 21, RT_REVOKE, RT_BY_MAIN, SPAN_OPERATION, ORIGIN_NOTE},
	{AT(502.9), AT(503), 21, RT_LEAVING, 0, SPAN_LEAVING, ORIGIN_NOTE},
	{AT(990), 0, 21, RT_SAFEPOINT, 0, SPAN_SAFEPOINT, ORIGIN_NOTE}, /* until the end */
	{AT(600), AT(602), 21, RT_SAFEPOINT, 0, SPAN_SAFEPOINT, ORIGIN_NOTE},
	{AT(600.5), AT(601.5), 21, RT_REMARK, 0, SPAN_PAUSE, ORIGIN_FUNCTION},
	{AT(320), AT(590), 22, RT_MARK, 0, SPAN_PHASE, ORIGIN_FUNCTION},
	{AT(560), AT(680), 23, RT_REBUILD, 0, SPAN_PHASE, ORIGIN_FUNCTION},
	{AT(20), AT(60), 31, RT_MONITOR, 0, SPAN_MONITOR, ORIGIN_FUNCTION},
	{AT(200), AT(230), 30, RT_MONITOR, 0, SPAN_MONITOR, ORIGIN_FUNCTION},
	{AT(400), AT(425), 33, RT_GENERATION, RT_COLLECTED, SPAN_COLLECTION, ORIGIN_NOTE},
	{AT(450), AT(470), 34, RT_GIL, 0, SPAN_GIL, ORIGIN_SCHEDULER},
	{AT(800), AT(900), 35, RT_QUERY, RT_EVIL_ARGS, SPAN_PROBE, ORIGIN_NOTE},
	{AT(820), AT(850), 35, RT_QUERY, 0, SPAN_PROBE, ORIGIN_NOTE}, /* calls itself */
	{AT(910), AT(911), 35, RT_EVIL, RT_BROKEN_ARGS, SPAN_PROBE, ORIGIN_FUNCTION},
	{AT(950), AT(950), 35, RT_QUERY, 0, SPAN_MARK, ORIGIN_NOTE}, /* an instant */
	{AT(5), 0, 31, RT_NOTE, 0, SPAN_THREAD, ORIGIN_NOTE},
};
static const struct counter rt_counters[] = {
	{AT(0), 21, RT_HEAP, 10 << 20},	 {AT(99), 21, RT_HEAP, 50 << 20},
	{AT(106), 21, RT_HEAP, 1 << 20}, {AT(299), 21, RT_HEAP, 52 << 20},
	{AT(311), 21, RT_HEAP, 2 << 20}, {AT(699), 21, RT_HEAP, 100 << 20},
	{AT(741), 21, RT_HEAP, 4 << 20}, {AT(999), 21, RT_HEAP, 30 << 20},
	{AT(0), 20, RT_THREADS, 3},	 {AT(500), 20, RT_THREADS, -1},
};

static const struct scene_step rt_records[] = {
	SEEN(0, 31, STATE_SLEEPING, WAIT_PARK),
	SEEN(0, 35, STATE_SLEEPING, WAIT_OBJECT_WAIT),
	SEEN(0, 34, STATE_SLEEPING, WAIT_GIL),
	RAN(1, 0, 200, 1, STATE_SLEEPING, WAIT_MONITOR),
	LINKED(230, 31, 30, EDGE_WAKEUP, 1),
	RAN(1, 200, 230, 2, STATE_SLEEPING, WAIT_PARK),
	RAN(1, 230, 300, 1, STATE_SLEEPING, WAIT_SAFEPOINT),
	LINKED(310, 32, 30, EDGE_WAKEUP, 1),
	RAN(1, 300, 310, 3, STATE_SLEEPING, WAIT_LOCK),
	RAN(2, 0, 430, 4, STATE_SLEEPING, WAIT_GIL),
	LINKED(470, 33, 34, EDGE_WAKEUP, 2),
	LINKED(800, 30, 35, EDGE_WAKEUP, 1),
	CPU_WAS(2, 430, 470, STATE_IDLE),
	RAN(1, 310, 800, 1, STATE_SLEEPING, WAIT_PARK),
	RAN(1, 800, 1000, 6, 0, 0),
	RAN(2, 470, 1000, 5, 0, 0),
};
static const struct mapping rt_mappings[] = {
	{1, 1, MAPPING_FILE, 0, 100000, "/usr/lib/libjvm.so", "aabb"},
	{2, 1, MAPPING_JAVA, 1, 0, "[java]", ""},
};
static const struct function rt_functions[] = {
	{1, 1, "VMThread::run", "", "", 0, 0},
	{2, 2, "com.shop.Main.main", "", "Main.java", 10, 0},
	{3, 1, "G1CollectedHeap::collect", "", "", 0, 0},
};
static const struct frame rt_frames[] = {
	{1, FRAME_NATIVE, 1, 0x1000, 1, 0, FRAME_FLAG_START | FRAME_FLAG_LOOKED_UP},
	{2, FRAME_JAVA, 2, 0x2000, 2, 12, FRAME_FLAG_START | FRAME_FLAG_LOOKED_UP},
	{3, FRAME_NATIVE, 1, 0x3000, 3, 0, FRAME_FLAG_LOOKED_UP},
};
static const struct stack rt_stacks[] = {
	{1, 0, 1},
	{2, 0, 2},
	{3, 1, 3},
};
static const struct sample rt_samples[] = {
	{AT(10), 1, 1, 0, 2, 10000000, 0, 0, 0, 0, 0},
	{AT(20), 1, 1, 0, 2, 10000000, 0, 0, 0, 0, 0},
	{AT(302), 1, 3, 0, 3, 10000000, SAMPLE_FLAG_COLLECTING, 0, 0, 0, 0},
	{AT(410), 1, 4, 1, 1, 10000000, SAMPLE_FLAG_PYTHON | SAMPLE_FLAG_COLLECTING, 0, 0, 0, 0},
};
static const struct loss rt_losses[] = {
	{1, 1, 0, 0, LOSS_PROBES_LOST, AT(600), AT(601), 3, 0},
	{2, 1, 0, 0, LOSS_NOT_SEEN, AT(0), AT(1000), 2, 0},
};

static inline void runtime_build(struct scene *s, const void *unused)
{
	(void)unused;
	SCENE_PUT_ALL(s, HOST, rt_hosts);
	SCENE_PUT_ALL(s, EVENT, rt_events);
	SCENE_PUT_ALL(s, PROCESS, rt_processes);
	SCENE_PUT_ALL(s, THREAD, rt_threads);
	SCENE_PUT_ALL(s, LANE, rt_lanes);
	SCENE_PUT_ALL(s, NAME, rt_names);
	SCENE_PUT_ALL(s, MAPPING, rt_mappings);
	SCENE_PUT_ALL(s, FUNCTION, rt_functions);
	SCENE_PUT_ALL(s, FRAME, rt_frames);
	SCENE_PUT_ALL(s, STACK, rt_stacks);
	SCENE_PUT_ALL(s, SAMPLE, rt_samples);
	for (size_t i = 0; i < SCENE_COUNT(rt_records); i++)
		scene_step(s, &rt_records[i]);
	SCENE_PUT_ALL(s, SPAN, rt_spans);
	SCENE_PUT_ALL(s, COUNTER, rt_counters);
	SCENE_PUT_ALL(s, LOSS, rt_losses);
}

DEFINE_SCENE(runtime_scene_source, runtime_build)

#endif
