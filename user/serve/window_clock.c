// SPDX-License-Identifier: Apache-2.0
/* The wall clock, for the age of windows (window_clock.h). */
#include "serve/window_clock.h"

#include <stdlib.h>

#define NSEC_PER_SEC 1000000000ULL
/* A change of the clock by more than this (ns) is a jump; less is an adjustment. */
#define JUMP ((int64_t)(60 * NSEC_PER_SEC))
/* ns after which a jump counts */
#define TRIAL (3600 * NSEC_PER_SEC)

struct window_now window_clock_read(struct window_clock *c, uint64_t boot, uint64_t utc)
{
	int64_t offset = (int64_t)(utc - boot);

	if (!c->begun || llabs(offset - c->offset) <= JUMP) {
		*c = (struct window_clock){.begun = true, .offset = offset};
	} else if (!c->since || llabs(offset - c->jumped) > JUMP) {
		c->jumped = offset;
		c->since = boot;
	} else if (boot - c->since >= TRIAL) {
		*c = (struct window_clock){.begun = true, .offset = offset};
	}
	return (struct window_now){utc / NSEC_PER_SEC, (boot + (uint64_t)c->offset) / NSEC_PER_SEC};
}
