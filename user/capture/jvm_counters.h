/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters that a JVM keeps of itself, over a recording: what has changed since the last
 * reading, and how many collections and pauses it has counted between the first reading and the
 * last that were not recorded.
 */
#ifndef SKEIN_CAPTURE_JVM_COUNTERS_H
#define SKEIN_CAPTURE_JVM_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/runtime_events.h"
#include "symbolizers/hotspot_perf.h"

struct jvm_reading {
	struct hotspot_perf perf;
	uint64_t time; /* before the counters were copied, ns; 0: there is no reading */
	uint64_t until; /* after that, ns */
};

/* Start with zeroed memory. */
struct jvm_counters {
	struct jvm_reading begin, now; /* the first and the last reading */
	/* the first and the last one between collections, when no counter was in motion */
	struct jvm_reading quiet_begin, quiet;
};

/* Gets a quantity that is new or has changed. Return 0 or a negative errno. */
typedef int jvm_counters_fn(void *context, const char *quantity, int64_t value);

/*
 * Take a reading, and call each for what it has that the last one had not. Return 0, or the first
 * error of each.
 */
int jvm_counters_take(struct jvm_counters *c, const struct jvm_reading *reading,
		      jvm_counters_fn *each, void *context);

/*
 * Return how many collections, pauses and phases the JVM of a process has counted between two
 * readings that are not among the spans of its recording. It is never too many.
 */
uint64_t jvm_counters_not_seen(const struct jvm_counters *c, const struct runtime_events *r,
			       const struct process_entry *p);

#endif
