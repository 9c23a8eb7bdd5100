/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded map from 128-bit keys to 48-bit values that forgets entries not used for long. The map
 * consists of two generations, which are open-addressing tables. A lookup that finds its key in the
 * old generation copies the entry to the young one. When the young generation is full, it becomes
 * the old one, and the former old generation is dropped. So memory is bounded, little memory is
 * used while there are few entries, and every operation takes constant time on average, without a
 * list to maintain.
 *
 * Keys are hashes with a random seed, so that no profiled process can produce collisions on
 * purpose. Keys that are equal in 80 bits are taken to be the same key.
 */
#ifndef SKEIN_BASE_CACHE_H
#define SKEIN_BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cache_key {
	uint64_t low, high; /* high is not 0 */
};

/* Values must be smaller than 2^CACHE_VALUE_BITS. */
#define CACHE_VALUE_BITS 48

struct cache;

/*
 * Create a cache. Each of the two generations holds at most this number of entries, rounded up to a
 * power of two, and takes up to 32 bytes per entry. Return NULL without memory.
 */
struct cache *cache_new(size_t entries);
void cache_free(struct cache *c);

/* Look up key. Return true and store the value in *out if key is in the cache. */
bool cache_get(struct cache *c, struct cache_key key, uint64_t *out);
/* Prefetch the memory that a lookup of key will read, because memory is slow. */
void cache_prefetch(const struct cache *c, struct cache_key key);
/* Store value under key, replacing an older value. This may drop the old generation. */
void cache_put(struct cache *c, struct cache_key key, uint64_t value);
void cache_clear(struct cache *c);

/* Return the key of a block of bytes, using a seed that is drawn once per run of the process. */
struct cache_key cache_hash(const void *data, size_t size);
/*
 * Return the key of a block of bytes in a context: the hash of context followed by the hash of the
 * block.
 */
struct cache_key cache_hash_in(uint64_t context, const void *data, size_t size);

#endif
