/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add up a quantity of time over the time of a recording, in buckets of equal length. There are at
 * most SERIES_BUCKETS buckets; when they do not suffice, every two are joined.
 */
#ifndef SKEIN_ANALYZE_SERIES_H
#define SKEIN_ANALYZE_SERIES_H

#include <stdint.h>

#define SERIES_BUCKETS 512

struct series {
	uint64_t from, width; /* ns: start of the first bucket, and length of each bucket */
	uint64_t length; /* ns covered so far; the last bucket may be shorter */
	uint64_t sums[SERIES_BUCKETS];
};

/* Begin with the range [from, to), in ns; to 0: not known. The range grows with later times. */
void series_init(struct series *s, uint64_t from, uint64_t to);
/* Add [time, end); the part before from is ignored. */
void series_add(struct series *s, uint64_t time, uint64_t end);
/*
 * Return the time that was added within [time, end). A bucket that lies partly within the range
 * counts in proportion.
 */
double series_sum(const struct series *s, uint64_t time, uint64_t end);

#endif
