// SPDX-License-Identifier: Apache-2.0
/* A map from ids to indexes (index.h). */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "analyze/index.h"

#define INDEX_FIRST_CAPACITY 64

/* Return the number of the slot at which the search for a key begins. */
static size_t index_home_slot(const struct index *x, uint64_t key)
{
	return XXH3_64bits_withSeed(&key, sizeof(key), x->seed) & (x->capacity - 1);
}

/* Return the slot that holds key, or the free one where it would be stored. */
static struct index_slot *index_find_slot(const struct index *x, uint64_t key)
{
	size_t at = index_home_slot(x, key);

	while (x->slots[at].value != INDEX_NONE && x->slots[at].key != key)
		at = (at + 1) & (x->capacity - 1);
	return &x->slots[at];
}

/*
 * Move the hashed keys to a new table with capacity slots, except keys that are below dense_count
 * now: these move to dense.
 */
static int index_rehash(struct index *x, size_t capacity)
{
	struct index fresh = *x;

	/* Without random bytes, the index works, but a forged file could make it slow. */
	if (!x->capacity && getrandom(&fresh.seed, sizeof(fresh.seed), GRND_NONBLOCK) < 0)
		fresh.seed = 0;
	fresh.capacity = capacity;
	fresh.count = 0;
	fresh.slots = malloc(capacity * sizeof(*fresh.slots));
	if (!fresh.slots)
		return -ENOMEM;
	memset(fresh.slots, 0xff, capacity * sizeof(*fresh.slots));
	for (size_t i = 0; i < x->capacity; i++) {
		const struct index_slot *s = &x->slots[i];

		if (s->value == INDEX_NONE)
			continue;
		if (s->key < x->dense_count) {
			x->dense[s->key] = s->value;
			fresh.dense_used++;
		} else {
			*index_find_slot(&fresh, s->key) = *s;
			fresh.count++;
		}
	}
	free(x->slots);
	*x = fresh;
	return 0;
}

uint32_t index_get_hashed(const struct index *x, uint64_t key)
{
	return x->capacity ? index_find_slot(x, key)->value : INDEX_NONE;
}

/*
 * Return whether a new key may become a position in dense: a key below INDEX_SMALL always; a larger
 * key if the values in dense are more than a quarter of the key. As the length of dense is a power
 * of two, at least an eighth of a larger dense is used when it grows.
 */
static bool index_is_dense(const struct index *x, uint64_t key)
{
	return key < INDEX_SMALL || key / 4 < x->dense_used;
}

static int index_grow_dense(struct index *x, uint64_t key)
{
	size_t count = x->dense_count ? x->dense_count : INDEX_FIRST_CAPACITY, had = x->dense_count;
	uint32_t *bigger;

	while (count <= key)
		count *= 2;
	bigger = realloc(x->dense, count * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	memset(bigger + had, 0xff, (count - had) * sizeof(*bigger));
	x->dense = bigger;
	x->dense_count = count;
	if (!x->count || !index_rehash(x, x->capacity))
		return 0;
	x->dense_count = had; /* hashed keys stay in the slots */
	return -ENOMEM;
}

static int index_put_hashed(struct index *x, uint64_t key, uint32_t value)
{
	struct index_slot *slot;

	/* At most two thirds of the slots are used, so that probes stay short. */
	if (3 * (x->count + 1) > 2 * x->capacity &&
	    index_rehash(x, x->capacity ? 2 * x->capacity : INDEX_FIRST_CAPACITY) < 0)
		return -ENOMEM;
	slot = index_find_slot(x, key);
	x->count += slot->value == INDEX_NONE;
	*slot = (struct index_slot){.key = key, .value = value};
	return 0;
}

static int index_put_key(struct index *x, uint64_t key, uint32_t value)
{
	if (key >= x->dense_count && !index_is_dense(x, key))
		return index_put_hashed(x, key, value);
	if (key >= x->dense_count && index_grow_dense(x, key) < 0)
		return -ENOMEM;
	x->dense_used += x->dense[key] == INDEX_NONE;
	x->dense[key] = value;
	return 0;
}

/* Move the appended keys, which take no memory so far, to dense or to the slots. */
static int index_spread_row(struct index *x)
{
	for (uint32_t i = 0; i < x->row_count; i++)
		if (index_put_key(x, x->row_key + i, x->row_value + i) < 0)
			return -ENOMEM;
	x->row_count = 0;
	return 0;
}

int index_put(struct index *x, uint64_t key, uint32_t value)
{
	return x->row_count && index_spread_row(x) < 0 ? -ENOMEM : index_put_key(x, key, value);
}

int index_append(struct index *x, uint64_t key, uint32_t value)
{
	if (!x->row_count && !x->dense_count && !x->capacity) {
		x->row_key = key;
		x->row_value = value;
	} else if (!x->row_count || key - x->row_key != x->row_count ||
		   value - x->row_value != x->row_count) {
		return index_put(x, key, value);
	}
	x->row_count++;
	return 0;
}

/*
 * A search ends at a free slot. So the slot of the removed key is filled from a following slot
 * whose key is searched across it; then that slot is filled in the same way, and so on.
 */
void index_remove(struct index *x, uint64_t key)
{
	size_t mask = x->capacity - 1, hole, at;

	if (key < x->dense_count) {
		x->dense_used -= x->dense[key] != INDEX_NONE;
		x->dense[key] = INDEX_NONE;
		return;
	}
	if (!x->capacity || index_find_slot(x, key)->value == INDEX_NONE)
		return;
	hole = (size_t)(index_find_slot(x, key) - x->slots);
	for (at = (hole + 1) & mask; x->slots[at].value != INDEX_NONE; at = (at + 1) & mask) {
		if (((at - index_home_slot(x, x->slots[at].key)) & mask) < ((at - hole) & mask))
			continue;
		x->slots[hole] = x->slots[at];
		hole = at;
	}
	x->slots[hole].value = INDEX_NONE;
	x->count--;
}

void index_free(struct index *x)
{
	free(x->dense);
	free(x->slots);
	*x = (struct index){0};
}
