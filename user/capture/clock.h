/* SPDX-License-Identifier: Apache-2.0 */
/* Reads clocks in ns. All timestamps of a recording are of CLOCK_BOOTTIME. */
#ifndef SKEIN_CAPTURE_CLOCK_H
#define SKEIN_CAPTURE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL

/*
 * Time (ns) that may pass between a record's timestamp and the moment when the record can be read
 * from its ring. A record that takes longer may be processed out of order.
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
