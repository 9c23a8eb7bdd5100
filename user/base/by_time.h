/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of many sources in order of time. They are distributed over as many intervals of time as
 * there are records, instead of being compared with each other, so the cost of a record does not
 * grow with the number of sources: 256 cost as much as 2 (tests/unit/test_merge_cost.c).
 */
#ifndef SKEIN_BASE_BY_TIME_H
#define SKEIN_BASE_BY_TIME_H

#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"

/* A record: when it is due, and where it stands. */
struct timed {
	uint64_t time;
	uint32_t source, index; /* the user's */
};

struct by_time {
	VECTOR(struct timed) list; /* the user adds, and reads after by_time_sort() */
	VECTOR(struct timed) other; /* as many, to distribute into */
	VECTOR(uint32_t) ends; /* by interval */
};

/* Room for so many records in all, with which by_time_sort() does not fail. 0 or -ENOMEM. */
int by_time_fit(struct by_time *b, size_t count);
/* Empty it, and give back what memory so many records do not need. */
void by_time_shrink(struct by_time *b, size_t count);
/* Put the list in order; of equal times, in the order in which they were added. 0 or -ENOMEM. */
int by_time_sort(struct by_time *b);
void by_time_free(struct by_time *b);

#endif
