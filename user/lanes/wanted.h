/* SPDX-License-Identifier: Apache-2.0 */
/* How many threads wanted a CPU over time: those that ran, and those that could have run. */
#ifndef SKEIN_LANES_WANTED_H
#define SKEIN_LANES_WANTED_H

#include "lanes/counters.h"
#include "lanes/lanes.h"

/*
 * Stretches of threads that are read for a range at most, which takes some 0.1 s of CPU time. A
 * range that has more is lost in all columns; that is known after a part of them.
 */
#define WANTED_STRETCHES_MOST (1u << 20)

/*
 * Compute the mean number of threads that were running or runnable, for count columns that divide a
 * range as those of a counter do. Columns in which more threads were unknown than wanted a CPU are
 * lost; so are all if the range has too many stretches, or no source of them. Return 0 or a
 * negative errno, with *columns undefined.
 */
int lanes_wanted_columns(const struct lanes *l, const struct counter_range *r,
			 struct counter_column *columns, struct error *err);

#endif
