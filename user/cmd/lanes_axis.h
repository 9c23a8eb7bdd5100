/* SPDX-License-Identifier: Apache-2.0 */
/* The axis above lanes: times at round steps, as --from and --to take them. */
#ifndef SKEIN_CMD_LANES_AXIS_H
#define SKEIN_CMD_LANES_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/table.h"

struct axis {
	uint64_t start;	    /* of the recording: times are told from it, ns */
	uint64_t time, end; /* what is shown; time >= start */
	unsigned int columns;
	bool utf8;
};

/*
 * A time since the start, in the unit that suits last, and as finely as it takes to tell
 * times apart that lie a hundredth of range away from each other: "1.25 s". Returns buf.
 */
char *axis_time(uint64_t time, uint64_t last, uint64_t range, char *buf, size_t size);

/* A line: ticks at the left edges of their columns, each before its label. */
void axis_put(const struct axis *a, const struct screen *s);

#endif
