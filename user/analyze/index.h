/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from 64-bit keys to 32-bit values, mostly from ids of a trace to dense indexes. Ids begin
 * at 1 and grow, so most keys are positions in an array, unless that would leave most of the array
 * unused. The other keys are hashed, with open addressing and linear probing.
 *
 * Keys may come from hostile files, so they are hashed with a random seed. Zeroed memory is an
 * empty index.
 */
#ifndef SKEIN_ANALYZE_INDEX_H
#define SKEIN_ANALYZE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX
#define INDEX_SMALL 65536 /* keys below this are never hashed */

struct index_slot {
	uint64_t key;
	uint32_t value; /* INDEX_NONE: the slot is free */
};

struct index {
	/*
	 * first of row_count consecutive keys with consecutive values, which take no other memory
	 */
	uint64_t row_key;
	uint32_t row_value, row_count;
	uint32_t *dense; /* values by key, for small keys */
	size_t dense_count; /* 0 or a power of two */
	size_t dense_used; /* number of values in dense */
	struct index_slot *slots; /* for the other keys */
	size_t count; /* number of used slots */
	size_t capacity; /* 0 or a power of two */
	uint64_t seed;
};

/* Like index_get(), for a key that is neither in the row nor a position in dense. */
uint32_t index_get_hashed(const struct index *x, uint64_t key);

/* Return the value of a key, or INDEX_NONE. */
static inline uint32_t index_get(const struct index *x, uint64_t key)
{
	if (key - x->row_key < x->row_count)
		return x->row_value + (uint32_t)(key - x->row_key);
	return key < x->dense_count ? x->dense[key] : index_get_hashed(x, key);
}

/* Set or replace the value of a key (not by INDEX_NONE). Return 0 or -ENOMEM. */
int index_put(struct index *x, uint64_t key, uint32_t value);
/*
 * Like index_put() for a new key, in an index from which no key is removed. As long as the keys and
 * their values are both consecutive, they are one row, which takes no memory.
 */
int index_append(struct index *x, uint64_t key, uint32_t value);
/*
 * Return whether all keys of the index are one row, and key follows the last of them. The key is
 * new then, and index_extend() appends it with the next value, which it returns.
 */
static inline bool index_is_next(const struct index *x, uint64_t key)
{
	return x->row_count && key - x->row_key == x->row_count && !x->dense_count && !x->capacity;
}

static inline uint32_t index_extend(struct index *x)
{
	return x->row_value + x->row_count++;
}

/* Remove a key, if it is present. Not for an index with which index_append() was used. */
void index_remove(struct index *x, uint64_t key);
void index_free(struct index *x);

#endif
