/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the clock of every timestamp, and defines time constants of the capture loop. */
#ifndef SKEIN_CAPTURE_CLOCK_H
#define SKEIN_CAPTURE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL

/*
 * Time (ns) that may pass between a record's timestamp and the moment when it can be read from its
 * ring.
 */
#define ORDER_MARGIN (10 * NSEC_PER_MSEC)
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_boot_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

#endif
