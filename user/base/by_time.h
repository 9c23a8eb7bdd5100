/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sort records of many sources by time. The records are distributed over as many intervals of time
 * as there are records instead of being compared with each other, so the cost per record does not
 * grow with the number of sources: 256 sources cost as much per record as 2
 * (tests/unit/test_merge_cost.c).
 */
#ifndef SKEIN_BASE_BY_TIME_H
#define SKEIN_BASE_BY_TIME_H

#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"

/* A record, represented by its time and by two numbers that the caller uses to find the record. */
struct timed {
	uint64_t time;
	uint32_t source, index; /* chosen by the caller */
};

struct by_time {
	VECTOR(struct timed) list; /* filled by the caller; sorted by by_time_sort() */
	VECTOR(struct timed) other; /* scratch, as long as list, to distribute into */
	VECTOR(uint32_t) ends; /* scratch, one item per interval */
};

/*
 * Reserve room for count records in all; by_time_sort() does not fail with up to that many. Return
 * 0 or -ENOMEM.
 */
int by_time_fit(struct by_time *b, size_t count);
/* Empty the list and free the memory that is not needed for count records. */
void by_time_shrink(struct by_time *b, size_t count);
/*
 * Sort the list by time; records of equal time stay in the order in which they were added. Return 0
 * or -ENOMEM.
 */
int by_time_sort(struct by_time *b);
void by_time_free(struct by_time *b);

#endif
