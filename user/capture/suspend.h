/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds times in which the machine was suspended: CLOCK_BOOTTIME, which stamps the records, goes on
 * meanwhile, and CLOCK_MONOTONIC, by which timers and events run, does not.
 */
#ifndef SKEIN_CAPTURE_SUSPEND_H
#define SKEIN_CAPTURE_SUSPEND_H

#include <stdbool.h>
#include <stdint.h>

/* A shorter time (ns) is not noted; a suspend takes a tenth of a second at least. */
#define SUSPEND_LEAST 10000000LL

/* CLOCK_BOOTTIME, read between two readings of CLOCK_MONOTONIC: ns. */
struct suspend_reading {
	uint64_t before, boot, after;
};

/* Zeroed at first. */
struct suspend_watch {
	bool begun;
	int64_t asleep; /* ns by which CLOCK_BOOTTIME is ahead, at most, at the last suspend */
};

/*
 * Return for how long (ns) the machine was suspended since the last time that this was reported; 0:
 * it was not. The first call begins. A thread that loses its CPU between the readings is not taken
 * for a suspend.
 */
static inline uint64_t suspend_watch(struct suspend_watch *w, const struct suspend_reading *r)
{
	int64_t least = (int64_t)(r->boot - r->after), most = (int64_t)(r->boot - r->before);
	int64_t slept = w->begun ? least - w->asleep : 0;

	if (w->begun && slept < SUSPEND_LEAST)
		return 0;
	w->begun = true;
	w->asleep = most;
	return (uint64_t)slept;
}

#endif
