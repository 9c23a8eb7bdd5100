/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters that a JVM keeps for jstat in PerfMemory, which exists unless the JVM runs with
 * -XX:-UsePerfData. Source: OpenJDK, perfMemory.hpp (PerfDataPrologue, PerfDataEntry),
 * perfData.cpp.
 */
#ifndef SKEIN_SYMBOLIZERS_HOTSPOT_PERF_H
#define SKEIN_SYMBOLIZERS_HOTSPOT_PERF_H

#include "symbolizers/hotspot_layout.h"

#define HOTSPOT_COLLECTORS_MAX 4 /* JDK 17 to 25 number them 0 to 2 */
#define HOTSPOT_GENERATIONS_MAX 4 /* JDK 17 to 25 have 0 and 1 */
#define HOTSPOT_PERF_TEXT_MAX 64 /* bytes of a text with its NUL; longer ones are cut */

/*
 * X(NAME, counter, quantity): the counters with one value. quantity: what it is called in a
 * recording; "": it is not recorded by itself. Times are in ns there, and in ticks in the JVM.
 */
#define HOTSPOT_COUNTERS(X) \
	X(FREQUENCY, "sun.os.hrt.frequency", "") /* ticks per second */ \
	X(SAFEPOINTS, "sun.rt.safepoints", "safepoints") \
	X(SAFEPOINT_TIME, "sun.rt.safepointTime", "time in safepoints") \
	X(SYNC_TIME, "sun.rt.safepointSyncTime", "time to safepoints") \
	X(APPLICATION_TIME, "sun.rt.applicationTime", "time between safepoints") \
	X(THREADS_STARTED, "java.threads.started", "threads started") \
	X(THREADS_LIVE, "java.threads.live", "threads live") \
	X(THREADS_PEAK, "java.threads.livePeak", "threads live, peak") \
	X(CLASSES_LOADED, "java.cls.loadedClasses", "classes loaded") \
	X(CLASSES_SHARED, "java.cls.sharedLoadedClasses", "classes loaded from the archive") \
	X(CLASSES_UNLOADED, "java.cls.unloadedClasses", "classes unloaded")

#define HOTSPOT_COUNTER_ENUM(NAME, counter, quantity) HOTSPOT_COUNTER_##NAME,
enum hotspot_counter { HOTSPOT_COUNTERS(HOTSPOT_COUNTER_ENUM) HOTSPOT_COUNTER_COUNT };

struct hotspot_collector {
	char name[HOTSPOT_PERF_TEXT_MAX]; /* "Serial young collection pauses"; "": none */
	uint64_t invocations; /* collections that have begun */
	uint64_t time; /* ticks in collections that have ended */
};

struct hotspot_generation {
	char name[HOTSPOT_PERF_TEXT_MAX]; /* "new", "old"; "": none */
	uint64_t used, capacity; /* bytes of all its spaces, as of the last collection */
};

/* Every one of the values is the process's own word; hotspot_perf_check() has checked texts. */
struct hotspot_perf {
	uint64_t time; /* before they were copied, CLOCK_BOOTTIME, ns; set by the caller */
	uint64_t values[HOTSPOT_COUNTER_COUNT];
	uint64_t present; /* bit of each counter that the JVM has */
	struct hotspot_collector collectors[HOTSPOT_COLLECTORS_MAX]; /* by the JVM's numbers */
	struct hotspot_generation generations[HOTSPOT_GENERATIONS_MAX];
	/* of the collection that went on after all others were read; "No GC": none did */
	char cause[HOTSPOT_PERF_TEXT_MAX];
};

/*
 * Read the counters. Return 0; -EAGAIN: the JVM has not made them yet; -ENOENT: it has none, since
 * it runs with -XX:-UsePerfData, or its tables do not describe them; -EINVAL: they are invalid;
 * -ENOMEM; or the error of memory->read. On failure *out is untouched.
 */
int hotspot_perf_read(struct hotspot_perf *out, const struct hotspot_tables *t,
		      const struct hotspot_memory *memory, struct error *err);

/* Return whether counters from a worker are valid: texts end, and have no control characters. */
bool hotspot_perf_check(const struct hotspot_perf *p);

/* Return what a counter is called in a recording; "": it is not recorded by itself. */
const char *hotspot_counter_quantity(enum hotspot_counter counter);

#endif
