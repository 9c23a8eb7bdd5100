/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sort records of many sources by time. The records are distributed over intervals of time, at most
 * twice as many as records, instead of being compared with each other, so the cost per record does
 * not grow with the number of sources: 256 sources cost as much per record as 2
 * (tests/unit/test_merge_cost.c).
 */
#ifndef SKEIN_BASE_TIME_SORTER_H
#define SKEIN_BASE_TIME_SORTER_H

#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"

/* A record, represented by its time and by two numbers that the caller uses to find the record. */
struct timed_item {
	uint64_t time;
	uint32_t source, index; /* chosen by the caller */
};

struct time_sorter {
	VECTOR(struct timed_item) list; /* filled by the caller; sorted by time_sorter_sort() */
	VECTOR(struct timed_item) other; /* scratch, as long as list, to distribute into */
	VECTOR(uint32_t) ends; /* scratch, one item per interval */
};

/*
 * Reserve room for count records in all; time_sorter_sort() does not fail with up to that many.
 * Return 0 or -ENOMEM.
 */
int time_sorter_reserve(struct time_sorter *b, size_t count);
/* Empty the list and free the memory that is not needed for count records. */
void time_sorter_shrink(struct time_sorter *b, size_t count);
/*
 * Sort the list by time; records of equal time stay in the order in which they were added. Return 0
 * or -ENOMEM.
 */
int time_sorter_sort(struct time_sorter *b);
void time_sorter_free(struct time_sorter *b);

#endif
