// SPDX-License-Identifier: Apache-2.0
/* Samples added up per (event, thread, stack, flags): open addressing, linear probing. */
#include "trace/sums.h"

#include <errno.h>
#include <stdlib.h>

/* 6 MiB: few parts for what one recording has in different stacks, and little to search in. */
#define SLOT_BITS 17
#define SLOTS (1u << SLOT_BITS)
#define USED_MAX (SLOTS / 4 * 3) /* probes stay short */

int sums_init(struct sums *s)
{
	s->slots = calloc(SLOTS, sizeof(*s->slots));
	s->used = malloc(USED_MAX * sizeof(*s->used));
	s->count = 0;
	return s->slots && s->used ? 0 : -ENOMEM;
}

void sums_free(struct sums *s)
{
	free(s->slots);
	free(s->used);
	*s = (struct sums){0};
}

void sums_clear(struct sums *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		s->slots[s->used[i]].count = 0;
	s->count = 0;
}

/* Ids are given by skein in order, so a multiplication spreads them well enough. */
static inline uint32_t first_slot(const struct sample *r, uint64_t flags)
{
	uint64_t h = r->stack * 0x9e3779b97f4a7c15ULL;

	h = (h ^ (h >> 32) ^ r->thread ^ flags << 48) * 0xbf58476d1ce4e5b9ULL;
	h = (h ^ (h >> 29) ^ r->event) * 0x94d049bb133111ebULL;
	return (uint32_t)(h >> (64 - SLOT_BITS));
}

bool sums_add(struct sums *s, const struct sample *r)
{
	uint64_t flags = r->flags & SAMPLE_FLAGS_OF_RUNTIME;
	uint32_t i = first_slot(r, flags);
	struct sum *slot = &s->slots[i];

	while (slot->count && (slot->stack != r->stack || slot->thread != r->thread ||
			       slot->event != r->event || slot->flags != flags)) {
		i = (i + 1) % SLOTS;
		slot = &s->slots[i];
	}
	if (!slot->count) {
		if (s->count == USED_MAX)
			return false;
		s->used[s->count++] = i;
		*slot = (struct sum){
			.event = r->event, .thread = r->thread, .stack = r->stack, .flags = flags};
	}
	slot->count++;
	slot->weight += r->weight;
	return true;
}
