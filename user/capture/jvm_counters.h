/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters that a JVM keeps of itself, over a recording: what has changed since the last
 * reading, and how many collections it has counted between the first reading and the last.
 */
#ifndef SKEIN_CAPTURE_JVM_COUNTERS_H
#define SKEIN_CAPTURE_JVM_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizers/hotspot_perf.h"

struct jvm_reading {
	struct hotspot_perf perf;
	uint64_t time; /* ns; 0: there is none */
};

/* Start with zeroed memory. */
struct jvm_counters {
	struct jvm_reading now; /* the last reading */
	/* the first and the last reading between collections, whose counts are not in motion */
	struct jvm_reading first, last;
};

/* Gets a quantity that is new or has changed. Return 0 or a negative errno. */
typedef int jvm_counters_fn(void *context, const char *quantity, int64_t value);

/*
 * Take a reading of a time (ns), and call each for what it has that the last one had not. Return 0,
 * or the first error of each.
 */
int jvm_counters_take(struct jvm_counters *c, const struct hotspot_perf *p, uint64_t time,
		      jvm_counters_fn *each, void *context);

/*
 * Return the memory manager, as probes name it, whose collections a counter of collections counts
 * exactly; NULL: there is none, or the counter counts something else.
 */
const char *jvm_counters_manager(const struct hotspot_collector *c);

/*
 * Return how many collections the JVM has counted between c->first and c->last with one of its
 * collectors; 0 without two readings.
 */
uint64_t jvm_counters_collections(const struct jvm_counters *c, unsigned int collector);

#endif
