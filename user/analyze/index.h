/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from 64-bit keys to 32-bit values. Ids of a trace become dense indexes
 * by it. They begin at 1 and grow, so most are positions in an array, as long as
 * a quarter of it is used; the others are hashed: open addressing, linear probing.
 *
 * Keys come from files that anybody may have written, so they are hashed
 * under a random seed. Zeroed memory is an empty index.
 */
#ifndef SKEIN_ANALYZE_INDEX_H
#define SKEIN_ANALYZE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX
#define INDEX_SMALL 65536 /* keys below this are positions in any case */

struct index_slot {
	uint64_t key;
	uint32_t value; /* INDEX_NONE: the slot is free */
};

struct index {
	uint64_t row_key; /* of row_count keys in a row, whose values are one, too */
	uint32_t row_value, row_count;
	uint32_t *dense; /* values of the smallest keys */
	size_t dense_count; /* 0 or a power of two */
	size_t dense_used; /* of them */
	struct index_slot *slots; /* of the others */
	size_t count; /* in slots */
	size_t capacity; /* 0 or a power of two */
	uint64_t seed;
};

/* The same of a key that is no position. */
uint32_t index_get_hashed(const struct index *x, uint64_t key);

/* The value of a key, or INDEX_NONE. */
static inline uint32_t index_get(const struct index *x, uint64_t key)
{
	if (key - x->row_key < x->row_count)
		return x->row_value + (uint32_t)(key - x->row_key);
	return key < x->dense_count ? x->dense[key] : index_get_hashed(x, key);
}

/* Set or replace the value of a key (not to INDEX_NONE): 0 or -ENOMEM. */
int index_put(struct index *x, uint64_t key, uint32_t value);
/*
 * The same of a key that is new, for who removes none: keys that come one after the other, and so
 * do their values, take no memory.
 */
int index_append(struct index *x, uint64_t key, uint32_t value);
/*
 * Whether a key follows on all that was appended, which is one row: it is new then, and
 * index_extend() appends it with the value that follows.
 */
static inline bool index_is_next(const struct index *x, uint64_t key)
{
	return x->row_count && key - x->row_key == x->row_count && !x->dense_count && !x->capacity;
}

static inline uint32_t index_extend(struct index *x)
{
	return x->row_value + x->row_count++;
}

/* Forget a key, if it is there and nothing was appended. */
void index_remove(struct index *x, uint64_t key);
void index_free(struct index *x);

#endif
