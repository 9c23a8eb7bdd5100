// SPDX-License-Identifier: Apache-2.0
/*
 * The probes that skein knows. Notes and arguments of HotSpot: src/hotspot/os/posix/dtrace of
 * OpenJDK 17 to 25; of CPython: Include/pydtrace.d; of Ruby: probes.d; of PostgreSQL:
 * src/backend/utils/probes.d.
 */
#include "base/probes.h"

#include "base/record.h"

/* The arguments with the address and the length of a text, counted from 0. */
#define TEXT(at, size) \
	{ \
		(at) + 1, (size) + 1 \
	}
/* The argument with the address of a text that ends with a NUL. */
#define STRING(at) \
	{ \
		(at) + 1, 0 \
	}

/* The event of the stacks of a row. */
#define STACKS(event) ((event) + 1)

#define GC (PROBE_PART_GC | PROBE_PART_JVM)
#define JVM PROBE_PART_JVM
#define PYTHON (PROBE_PART_GC | PROBE_PART_PYTHON)

#define NOTE(owner, text) .origin = PROBE_NOTE, .provider = (owner), .name = (text)
#define ENTRY(owner, text) .origin = PROBE_FUNCTION, .provider = (owner), .name = (text)
#define RETURN(owner, text) .origin = PROBE_RETURN, .provider = (owner), .name = (text)

const struct probe_row probe_rows[] = {
	/* full collection or not */
	{NOTE("hotspot", "gc__begin"), .parts = GC, .meaning = PROBE_STOP_BEGIN, .arguments = 1,
	 .reports = "a stop of all threads for garbage collection begins",
	 .rate = "one for each pause"},
	{NOTE("hotspot", "gc__end"), .parts = GC, .meaning = PROBE_STOP_END,
	 .reports = "that stop ends", .rate = "one for each pause"},
	/* manager, pool; bytes: initial, used, committed, most */
	{NOTE("hotspot", "mem__pool__gc__begin"), .parts = GC, .meaning = PROBE_COLLECTION_BEGIN,
	 .texts = {TEXT(0, 1), TEXT(2, 3)}, .arguments = 8,
	 .reports = "a collection by a memory manager begins: its pools",
	 .rate = "3 to 8 for each collection"},
	{NOTE("hotspot", "mem__pool__gc__end"), .parts = GC, .meaning = PROBE_COLLECTION_END,
	 .texts = {TEXT(0, 1), TEXT(2, 3)}, .arguments = 8,
	 .reports = "a collection by a memory manager ends: its pools",
	 .rate = "3 to 8 for each collection"},
	/* this; the cause, which the JVM shows as sun.gc.cause */
	{ENTRY("hotspot", "PerfString::set_string"), .parts = GC, .meaning = PROBE_CAUSE,
	 .texts = {STRING(1)}, .arguments = 2, .reports = "a collection has this cause, or is over",
	 .rate = "4 for each collection"},
	/* this; name of the pause; time by the JVM's own clock, ns */
	{ENTRY("hotspot", "GCTimer::register_gc_pause_start"), .parts = GC,
	 .meaning = PROBE_PAUSE_BEGIN, .texts = {STRING(1)}, .arguments = 3, .pointers = 1 << 2,
	 .reports = "a named pause begins", .rate = "one for each pause"},
	{ENTRY("hotspot", "GCTimer::register_gc_pause_end"), .parts = GC,
	 .meaning = PROBE_PAUSE_END, .arguments = 2, .pointers = 1 << 1,
	 .reports = "a named pause ends", .rate = "one for each pause"},
	{ENTRY("hotspot", "ConcurrentGCTimer::register_gc_concurrent_start"), .parts = GC,
	 .meaning = PROBE_PHASE_BEGIN, .texts = {STRING(1)}, .arguments = 3, .pointers = 1 << 2,
	 .reports = "a concurrent phase begins", .rate = "up to 10 for each cycle"},
	{ENTRY("hotspot", "ConcurrentGCTimer::register_gc_concurrent_end"), .parts = GC,
	 .meaning = PROBE_PHASE_END, .arguments = 2, .pointers = 1 << 1,
	 .reports = "a concurrent phase ends", .rate = "up to 10 for each cycle"},

	{NOTE("hs_private", "safepoint__begin"), .parts = JVM, .meaning = PROBE_SAFEPOINT_BEGIN,
	 .reports = "threads are requested to stop", .rate = "a few a second"},
	{NOTE("hs_private", "safepoint__end"), .parts = JVM, .meaning = PROBE_SAFEPOINT_END,
	 .reports = "threads may run again", .rate = "a few a second"},
	/* name; mode */
	{NOTE("hotspot", "vmops__request"), .parts = JVM, .meaning = PROBE_OPERATION_REQUEST,
	 .texts = {TEXT(0, 1)}, .arguments = 3, .reports = "a thread requests a VM operation",
	 .rate = "a few a second"},
	{NOTE("hotspot", "vmops__begin"), .parts = JVM, .meaning = PROBE_OPERATION_BEGIN,
	 .texts = {TEXT(0, 1)}, .arguments = 3, .reports = "a VM operation begins",
	 .rate = "a few a second"},
	{NOTE("hotspot", "vmops__end"), .parts = JVM, .meaning = PROBE_OPERATION_END,
	 .texts = {TEXT(0, 1)}, .arguments = 3, .reports = "a VM operation ends",
	 .rate = "a few a second"},
	/* name; Java's number, Linux's number, whether it is a daemon */
	{NOTE("hotspot", "thread__start"), .parts = JVM, .meaning = PROBE_THREAD_START,
	 .texts = {TEXT(0, 1)}, .arguments = 5, .reports = "a Java thread starts",
	 .rate = "one for each thread"},
	{NOTE("hotspot", "thread__stop"), .parts = JVM, .meaning = PROBE_THREAD_STOP,
	 .texts = {TEXT(0, 1)}, .arguments = 5, .reports = "a Java thread ends",
	 .rate = "one for each thread"},

	/* class; loader; whether it is of the shared archive */
	{NOTE("hotspot", "class__loaded"), .parts = PROBE_PART_CLASSES,
	 .meaning = PROBE_CLASS_LOADED, .texts = {TEXT(0, 1)}, .arguments = 4,
	 .reports = "a class was loaded", .rate = "thousands while a program starts"},
	/* compiler, class, method, signature */
	{NOTE("hotspot", "method__compile__begin"), .parts = PROBE_PART_JIT,
	 .meaning = PROBE_COMPILE_BEGIN, .texts = {TEXT(2, 3), TEXT(4, 5)}, .arguments = 8,
	 .reports = "a compiler begins a method", .rate = "thousands while a program starts"},
	{NOTE("hotspot", "method__compile__end"), .parts = PROBE_PART_JIT,
	 .meaning = PROBE_COMPILE_END, .texts = {TEXT(2, 3), TEXT(4, 5)}, .arguments = 8,
	 .reports = "a compiler ends a method", .rate = "thousands while a program starts"},

	/* JNIEnv; the exception */
	{ENTRY("hotspot", "JVM_FillInStackTrace"), .parts = PROBE_PART_EXCEPTIONS,
	 .meaning = PROBE_EXCEPTION_MADE, .arguments = 2, .stacks = STACKS(HIT_EXCEPTION),
	 .reports = "an exception with a stack trace is made",
	 .rate = "one for each; not those that are thrown again"},
	{ENTRY("hotspot", "InterpreterRuntime::exception_handler_for_exception"),
	 .parts = PROBE_PART_EXCEPTIONS, .meaning = PROBE_EXCEPTION_CAUGHT, .arguments = 2,
	 .reports = "a frame of the interpreter looks for a handler",
	 .rate = "one for each frame that an exception leaves"},
	{ENTRY("hotspot", "Runtime1::exception_handler_for_pc"), .parts = PROBE_PART_EXCEPTIONS,
	 .meaning = PROBE_EXCEPTION_CAUGHT, .arguments = 1,
	 .reports = "a frame compiled by C1 looks for a handler",
	 .rate = "one for each frame that an exception leaves"},
	{ENTRY("hotspot", "OptoRuntime::handle_exception_C"), .parts = PROBE_PART_EXCEPTIONS,
	 .meaning = PROBE_EXCEPTION_CAUGHT, .arguments = 1,
	 .reports = "a frame compiled by C2 looks for a handler",
	 .rate = "one for each frame that an exception leaves; not throws that became jumps"},

	/* thread; kind of the entry of the stub */
	{ENTRY("hotspot", "Deoptimization::fetch_unroll_info_helper"), .parts = PROBE_PART_DEOPT,
	 .meaning = PROBE_DEOPTIMIZED, .arguments = 2,
	 .reports = "a compiled frame goes back to the interpreter",
	 .rate = "hundreds while a program warms up"},
	{ENTRY("hotspot", "MemAllocator::allocate"), .parts = PROBE_PART_ALLOC,
	 .meaning = PROBE_ALLOCATED, .arguments = 1, .stacks = STACKS(HIT_ALLOCATION),
	 .reports = "an object is allocated in the slow path",
	 .rate = "one for each buffer of a thread, and each large object"},

	/* monitor; thread: JDK 17 and 21; 25 */
	{ENTRY("hotspot", "ObjectMonitor::EnterI"), .parts = PROBE_PART_MONITORS,
	 .meaning = PROBE_MONITOR_ENTER, .arguments = 2,
	 .reports = "a thread finds a monitor taken", .rate = "one for each contention"},
	{RETURN("hotspot", "ObjectMonitor::EnterI"), .parts = PROBE_PART_MONITORS,
	 .meaning = PROBE_MONITOR_ENTERED, .reports = "the thread has got the monitor",
	 .rate = "one for each contention"},
	{ENTRY("hotspot", "ObjectMonitor::enter_with_contention_mark"),
	 .parts = PROBE_PART_MONITORS, .meaning = PROBE_MONITOR_ENTER, .arguments = 2,
	 .reports = "a thread finds a monitor taken", .rate = "one for each contention"},
	{RETURN("hotspot", "ObjectMonitor::enter_with_contention_mark"),
	 .parts = PROBE_PART_MONITORS, .meaning = PROBE_MONITOR_ENTERED,
	 .reports = "the thread has got the monitor", .rate = "one for each contention"},

	/* the note: generation; number of collected objects */
	{NOTE("python", "gc__start"), .parts = PYTHON, .meaning = PROBE_PYTHON_COLLECTION_BEGIN,
	 .arguments = 1, .reports = "a collection begins", .rate = "one for each collection"},
	{NOTE("python", "gc__done"), .parts = PYTHON, .meaning = PROBE_PYTHON_COLLECTION_END,
	 .arguments = 1, .reports = "a collection ends", .rate = "one for each collection"},
	/*
	 * CPython 3.10 to 3.14: thread, generation. 3.9 and older: the same, or the state of the
	 * collector, or the generation alone. The result is the number of objects.
	 */
	{ENTRY("python", "gc_collect_main"), .parts = PYTHON,
	 .meaning = PROBE_PYTHON_COLLECTION_BEGIN, .arguments = 2, .reports = "a collection begins",
	 .rate = "one for each collection"},
	{RETURN("python", "gc_collect_main"), .parts = PYTHON,
	 .meaning = PROBE_PYTHON_COLLECTION_END, .arguments = 1, .reports = "a collection ends",
	 .rate = "one for each collection"},
	{ENTRY("python", "collect"), .parts = PYTHON, .meaning = PROBE_PYTHON_COLLECTION_BEGIN,
	 .arguments = 2, .reports = "a collection begins", .rate = "one for each collection"},
	{RETURN("python", "collect"), .parts = PYTHON, .meaning = PROBE_PYTHON_COLLECTION_END,
	 .arguments = 1, .reports = "a collection ends", .rate = "one for each collection"},

	{NOTE("ruby", "gc__mark__begin"), .parts = PROBE_PART_OTHERS, .meaning = PROBE_BEGIN,
	 .reports = "marking begins", .rate = "one for each collection"},
	{NOTE("ruby", "gc__mark__end"), .parts = PROBE_PART_OTHERS, .meaning = PROBE_END,
	 .reports = "marking ends", .rate = "one for each collection"},
	{NOTE("ruby", "gc__sweep__begin"), .parts = PROBE_PART_OTHERS, .meaning = PROBE_BEGIN,
	 .reports = "sweeping begins", .rate = "one for each collection"},
	{NOTE("ruby", "gc__sweep__end"), .parts = PROBE_PART_OTHERS, .meaning = PROBE_END,
	 .reports = "sweeping ends", .rate = "one for each collection"},

	/* the text of the query, its argument, is not read: traces hold no contents of memory */
	{NOTE("postgresql", "query__start"), .parts = PROBE_PART_OTHERS, .meaning = PROBE_BEGIN,
	 .reports = "a query begins", .rate = "one for each query"},
	{NOTE("postgresql", "query__done"), .parts = PROBE_PART_OTHERS, .meaning = PROBE_END,
	 .reports = "a query ends", .rate = "one for each query"},
	{NOTE("postgresql", "sort__start"), .parts = PROBE_PART_OTHERS, .meaning = PROBE_BEGIN,
	 .reports = "a sort begins", .rate = "one for each sort"},
	{NOTE("postgresql", "sort__done"), .parts = PROBE_PART_OTHERS, .meaning = PROBE_END,
	 .reports = "a sort ends", .rate = "one for each sort"},
	{NOTE("postgresql", "checkpoint__start"), .parts = PROBE_PART_OTHERS,
	 .meaning = PROBE_BEGIN, .reports = "a checkpoint begins", .rate = "one in minutes"},
	{NOTE("postgresql", "checkpoint__done"), .parts = PROBE_PART_OTHERS, .meaning = PROBE_END,
	 .reports = "a checkpoint ends", .rate = "one in minutes"},
};

const unsigned int probe_row_count = sizeof(probe_rows) / sizeof(*probe_rows);

bool probe_parts_have_stacks(unsigned int parts, enum hit_event event)
{
	for (unsigned int i = 0; i < probe_row_count; i++)
		if (probe_rows[i].parts & parts && probe_rows[i].stacks == STACKS(event))
			return true;
	return false;
}

const char *hit_event_name(enum hit_event event)
{
	return event == HIT_EXCEPTION ? EVENT_EXCEPTIONS : EVENT_ALLOCATIONS;
}
