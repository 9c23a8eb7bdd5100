/* SPDX-License-Identifier: Apache-2.0 */
/* What wait_division.c, which replaces sums, and wait_division_sums.c, which makes them, share. */
#ifndef SKEIN_ANALYZE_WAIT_DIVISION_PRIVATE_H
#define SKEIN_ANALYZE_WAIT_DIVISION_PRIVATE_H

#include <stdbool.h>

#include "analyze/index.h"
#include "analyze/wait_division.h"
#include "base/vector.h"

/* The sums that replace those of a trace. Sums of time without a stack have the stack NOT_TAKEN. */
struct divided_sums {
	bool made; /* false: the trace has no records of switches, and its sums stay */
	VECTOR(struct sum) list;
};

#define DIVIDED_NOT_TAKEN UINT64_MAX

/*
 * Read the stacks of waits of a source and the states of its threads, and divide the exact times
 * among the stacks. events: the ids of the events whose samples are stacks of waits. Return 0 or a
 * negative errno.
 */
int divided_sums_read(struct divided_sums *out, struct source *source,
		      const struct wait_division *d, const struct index *events, struct error *err);

#endif
