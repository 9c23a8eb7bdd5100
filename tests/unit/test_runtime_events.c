// SPDX-License-Identifier: Apache-2.0
/* runtime_events.c: from events of HotSpot's probes to spans and counters (runtime_run.h). */
#include "runtime_run.h"

/* Pass the notes of a pool at the begin or end of a collection. */
static void pool_of(uint64_t us, uint32_t tid, enum probe_meaning meaning, const char *manager,
		    const char *pool, uint64_t used)
{
	const struct probe_row row = {
		.origin = PROBE_NOTE, .name = "", .meaning = meaning, .arguments = 8};

	probe(us, tid,
	      (struct probe_event){
		      .row = &row,
		      .texts = {manager, pool},
		      .arguments = {1, 2, 3, 4, 0, used, 1000, 2000},
	      });
}

/* Pass the notes of a collection of two pools of the heap by the VM thread. */
static void collection(uint64_t from, uint64_t to, const char *manager)
{
	pool_of(from, VM, PROBE_COLLECTION_BEGIN, manager, "Eden", 900);
	pool_of(from, VM, PROBE_COLLECTION_BEGIN, manager, "Old", 50);
	pool_of(to, VM, PROBE_COLLECTION_END, manager, "Eden", 0);
	pool_of(to, VM, PROBE_COLLECTION_END, manager, "Old", 60);
}

#define POOLS \
	"{\"pools\":[{\"name\":\"Eden\",\"used_before\":900,\"used_after\":0,\"committed\":" \
	"1000},{\"name\":\"Old\",\"used_before\":50,\"used_after\":60,\"committed\":1000}]}"

static bool is_collecting(void)
{
	return runtime_events_is_collecting(run.events, task(WORKER, BEGIN).process);
}

/* A safepoint of a stop-the-world collector: reaching, the operation with all inside, leaving. */
START_TEST(a_safepoint_is_divided)
{
	begin();
	vm(0, PROBE_CAUSE, "System.gc()"); /* of the collection before */
	vm(0, PROBE_CAUSE, "No GC");
	hotspot(0, WORKER, PROBE_OPERATION_REQUEST, "GenCollectForAllocation");
	vm(10, PROBE_SAFEPOINT_BEGIN, NULL);
	vm(15, PROBE_OPERATION_BEGIN, "GenCollectForAllocation");
	ck_assert(!is_collecting());
	vm(20, PROBE_STOP_BEGIN, NULL);
	ck_assert(is_collecting());
	vm(20, PROBE_CAUSE, "No GC");
	vm(20, PROBE_CAUSE, "Allocation Failure");
	hotspot(20, WORKER, PROBE_CAUSE, "of another thread");
	collection(21, 30, "Copy");
	vm(31, PROBE_STOP_END, NULL);
	ck_assert(!is_collecting());
	vm(35, PROBE_OPERATION_END, "GenCollectForAllocation");
	vm(40, PROBE_SAFEPOINT_END, NULL);
	end(100);
	ck_assert_str_eq(
		spans(),
		"JVM 10-15 reaching the safepoint \"reaching the safepoint\"\n"
		"JVM 21-30 collection \"Copy\" {\"cause\":\"Allocation Failure\",\"pools\":["
		"{\"name\":\"Eden\",\"used_before\":900,\"used_after\":0,\"committed\":1000},"
		"{\"name\":\"Old\",\"used_before\":50,\"used_after\":60,\"committed\":1000}]}\n"
		"JVM 20-31 stopped for a collection \"stopped for a collection\"\n"
		"JVM 15-35 VM operation \"GenCollectForAllocation\" "
		"{\"requested_by\":\"\",\"tid\":102}\n"
		"JVM 35-40 leaving the safepoint \"leaving the safepoint\"\n"
		"JVM 10-40 safepoint \"safepoint\" {\"operation\":\"GenCollectForAllocation\"}\n");
	ck_assert_uint_eq(kept.lost, 0);
	ck_assert_uint_eq(kept.lanes[2].kind, LANE_RUNTIME);
	ck_assert_uint_eq(kept.lanes[2].parent, 1);
	ck_assert_uint_eq(kept.lanes[1].kind, LANE_PROCESS);
	ck_assert_uint_eq(kept.lanes[1].number, 1);
	over();
}
END_TEST

/* What the heap uses is counted where it changes for the program: at the end of a collection. */
START_TEST(the_heap_is_counted)
{
	begin();
	vm(20, PROBE_STOP_BEGIN, NULL);
	pool_of(21, VM, PROBE_COLLECTION_BEGIN, "Copy", "CodeHeap 'profiled nmethods'", 7);
	pool_of(21, VM, PROBE_COLLECTION_BEGIN, "Copy", "Eden", 900);
	pool_of(21, VM, PROBE_COLLECTION_BEGIN, "Copy", "Old", 50);
	pool_of(30, VM, PROBE_COLLECTION_END, "Copy", "CodeHeap 'profiled nmethods'", 7);
	pool_of(31, VM, PROBE_COLLECTION_END, "Copy", "Eden", 0);
	pool_of(32, VM, PROBE_COLLECTION_END, "Copy", "Old", 60);
	vm(40, PROBE_STOP_END, NULL);
	ck_assert_uint_eq(kept.counter_count, 2);
	ck_assert_int_eq(kept.counters[0].value, 950);
	ck_assert_uint_eq(kept.counters[0].time, stamp(30));
	ck_assert_int_eq(kept.counters[1].value, 60);
	ck_assert_uint_eq(kept.counters[1].time, stamp(32));
	ck_assert_str_eq(text_of(kept.counters[1].name), "heap used");
	ck_assert_str_eq(kept.lanes[kept.counters[1].lane].name, "JVM");
	end(100);
	ck_assert_ptr_null(strstr(spans(), "CodeHeap"));
	over();
}
END_TEST

/* A young collection that fails, and the full one after it, are one operation: two collections. */
START_TEST(young_and_full_in_one_operation)
{
	begin();
	vm(10, PROBE_SAFEPOINT_BEGIN, NULL);
	vm(15, PROBE_OPERATION_BEGIN, "GenCollectForAllocation");
	vm(20, PROBE_STOP_BEGIN, NULL);
	collection(21, 30, "Copy");
	collection(31, 50, "MarkSweepCompact");
	vm(51, PROBE_STOP_END, NULL);
	vm(52, PROBE_OPERATION_END, "GenCollectForAllocation");
	vm(60, PROBE_SAFEPOINT_END, NULL);
	end(100);
	ck_assert_str_eq(
		spans(),
		"JVM 10-15 reaching the safepoint \"reaching the safepoint\"\n"
		"JVM 21-30 collection \"Copy\" " POOLS "\n"
		"JVM 31-50 collection \"MarkSweepCompact\" " POOLS "\n"
		"JVM 20-51 stopped for a collection \"stopped for a collection\"\n"
		"JVM 15-52 VM operation \"GenCollectForAllocation\"\n"
		"JVM 52-60 leaving the safepoint \"leaving the safepoint\"\n"
		"JVM 10-60 safepoint \"safepoint\" {\"operation\":\"GenCollectForAllocation\"}\n");
	ck_assert_uint_eq(kept.lost, 0);
	over();
}
END_TEST

/* A full collection may begin inside of a young one. */
START_TEST(collections_nest)
{
	begin();
	vm(20, PROBE_STOP_BEGIN, NULL);
	pool_of(21, VM, PROBE_COLLECTION_BEGIN, "PS Scavenge", "Eden", 900);
	pool_of(22, VM, PROBE_COLLECTION_BEGIN, "PS MarkSweep", "Eden", 800);
	pool_of(30, VM, PROBE_COLLECTION_END, "PS MarkSweep", "Eden", 0);
	pool_of(31, VM, PROBE_COLLECTION_END, "PS Scavenge", "Eden", 0);
	vm(40, PROBE_STOP_END, NULL);
	end(100);
	ck_assert_str_eq(spans(),
			 "JVM 22-30 collection \"PS MarkSweep\" {\"pools\":[{\"name\":\"Eden\","
			 "\"used_before\":800,\"used_after\":0,\"committed\":1000}]}\n"
			 "JVM 21-31 collection \"PS Scavenge\" {\"pools\":[{\"name\":\"Eden\","
			 "\"used_before\":900,\"used_after\":0,\"committed\":1000}]}\n"
			 "JVM 20-40 stopped for a collection \"stopped for a collection\"\n");
	over();
}
END_TEST

/* G1: two operations, each with a stop, in one safepoint; Remark has no manager. */
START_TEST(two_stops_in_one_safepoint)
{
	begin();
	vm(10, PROBE_SAFEPOINT_BEGIN, NULL);
	vm(15, PROBE_OPERATION_BEGIN, "G1CollectForAllocation");
	vm(16, PROBE_STOP_BEGIN, NULL);
	collection(17, 20, "G1 Young Generation");
	vm(21, PROBE_STOP_END, NULL);
	vm(22, PROBE_OPERATION_END, "G1CollectForAllocation");
	vm(23, PROBE_OPERATION_BEGIN, "G1PauseRemark");
	vm(24, PROBE_STOP_BEGIN, NULL);
	vm(25, PROBE_PAUSE_BEGIN, "Remark");
	vm(28, PROBE_PAUSE_END, NULL);
	vm(29, PROBE_STOP_END, NULL);
	vm(30, PROBE_OPERATION_END, "G1PauseRemark");
	vm(31, PROBE_SAFEPOINT_END, NULL);
	end(100);
	ck_assert_str_eq(
		spans(),
		"JVM 10-15 reaching the safepoint \"reaching the safepoint\"\n"
		"JVM 17-20 collection \"G1 Young Generation\" " POOLS "\n"
		"JVM 16-21 stopped for a collection \"stopped for a collection\"\n"
		"JVM 15-22 VM operation \"G1CollectForAllocation\"\n"
		"JVM 25-28 pause \"Remark\"\n"
		"JVM 24-29 stopped for a collection \"stopped for a collection\"\n"
		"JVM 23-30 VM operation \"G1PauseRemark\"\n"
		"JVM 30-31 leaving the safepoint \"leaving the safepoint\"\n"
		"JVM 10-31 safepoint \"safepoint\" {\"operation\":\"G1CollectForAllocation\"}\n");
	ck_assert_uint_eq(kept.lost, 0);
	over();
}
END_TEST

/* ZGC: a cycle and its phases go on in one thread beside pauses; another cycle overlaps. */
START_TEST(concurrent_phases_have_lanes)
{
	enum { DRIVER = 110, OTHER = 111 };

	begin();
	pool_of(1, DRIVER, PROBE_COLLECTION_BEGIN, "ZGC Cycles", "ZHeap", 900);
	vm(2, PROBE_SAFEPOINT_BEGIN, NULL);
	vm(3, PROBE_OPERATION_BEGIN, "ZMarkStart");
	vm(4, PROBE_STOP_BEGIN, NULL);
	vm(5, PROBE_PAUSE_BEGIN, "Pause Mark Start");
	vm(6, PROBE_PAUSE_END, NULL);
	vm(7, PROBE_STOP_END, NULL);
	vm(8, PROBE_OPERATION_END, "ZMarkStart");
	vm(9, PROBE_SAFEPOINT_END, NULL);
	hotspot(10, DRIVER, PROBE_PHASE_BEGIN, "Concurrent Mark");
	hotspot(12, OTHER, PROBE_PHASE_BEGIN, "Concurrent Relocate");
	hotspot(13, OTHER, PROBE_PHASE_BEGIN, "inner");
	hotspot(14, OTHER, PROBE_PHASE_END, NULL);
	hotspot(20, DRIVER, PROBE_PHASE_END, NULL);
	hotspot(22, OTHER, PROBE_PHASE_END, NULL);
	pool_of(30, DRIVER, PROBE_COLLECTION_END, "ZGC Cycles", "ZHeap", 100);
	hotspot(40, OTHER, PROBE_PHASE_BEGIN, "Concurrent Mark");
	hotspot(41, OTHER, PROBE_PHASE_END, NULL);
	end(100);
	ck_assert_str_eq(
		spans(),
		"JVM 2-3 reaching the safepoint \"reaching the safepoint\"\n"
		"JVM 5-6 pause \"Pause Mark Start\"\n"
		"JVM 4-7 stopped for a collection \"stopped for a collection\"\n"
		"JVM 3-8 VM operation \"ZMarkStart\"\n"
		"JVM 8-9 leaving the safepoint \"leaving the safepoint\"\n"
		"JVM 2-9 safepoint \"safepoint\" {\"operation\":\"ZMarkStart\"}\n"
		"concurrent phases 2 13-14 concurrent phase \"inner\"\n"
		"concurrent phases 10-20 concurrent phase \"Concurrent Mark\"\n"
		"concurrent phases 2 12-22 concurrent phase \"Concurrent Relocate\"\n"
		"concurrent phases 1-30 collection \"ZGC Cycles\" {\"pools\":[{\"name\":\"ZHeap\","
		"\"used_before\":900,\"used_after\":100,\"committed\":1000}]}\n"
		"concurrent phases 40-41 concurrent phase \"Concurrent Mark\"\n");
	ck_assert_uint_eq(kept.counter_count, 1); /* what a cycle began with is past */
	ck_assert_uint_eq(kept.lost, 0);
	over();
}
END_TEST

/* Pass an event of a timer of the JVM with the time (us) of the JVM's clock that it gets. */
static void timed(uint64_t us, enum probe_meaning meaning, const char *name, uint64_t clock)
{
	bool begins = meaning == PROBE_PAUSE_BEGIN;
	const struct probe_row row = {.origin = PROBE_FUNCTION,
				      .name = "",
				      .meaning = meaning,
				      .arguments = begins ? 3 : 2};
	struct probe_event e = {.row = &row, .texts = {name}};

	e.arguments[begins ? 2 : 1] = clock * 1000;
	probe(us, VM, e);
}

/* A pause has the times that the JVM itself took, although its probes come later. */
START_TEST(pauses_have_the_times_of_the_log)
{
	begin();
	vm(1000, PROBE_OPERATION_BEGIN, "A");
	timed(1010, PROBE_PAUSE_BEGIN, "exact", 10);
	timed(1020, PROBE_PAUSE_END, NULL, 20);
	timed(1050, PROBE_PAUSE_BEGIN, "both late", 30);
	timed(1090, PROBE_PAUSE_END, NULL, 60);
	timed(1100, PROBE_PAUSE_BEGIN, "with a stop", 95);
	vm(1101, PROBE_STOP_BEGIN, NULL);
	vm(1140, PROBE_STOP_END, NULL);
	timed(1150, PROBE_PAUSE_END, NULL, 130);
	vm(1200, PROBE_OPERATION_END, "A");
	vm(2000, PROBE_OPERATION_BEGIN, "B");
	timed(2001, PROBE_PAUSE_BEGIN, "before its operation", 990);
	timed(2010, PROBE_PAUSE_END, NULL, 1005);
	vm(2020, PROBE_OPERATION_END, "B");
	timed(3000, PROBE_PAUSE_BEGIN, "hostile", 5);
	timed(3010, PROBE_PAUSE_END, NULL, UINT64_MAX / 1000);
	timed(4000, PROBE_PAUSE_BEGIN, "backwards", 5000);
	timed(4010, PROBE_PAUSE_END, NULL, 4000);
	end(5000);
	ck_assert_uint_eq(kept.lost, 0);
	ck_assert_str_eq(spans(),
			 "JVM 1010-1020 pause \"exact\"\n"
			 "JVM 1030-1060 pause \"both late\"\n"
			 "JVM 1101-1140 stopped for a collection \"stopped for a collection\"\n"
			 "JVM 1095-1140 pause \"with a stop\"\n"
			 "JVM 1000-1200 VM operation \"A\"\n"
			 "JVM 2000-2005 pause \"before its operation\"\n"
			 "JVM 2000-2020 VM operation \"B\"\n"
			 "JVM 3000-3010 pause \"hostile\"\n"
			 "JVM 4000-4010 pause \"backwards\"\n");
	over();
}
END_TEST

/* Operations outside of safepoints, and nested ones. */
START_TEST(operations_need_no_safepoint)
{
	begin();
	vm(10, PROBE_OPERATION_BEGIN, "HandshakeAllThreads");
	vm(12, PROBE_OPERATION_END, "HandshakeAllThreads");
	vm(20, PROBE_SAFEPOINT_BEGIN, NULL);
	vm(21, PROBE_OPERATION_BEGIN, "HeapDumper");
	vm(22, PROBE_OPERATION_BEGIN, "CollectForMetadataAllocation");
	vm(23, PROBE_OPERATION_END, "CollectForMetadataAllocation");
	vm(24, PROBE_OPERATION_END, "HeapDumper");
	vm(25, PROBE_SAFEPOINT_END, NULL);
	end(100);
	ck_assert_str_eq(spans(),
			 "JVM 10-12 VM operation \"HandshakeAllThreads\"\n"
			 "JVM 20-21 reaching the safepoint \"reaching the safepoint\"\n"
			 "JVM 22-23 VM operation \"CollectForMetadataAllocation\"\n"
			 "JVM 21-24 VM operation \"HeapDumper\"\n"
			 "JVM 24-25 leaving the safepoint \"leaving the safepoint\"\n"
			 "JVM 20-25 safepoint \"safepoint\" {\"operation\":\"HeapDumper\"}\n");
	ck_assert_uint_eq(kept.lost, 0);
	over();
}
END_TEST

/* The safepoint in which a JVM ends has no end, and is no loss. */
START_TEST(the_last_safepoint_is_open)
{
	begin();
	vm(10, PROBE_SAFEPOINT_BEGIN, NULL);
	vm(12, PROBE_OPERATION_BEGIN, "Exit");
	end(100);
	ck_assert_str_eq(spans(), "JVM 10-12 reaching the safepoint \"reaching the safepoint\"\n"
				  "JVM 10 safepoint \"safepoint\" {\"operation\":\"Exit\"}\n"
				  "JVM 12 VM operation \"Exit\"\n");
	ck_assert_uint_eq(kept.lost, 0);
	over();
}
END_TEST

/* What began before the probes were attached has only an end. */
START_TEST(the_first_end_may_have_no_begin)
{
	begin();
	pool_of(1, VM, PROBE_COLLECTION_END, "Copy", "Eden", 0);
	vm(2, PROBE_STOP_END, NULL);
	vm(3, PROBE_OPERATION_END, "GenCollectForAllocation");
	vm(4, PROBE_SAFEPOINT_END, NULL);
	hotspot(5, WORKER, PROBE_PHASE_END, NULL);
	end(100);
	ck_assert_str_eq(spans(), "");
	ck_assert_uint_eq(kept.lost, 0);
	over();
}
END_TEST

START_TEST(a_later_end_without_a_begin_is_lost)
{
	begin();
	vm(1, PROBE_STOP_BEGIN, NULL);
	vm(2, PROBE_STOP_END, NULL);
	vm(3, PROBE_STOP_END, NULL);
	end(100);
	ck_assert_str_eq(spans(),
			 "JVM 1-2 stopped for a collection \"stopped for a collection\"\n");
	ck_assert_uint_eq(kept.lost, 1);
	over();
}
END_TEST

/* A begin without an end is no span of a wrong length: it is lost, with what is inside. */
START_TEST(a_missing_end_is_lost)
{
	begin();
	vm(1, PROBE_STOP_BEGIN, NULL);
	pool_of(2, VM, PROBE_COLLECTION_BEGIN, "Copy", "Eden", 900);
	vm(10, PROBE_STOP_BEGIN, NULL);
	vm(11, PROBE_STOP_END, NULL);
	ck_assert(!is_collecting());
	vm(20, PROBE_SAFEPOINT_BEGIN, NULL);
	vm(21, PROBE_OPERATION_BEGIN, "A");
	vm(22, PROBE_STOP_BEGIN, NULL);
	vm(30, PROBE_SAFEPOINT_END, NULL); /* those of the operation and stop are missing */
	ck_assert(!is_collecting());
	vm(40, PROBE_SAFEPOINT_BEGIN, NULL);
	vm(50, PROBE_SAFEPOINT_BEGIN, NULL);
	vm(51, PROBE_SAFEPOINT_END, NULL);
	end(100);
	ck_assert_str_eq(spans(),
			 "JVM 10-11 stopped for a collection \"stopped for a collection\"\n"
			 "JVM 20-21 reaching the safepoint \"reaching the safepoint\"\n"
			 "JVM 20-30 safepoint \"safepoint\" {\"operation\":\"A\"}\n"
			 "JVM 50-51 safepoint \"safepoint\"\n");
	ck_assert_uint_eq(kept.lost, 5);
	over();
}
END_TEST

/*
 * Nothing pairs across a loss, which is where the number of lost events grows; what is missing is
 * not counted twice. Before it and after it, pairs are whole.
 */
START_TEST(a_loss_separates)
{
	begin();
	for (uint64_t i = 1; i < 4; i++) { /* the number wraps */
		vm(0, PROBE_STOP_BEGIN, NULL);
		run.lost = (uint32_t)(i * 0x60000000);
	}
	run.lost = 4;
	vm(1, PROBE_STOP_BEGIN, NULL);
	ck_assert(is_collecting());
	/* the loss is known before the events that precede it have been passed */
	runtime_events_lost(run.events, 9);
	ck_assert(!is_collecting());
	vm(2, PROBE_STOP_END, NULL);
	vm(3, PROBE_STOP_BEGIN, NULL);
	run.lost = 9;
	vm(10, PROBE_STOP_END, NULL);
	vm(11, PROBE_STOP_BEGIN, NULL);
	ck_assert(is_collecting());
	run.lost = 8; /* of another CPU, which read the number before */
	vm(12, PROBE_STOP_END, NULL);
	end(100);
	ck_assert_str_eq(spans(),
			 "JVM 1-2 stopped for a collection \"stopped for a collection\"\n"
			 "JVM 11-12 stopped for a collection \"stopped for a collection\"\n");
	ck_assert_uint_eq(kept.lost, 0);
	over();
}
END_TEST

/* The end of what is open at the end may be lost, so that it is not known how long it took. */
START_TEST(after_a_loss_nothing_is_open_at_the_end)
{
	begin();
	vm(1, PROBE_STOP_BEGIN, NULL);
	runtime_events_lost(run.events, 1);
	end(100);
	ck_assert_str_eq(spans(), "");
	ck_assert_uint_eq(kept.lost, 0);
	over();
}
END_TEST

/* Pools beyond the bound are not kept; the collection still ends with the last of them. */
START_TEST(hostile_pools_are_bounded)
{
	char pool[200];

	begin();
	vm(0, PROBE_STOP_BEGIN, NULL);
	for (int i = 0; i < 1000; i++) {
		snprintf(pool, sizeof(pool), "pool %d <\"\\\xff", i);
		pool_of(1, VM, PROBE_COLLECTION_BEGIN, "m", pool, UINT64_MAX);
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(pool, sizeof(pool), "pool %d <\"\\\xff", i);
		pool_of(2, VM, PROBE_COLLECTION_END, "m", pool, 1);
	}
	vm(3, PROBE_STOP_END, NULL);
	end(100);
	ck_assert_uint_eq(kept.span_count, 2);
	ck_assert_uint_eq(kept.lost, 0);
	ck_assert_ptr_nonnull(strstr(spans(), "\"used_before\":18446744073709551615"));
	over();
}
END_TEST

/* Random events neither crash, nor keep more than the bounds, nor put spans that end too early. */
START_TEST(any_order_is_survived)
{
	static const char *const texts[] = {"", "A", "B", "Copy", "x/y"};

	begin();
	srand(1);
	for (uint64_t i = 0; i < 200000; i++) {
		const struct probe_row row = {
			.origin = (enum probe_origin)(rand() % 3),
			.name = rand() % 2 ? "x__begin" : "x__end",
			.meaning = (enum probe_meaning)(rand() % (PROBE_CAUSE + 1)),
			.arguments = (uint8_t)(rand() % (PROBE_ARGUMENTS_MAX + 1)),
			.texts = {{(uint8_t)(rand() % 9), 0}},
		};
		struct probe_event e = {
			.row = &row,
			.stack_pointer = (uint64_t)rand() % 64 * 8,
			.label = rand() % 2 ? texts[rand() % 5] : NULL,
			.texts = {texts[rand() % 5], texts[rand() % 5]},
		};

		for (int n = 0; n < PROBE_ARGUMENTS_MAX; n++)
			e.arguments[n] = (uint64_t)rand() - 10;
		probe(i, 101 + (uint32_t)rand() % 20, e);
		if (i % 5000 == 0)
			runtime_events_lost(run.events, ++run.lost);
		if (i % 777 == 0)
			ck_assert_int_eq(runtime_events_tick(run.events, stamp(i), NULL), 0);
		is_collecting();
	}
	kept.in_order = true; /* times of the JVM's own clock may be late */
	end(200000);
	for (size_t i = 0; i < kept.span_count && i < MOST; i++)
		ck_assert(!kept.spans[i].end || kept.spans[i].end >= kept.spans[i].time);
	ck_assert_uint_gt(kept.span_count, 10000);
	over();
}
END_TEST

/* The full name of a Java thread, which comm cuts off, and its life. */
START_TEST(threads_have_full_names)
{
	const struct probe_row start = {
		.origin = PROBE_NOTE, .name = "", .meaning = PROBE_THREAD_START};
	struct life_record renamed = {
		.kind = LIFE_COMM, .pid = PID, .tid = WORKER, .text = "a name of more "};

	begin();
	task(WORKER, BEGIN);
	probe(10, WORKER,
	      (struct probe_event){.row = &start, .texts = {"a name of more than 15 bytes"}});
	ck_assert_str_eq(kept.thread_names[1], "a name of more than 15 bytes");
	ck_assert_int_eq(process_table_life(run.table, &renamed, stamp(11), NULL), 0);
	task(WORKER, stamp(12));
	ck_assert_str_eq(kept.thread_names[2], "a name of more than 15 bytes");
	hotspot(20, WORKER, PROBE_THREAD_STOP, NULL);
	renamed.text = "another";
	ck_assert_int_eq(process_table_life(run.table, &renamed, stamp(21), NULL), 0);
	task(WORKER, stamp(22));
	ck_assert_str_eq(kept.thread_names[3], "");
	end(100);
	ck_assert_str_eq(spans(), "thread 1 10-20 Java thread \"a name of more than 15 bytes\"\n");
	over();
}
END_TEST

/* What a thread does itself is on its lane; an event without an end is an instant. */
START_TEST(events_of_threads)
{
	const struct probe_row compile = {
		.origin = PROBE_NOTE, .name = "", .meaning = PROBE_COMPILE_BEGIN};

	begin();
	hotspot(1, WORKER, PROBE_CLASS_LOADED, "java/lang/String");
	probe(2, WORKER, (struct probe_event){.row = &compile, .texts = {"a/B", "run"}});
	hotspot(3, WORKER, PROBE_COMPILE_END, NULL);
	hotspot(4, WORKER, PROBE_EXCEPTION_MADE, NULL);
	hotspot(5, WORKER, PROBE_MONITOR_ENTER, NULL);
	hotspot(6, VM, PROBE_MONITOR_ENTER, NULL);
	hotspot(7, WORKER, PROBE_MONITOR_ENTERED, NULL);
	hotspot(9, VM, PROBE_MONITOR_ENTERED, NULL);
	end(100);
	ck_assert_str_eq(spans(), "thread 1 1-1 class \"java.lang.String\"\n"
				  "thread 1 2-3 compilation \"a.B.run\"\n"
				  "thread 1 4-4 exception \"exception made\"\n"
				  "thread 1 5-7 contended monitor \"contended monitor\"\n"
				  "thread 2 6-9 contended monitor \"contended monitor\"\n");
	over();
}
END_TEST

SUITE("runtime events", a_safepoint_is_divided, the_heap_is_counted,
      young_and_full_in_one_operation, collections_nest, two_stops_in_one_safepoint,
      concurrent_phases_have_lanes, pauses_have_the_times_of_the_log, operations_need_no_safepoint,
      the_last_safepoint_is_open, the_first_end_may_have_no_begin,
      a_later_end_without_a_begin_is_lost, a_missing_end_is_lost, a_loss_separates,
      after_a_loss_nothing_is_open_at_the_end, hostile_pools_are_bounded, any_order_is_survived,
      threads_have_full_names, events_of_threads)
