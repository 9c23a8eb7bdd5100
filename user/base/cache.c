// SPDX-License-Identifier: Apache-2.0
/* The two-generation cache of cache.h, and the hashes that are its keys. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <xxhash.h>

#include "base/cache.h"

/*
 * Four slots fit into a cache line, because lookups spend their time waiting for memory. The bits
 * of the key that choose a slot are compared, too.
 */
struct cache_slot {
	uint64_t high; /* upper half of the key; 0 if the slot is empty */
	uint64_t value : CACHE_VALUE_BITS;
	uint64_t low : 64 - CACHE_VALUE_BITS; /* lowest bits of the lower half of the key */
};

/* A generation begins with this many slots, because most caches are never filled. */
#define FIRST_SLOTS ((size_t)1 << 9)
/* Slots are accessed at random, so with small pages almost every access would also miss the TLB. */
#define HUGE_PAGE ((size_t)2 << 20)

/*
 * An open-addressing table with linear probing. At most half of the slots are used, so a probe is
 * short and always ends.
 */
struct cache_generation {
	struct cache_slot *slots;
	size_t used;
	size_t mask; /* number of slots - 1 */
};

struct cache {
	struct cache_generation young, old;
	size_t most; /* slots of a generation, at most */
};

static struct cache_slot *new_cache_slots(size_t count)
{
	size_t bytes = count * sizeof(struct cache_slot);
	void *slots;

	if (bytes % HUGE_PAGE)
		return calloc(1, bytes);
	slots = aligned_alloc(HUGE_PAGE, bytes);
	if (!slots)
		return NULL;
	(void)madvise(slots, bytes, MADV_HUGEPAGE);
	return memset(slots, 0, bytes);
}

static int generation_begin(struct cache_generation *g, size_t slots)
{
	g->slots = new_cache_slots(slots);
	g->used = 0;
	g->mask = slots - 1;
	return g->slots ? 0 : -ENOMEM;
}

struct cache *cache_new(size_t entries)
{
	struct cache *c = calloc(1, sizeof(*c));
	size_t slots = 2;

	if (!c || entries >= SIZE_MAX / 4 / sizeof(struct cache_slot))
		goto out;
	while (slots < 2 * entries)
		slots *= 2;
	c->most = slots;
	if (!generation_begin(&c->young, slots < FIRST_SLOTS ? slots : FIRST_SLOTS) &&
	    !generation_begin(&c->old, 1))
		return c;
out:
	cache_free(c);
	return NULL;
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	free(c->young.slots);
	free(c->old.slots);
	free(c);
}

static bool slot_is_used(const struct cache_slot *s)
{
	return s->high;
}

static struct cache_slot make_cache_slot(struct cache_key key, uint64_t value)
{
	return (struct cache_slot){.high = key.high, .value = value, .low = key.low};
}

/* Return the slot of key, or the empty slot where key would be stored. */
static struct cache_slot *generation_find(const struct cache_generation *g, struct cache_key key)
{
	const struct cache_slot wanted = make_cache_slot(key, 0);
	size_t i = key.high & g->mask;

	for (;; i = (i + 1) & g->mask) {
		struct cache_slot *s = &g->slots[i];

		if (!slot_is_used(s) || (s->high == wanted.high && s->low == wanted.low))
			return s;
	}
}

/* Return the free slot of a larger generation for the entry of s. */
static struct cache_slot *generation_place(const struct cache_generation *g,
					   const struct cache_slot *s)
{
	return generation_find(g, (struct cache_key){.low = s->low, .high = s->high});
}

static void generation_clear(struct cache_generation *g)
{
	memset(g->slots, 0, (g->mask + 1) * sizeof(*g->slots));
	g->used = 0;
}

static int generation_grow(struct cache_generation *g)
{
	struct cache_generation larger;

	if (generation_begin(&larger, 2 * (g->mask + 1)))
		return -ENOMEM;
	for (size_t i = 0; i <= g->mask; i++)
		if (slot_is_used(&g->slots[i]))
			*generation_place(&larger, &g->slots[i]) = g->slots[i];
	larger.used = g->used;
	free(g->slots);
	*g = larger;
	return 0;
}

/*
 * Make the young generation the old one and begin an empty young one. Without memory for that,
 * empty the young generation instead.
 */
static void cache_turn_over(struct cache *c)
{
	struct cache_generation next = c->old;

	if (next.mask == c->young.mask) {
		generation_clear(&next);
	} else if (generation_begin(&next, c->young.mask + 1)) {
		generation_clear(&c->young);
		return;
	} else {
		free(c->old.slots);
	}
	c->old = c->young;
	c->young = next;
}

bool cache_get(struct cache *c, struct cache_key key, uint64_t *out)
{
	const struct cache_slot *s = generation_find(&c->young, key);

	if (slot_is_used(s)) {
		*out = s->value;
		return true;
	}
	if (!c->old.used)
		return false; /* Avoid the cache miss of a lookup in an empty table. */
	s = generation_find(&c->old, key);
	if (!slot_is_used(s))
		return false;
	*out = s->value;
	cache_put(c, key, *out);
	return true;
}

void cache_prefetch(const struct cache *c, struct cache_key key)
{
	__builtin_prefetch(&c->young.slots[key.high & c->young.mask]);
	if (c->old.used)
		__builtin_prefetch(&c->old.slots[key.high & c->old.mask]);
}

void cache_put(struct cache *c, struct cache_key key, uint64_t value)
{
	struct cache_slot *s = generation_find(&c->young, key);

	if (!slot_is_used(s) && c->young.used == (c->young.mask + 1) / 2) {
		if (c->young.mask + 1 == c->most || generation_grow(&c->young))
			cache_turn_over(c);
		s = generation_find(&c->young, key);
	}
	c->young.used += !slot_is_used(s);
	*s = make_cache_slot(key, value);
}

void cache_clear(struct cache *c)
{
	generation_clear(&c->young);
	generation_clear(&c->old);
}

/*
 * Return the seed of all hashes: a whole XXH3 secret, which no profiled process can guess and which
 * need not be derived from a number for every hash. The seed is a static variable, because it never
 * changes after it was drawn, and the keys of all caches must agree. No lock is needed, because
 * only one thread of a process computes hashes.
 */
static const uint8_t *cache_secret(void)
{
	static uint8_t bytes[XXH3_SECRET_DEFAULT_SIZE];
	static bool drawn;

	if (drawn)
		return bytes;
	/* Without a random device, an address and the time are still hard to guess. */
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
		struct timespec now = {0};

		clock_gettime(CLOCK_BOOTTIME, &now);
		XXH3_generateSecret_fromSeed(bytes, (uintptr_t)&now ^ (uint64_t)now.tv_nsec << 32);
	}
	drawn = true;
	return bytes;
}

struct cache_key cache_hash(const void *data, size_t size)
{
	XXH128_hash_t h =
		XXH3_128bits_withSecret(data, size, cache_secret(), XXH3_SECRET_DEFAULT_SIZE);

	return (struct cache_key){.low = h.low64, .high = h.high64 | !h.high64};
}

struct cache_key cache_hash_in(uint64_t context, const void *data, size_t size)
{
	struct cache_key inner = cache_hash(data, size);
	uint64_t block[] = {context, inner.low, inner.high};

	return cache_hash(block, sizeof(block));
}
