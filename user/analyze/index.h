/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from 64-bit keys to 32-bit values: open addressing, linear probing.
 * Ids of a trace become dense indexes by it.
 *
 * Keys come from files that anybody may have written, so they are hashed
 * under a random seed. Zeroed memory is an empty index.
 */
#ifndef SKEIN_ANALYZE_INDEX_H
#define SKEIN_ANALYZE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

struct index_slot {
	uint64_t key;
	uint32_t value; /* INDEX_NONE: the slot is free */
};

struct index {
	struct index_slot *slots;
	size_t count;
	size_t capacity; /* 0 or a power of two */
	uint64_t seed;
};

/* The value of a key, or INDEX_NONE. */
uint32_t index_get(const struct index *x, uint64_t key);
/* Set or replace the value of a key (not to INDEX_NONE): 0 or -ENOMEM. */
int index_put(struct index *x, uint64_t key, uint32_t value);
/* Forget a key, if it is there. */
void index_remove(struct index *x, uint64_t key);
void index_free(struct index *x);

#endif
