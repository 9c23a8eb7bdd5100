/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of something there was when: time added up in buckets of equal length. However long
 * it gets, there are at most SERIES_BUCKETS of them; two become one when they do not reach.
 */
#ifndef SKEIN_ANALYZE_SERIES_H
#define SKEIN_ANALYZE_SERIES_H

#include <stdint.h>

#define SERIES_BUCKETS 512

struct series {
	uint64_t from, width; /* ns: where the first bucket begins, and the length of each */
	uint64_t length; /* ns up to where something is added; the last one may be shorter */
	uint64_t sums[SERIES_BUCKETS];
};

/* Cover [from, to), ns; to 0: as much as will come. */
void series_init(struct series *s, uint64_t from, uint64_t to);
/* Add [time, end), of which what lies before from is left out. */
void series_add(struct series *s, uint64_t time, uint64_t end);
/* What was added within [time, end); a bucket that lies in it in part counts by that part. */
double series_sum(const struct series *s, uint64_t time, uint64_t end);

#endif
