/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded map from 128-bit keys to 48-bit values that forgets what was not
 * used for long. Two generations of open-addressing tables: what is found in
 * the old one moves to the young one; when the young one is full it becomes
 * the old one and the former old one is forgotten. So memory is bounded, less
 * is taken until there is that much to remember, and every operation takes
 * constant time on average, without a list to maintain.
 *
 * Keys are hashes seeded at random, so that no profiled process can aim for
 * collisions; keys that are equal in 80 bits are taken as equal things.
 */
#ifndef SKEIN_BASE_CACHE_H
#define SKEIN_BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cache_key {
	uint64_t low, high; /* high: not 0 */
};

/* Values must be smaller than 2 to this power. */
#define CACHE_VALUE_BITS 48

struct cache;

/*
 * entries: how many a generation holds at most, rounded up to a power of two; each takes 32 bytes.
 * NULL without memory.
 */
struct cache *cache_new(size_t entries);
void cache_free(struct cache *c);

/* True and the value in *ret if the key is known. */
bool cache_get(struct cache *c, struct cache_key key, uint64_t *ret);
/* A key is about to be looked up: memory is slow. */
void cache_prefetch(const struct cache *c, struct cache_key key);
/* Remember value, replacing an older one. */
void cache_put(struct cache *c, struct cache_key key, uint64_t value);
void cache_clear(struct cache *c);

/* The key of a block of bytes, under a seed drawn once per process run. */
struct cache_key cache_hash(const void *data, size_t size);
/* The key of bytes in a context: mixes context in front of the block's hash. */
struct cache_key cache_hash_in(uint64_t context, const void *data, size_t size);

#endif
