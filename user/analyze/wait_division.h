/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source that wraps a source and makes the sums of stacks of waits add up to the exact times that
 * threads were blocked, which the records of switches say (sched.h): in each group of threads, for
 * each class of wait, as wait_sum_divide() divides them. Time without a stack is the sum of a stack
 * that consists of the mark END_NOT_TAKEN only, with a count of 0.
 *
 * Groups should be as large as what is shown. In a group with few waits chance leaves short waits
 * without any stack, and so time that the stacks of other groups cannot stand for.
 */
#ifndef SKEIN_ANALYZE_WAIT_DIVISION_H
#define SKEIN_ANALYZE_WAIT_DIVISION_H

#include "base/pipe.h"

struct wait_division {
	struct source *records; /* all records, whatever the inner source passes */
	uint64_t from, to; /* ns since the recording began, as for the inner source; to 0: all */
	/*
	 * Set *out to the number of the group of a thread: 0 for the first group, 1 for the next,
	 * and so on. If the thread or its process is not known, its texts are empty and its numbers
	 * 0. Return 0, 1 if the thread is not selected, or a negative errno.
	 */
	int (*group)(void *context, const struct process *p, const struct thread *t, uint32_t *out);
	void *context;
};

/*
 * Make the source. d, its source and inner, which run several times, must outlive it; they are not
 * freed with it. Sinks that want no sums, and traces without stacks of waits, get the records of
 * inner unchanged. Return 0 or -ENOMEM.
 */
int wait_division_source(struct source **out, struct source *inner, const struct wait_division *d,
			 struct error *err);

#endif
