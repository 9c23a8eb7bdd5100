/* SPDX-License-Identifier: Apache-2.0 */
/* A Bloom filter with one hash: rules out most ids that are not in an index. */
#ifndef SKEIN_TRACE_ID_FILTER_H
#define SKEIN_TRACE_ID_FILTER_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed memory is an empty filter. */
struct id_filter {
	uint64_t words[1024];
};

static inline uint64_t id_filter_hash(uint64_t id)
{
	return id * 0x9e3779b97f4a7c15ULL >> 48;
}

static inline void id_filter_add(struct id_filter *s, uint64_t id)
{
	s->words[id_filter_hash(id) >> 6] |= 1ULL << (id_filter_hash(id) & 63);
}

static inline bool id_filter_has(const struct id_filter *s, uint64_t id)
{
	return s->words[id_filter_hash(id) >> 6] >> (id_filter_hash(id) & 63) & 1;
}

#endif
