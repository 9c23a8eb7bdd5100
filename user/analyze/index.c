// SPDX-License-Identifier: Apache-2.0
/* A map from ids to dense indexes, see index.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "analyze/index.h"

#define INDEX_FIRST_CAPACITY 64

/* Where a key is looked for first. */
static size_t home(const struct index *x, uint64_t key)
{
	return XXH3_64bits_withSeed(&key, sizeof(key), x->seed) & (x->capacity - 1);
}

/* The slot that holds key, or the free one where it belongs. */
static struct index_slot *find(const struct index *x, uint64_t key)
{
	size_t at = home(x, key);

	while (x->slots[at].value != INDEX_NONE && x->slots[at].key != key)
		at = (at + 1) & (x->capacity - 1);
	return &x->slots[at];
}

static int grow(struct index *x)
{
	struct index bigger = {
		.small = x->small,
		.small_count = x->small_count,
		.count = x->count,
		.capacity = x->capacity ? 2 * x->capacity : INDEX_FIRST_CAPACITY,
		.seed = x->seed,
	};

	/* Without random bytes the index works as well, only predictably. */
	if (!x->capacity && getrandom(&bigger.seed, sizeof(bigger.seed), GRND_NONBLOCK) < 0)
		bigger.seed = 0;
	bigger.slots = malloc(bigger.capacity * sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	memset(bigger.slots, 0xff, bigger.capacity * sizeof(*bigger.slots));
	for (size_t i = 0; i < x->capacity; i++)
		if (x->slots[i].value != INDEX_NONE)
			*find(&bigger, x->slots[i].key) = x->slots[i];
	free(x->slots);
	*x = bigger;
	return 0;
}

uint32_t index_get_large(const struct index *x, uint64_t key)
{
	return x->capacity && key >= INDEX_SMALL ? find(x, key)->value : INDEX_NONE;
}

static int grow_small(struct index *x, uint64_t key)
{
	size_t count = x->small_count ? x->small_count : INDEX_FIRST_CAPACITY;
	uint32_t *bigger;

	while (count <= key)
		count *= 2;
	bigger = realloc(x->small, count * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	memset(bigger + x->small_count, 0xff, (count - x->small_count) * sizeof(*bigger));
	x->small = bigger;
	x->small_count = count;
	return 0;
}

int index_put(struct index *x, uint64_t key, uint32_t value)
{
	struct index_slot *slot;

	if (key < INDEX_SMALL) {
		if (key >= x->small_count && grow_small(x, key) < 0)
			return -ENOMEM;
		x->small[key] = value;
		return 0;
	}
	/* At most two thirds full, so that probes stay short. */
	if (3 * (x->count + 1) > 2 * x->capacity && grow(x) < 0)
		return -ENOMEM;
	slot = find(x, key);
	x->count += slot->value == INDEX_NONE;
	*slot = (struct index_slot){.key = key, .value = value};
	return 0;
}

/* Whoever stands behind the hole, and would not be found across it, moves into it. */
void index_remove(struct index *x, uint64_t key)
{
	size_t mask = x->capacity - 1, hole, at;

	if (key < x->small_count)
		x->small[key] = INDEX_NONE;
	if (key < INDEX_SMALL || !x->capacity || find(x, key)->value == INDEX_NONE)
		return;
	hole = (size_t)(find(x, key) - x->slots);
	for (at = (hole + 1) & mask; x->slots[at].value != INDEX_NONE; at = (at + 1) & mask) {
		if (((at - home(x, x->slots[at].key)) & mask) < ((at - hole) & mask))
			continue;
		x->slots[hole] = x->slots[at];
		hole = at;
	}
	x->slots[hole].value = INDEX_NONE;
	x->count--;
}

void index_free(struct index *x)
{
	free(x->small);
	free(x->slots);
	*x = (struct index){0};
}
