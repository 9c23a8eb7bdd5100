// SPDX-License-Identifier: Apache-2.0
/*
 * Add samples up per (event, thread, stack, flags, wait): a hash table with open addressing and
 * linear probing.
 */
#include "trace/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Size of the hash table, which is large enough that the keys of a recording rarely fill it. The
 * slots, which are searched, take 1 MiB, so they stay in the CPU's cache; new sums, 5.3 MiB in all,
 * are appended.
 */
#define SLOT_BITS 17
#define SLOTS (1u << SLOT_BITS)
/* maximum number of sums, which bounds the load factor, so that probes stay short */
#define SUMS_MAX (SLOTS / 4 * 3)

struct sums_slot {
	/*
	 * part of the key's hash, which distinguishes most keys without a comparison of their sums
	 */
	uint32_t tag;
	uint32_t sum; /* index in items + 1; 0: free */
};

int sums_init(struct sums *s)
{
	s->slots = calloc(SLOTS, sizeof(*s->slots));
	s->items = malloc(SUMS_MAX * sizeof(*s->items));
	s->count = 0;
	return s->slots && s->items ? 0 : -ENOMEM;
}

void sums_free(struct sums *s)
{
	free(s->slots);
	free(s->items);
	*s = (struct sums){0};
}

void sums_clear(struct sums *s)
{
	memset(s->slots, 0, SLOTS * sizeof(*s->slots));
	s->count = 0;
}

/*
 * Return the hash of a sample's key. skein assigns ids in order, so a multiplication distributes
 * them well enough.
 */
static inline uint64_t sample_hash(const struct sample *r, uint64_t flags)
{
	uint64_t h = r->stack * 0x9e3779b97f4a7c15ULL;

	h = (h ^ (h >> 32) ^ r->thread ^ flags << 48 ^ r->wait << 56) * 0xbf58476d1ce4e5b9ULL;
	return (h ^ (h >> 29) ^ r->event) * 0x94d049bb133111ebULL;
}

static inline uint32_t first_slot(uint64_t hash)
{
	return (uint32_t)(hash >> (64 - SLOT_BITS));
}

static inline bool is_sum_of(const struct sum *s, const struct sample *r, uint64_t flags)
{
	return s->stack == r->stack && s->thread == r->thread && s->event == r->event &&
	       s->flags == flags && s->wait == r->wait;
}

bool sums_add(struct sums *s, const struct sample *r)
{
	uint64_t flags = r->flags & SAMPLE_FLAGS_OF_RUNTIME, hash = sample_hash(r, flags);
	uint32_t i = first_slot(hash), tag = (uint32_t)hash;
	struct sum *sum;

	while (s->slots[i].sum &&
	       (s->slots[i].tag != tag || !is_sum_of(&s->items[s->slots[i].sum - 1], r, flags)))
		i = (i + 1) % SLOTS;
	if (!s->slots[i].sum) {
		if (s->count == SUMS_MAX)
			return false;
		s->items[s->count++] = (struct sum){.event = r->event,
						    .thread = r->thread,
						    .stack = r->stack,
						    .flags = flags,
						    .wait = r->wait};
		s->slots[i] = (struct sums_slot){tag, s->count};
	}
	sum = &s->items[s->slots[i].sum - 1];
	sum->count++;
	sum->weight += r->weight;
	return true;
}

void sums_prefetch(const struct sums *s, const struct sample *r)
{
	uint64_t hash = sample_hash(r, r->flags & SAMPLE_FLAGS_OF_RUNTIME);

	__builtin_prefetch(&s->slots[first_slot(hash)], 1);
}
