// SPDX-License-Identifier: Apache-2.0
/* Samples added up per (event, thread, stack): open addressing, linear probing. */
#include "trace/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A commit may touch one page of the file for each key, all of them held in
 * memory until it is done: at most 12 MiB with this many.
 */
#define SLOTS (1u << 12)
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
static inline uint32_t first_slot(const struct sample *r)
{
	uint64_t h = r->stack * 0x9e3779b97f4a7c15ULL;

	h = (h ^ (h >> 32) ^ r->thread) * 0xbf58476d1ce4e5b9ULL;
	h = (h ^ (h >> 29) ^ r->event) * 0x94d049bb133111ebULL;
	return (uint32_t)(h >> 52);
}

_Static_assert(SLOTS == 1u << (64 - 52), "first_slot() takes the top bits");

bool sums_add(struct sums *s, const struct sample *r)
{
	uint32_t i = first_slot(r);
	struct sum *slot = &s->slots[i];

	while (slot->count &&
	       (slot->stack != r->stack || slot->thread != r->thread || slot->event != r->event)) {
		i = (i + 1) % SLOTS;
		slot = &s->slots[i];
	}
	if (!slot->count) {
		if (s->count == USED_MAX)
			return false;
		s->used[s->count++] = i;
		*slot = (struct sum){.event = r->event, .thread = r->thread, .stack = r->stack};
	}
	slot->count++;
	slot->weight += r->weight;
	return true;
}

static int compare(const void *a, const void *b, void *context)
{
	const struct sum *slots = context;
	const struct sum *x = &slots[*(const uint32_t *)a], *y = &slots[*(const uint32_t *)b];

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

void sums_sort(struct sums *s)
{
	qsort_r(s->used, s->count, sizeof(*s->used), compare, s->slots);
}
