/* SPDX-License-Identifier: Apache-2.0 */
/* The axis above lanes: times at round steps, in the form that --from and --to accept. */
#ifndef SKEIN_CMD_LANES_AXIS_H
#define SKEIN_CMD_LANES_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/table.h"

struct axis {
	uint64_t start; /* start of the recording, ns; times are shown relative to it */
	uint64_t time, end; /* the shown range, ns; time >= start */
	unsigned int columns;
	bool utf8;
};

/*
 * Write a time since the start, in a unit that suits last, precisely enough to distinguish times
 * that are a hundredth of range apart: "1.25 s". Return buf.
 */
char *axis_format_time(uint64_t time, uint64_t last, uint64_t range, char *buf, size_t size);

/*
 * Print the axis as a line: ticks at the left edges of their columns, each followed by its label.
 */
void axis_print(const struct axis *a, const struct screen *s);

#endif
