/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The axis above lanes: times at round steps, in numbers and units that --from and --to accept if
 * written without the blank ("1.5s").
 */
#ifndef SKEIN_CMD_LANES_AXIS_H
#define SKEIN_CMD_LANES_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/table.h"

struct axis {
	uint64_t start; /* start of the recording, ns; labels show the time since the start */
	uint64_t time, end; /* the shown range, ns; time >= start */
	unsigned int columns;
	bool utf8;
};

/*
 * Write a time since the start of the recording (ns): "1.25 s". The unit is the one that suits the
 * time last, so that several times have the same unit; the precision is at least a hundredth of
 * range. Return buf.
 */
char *axis_format_time(uint64_t time, uint64_t last, uint64_t range, char *buf, size_t size);

/*
 * Print the axis as a line: ticks at the left edges of their columns, each followed by its label.
 */
void axis_print(const struct axis *a, const struct screen *s);

#endif
