/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wall clock, for the age of windows. It may be set while the service runs: to a wrong time for
 * a while, by mistake, or to the right one. So a jump counts for the age only after an hour.
 */
#ifndef SKEIN_SERVE_WINDOW_CLOCK_H
#define SKEIN_SERVE_WINDOW_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct window_clock {
	bool begun;
	int64_t offset; /* ns to add to CLOCK_BOOTTIME to get the time that counts */
	int64_t jumped; /* the offset after a jump that does not count yet */
	uint64_t since; /* CLOCK_BOOTTIME of that jump, ns; 0: there was none */
};

/* Two clocks, s since 1970, which differ within an hour of a jump. */
struct window_now {
	uint64_t wall; /* the clock as it is set */
	uint64_t steady; /* without a jump of the last hour */
};

/*
 * Return the time. c: zeroed before the first call, whose time counts. boot: CLOCK_BOOTTIME, ns;
 * utc: the wall clock, ns since 1970.
 */
struct window_now window_clock_read(struct window_clock *c, uint64_t boot, uint64_t utc);

#endif
