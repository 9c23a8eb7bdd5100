// SPDX-License-Identifier: Apache-2.0
/* The arena keeps its free extents sorted by place, allocates first fit, and joins neighbours. */
#include "capture/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "capture/clock.h"

/*
 * Time (ns) after which freed memory may be reused: a walk takes microseconds, but the host of a
 * virtual machine may take the CPU away during a walk.
 */
#define REST_TIME (2 * NSEC_PER_SEC)

struct extent {
	uint32_t place, words;
};

struct resting {
	struct extent extent;
	uint64_t time; /* time at which the extent was released, ns */
};

struct arena {
	arena_chunk_maker make;
	void *context;
	arena_reclaimer reclaim;
	void *reclaim_context;
	uint64_t most, used; /* words */
	VECTOR(uint32_t *) chunks;
	VECTOR(struct extent) extents; /* free extents, sorted by place */
	VECTOR(struct resting) resting; /* extents released but not free yet, sorted by time */
	/* the first so many items of resting have been moved to extents */
	size_t rested;
};

struct arena *arena_new(uint64_t most, arena_chunk_maker make, void *context)
{
	struct arena *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->make = make;
	a->context = context;
	a->most = most / sizeof(uint32_t);
	return a;
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	vector_free(&a->chunks);
	vector_free(&a->extents);
	vector_free(&a->resting);
	free(a);
}

void arena_set_reclaimer(struct arena *a, arena_reclaimer reclaim, void *context)
{
	a->reclaim = reclaim;
	a->reclaim_context = context;
}

static uint32_t round_to_units(uint32_t words)
{
	return (words + ARENA_UNIT - 1) / ARENA_UNIT * ARENA_UNIT;
}

static void remove_extent(struct arena *a, size_t i)
{
	a->extents.count--;
	memmove(&a->extents.items[i], &a->extents.items[i + 1],
		(a->extents.count - i) * sizeof(a->extents.items[0]));
}

/* Chunks are not contiguous in memory, so extents of two different chunks never join. */
static bool extents_join(const struct extent *a, const struct extent *b)
{
	return a->place + a->words == b->place && b->place % ARENA_CHUNK_WORDS;
}

static void insert_extent(struct arena *a, struct extent e)
{
	size_t low = 0, high = a->extents.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (a->extents.items[middle].place < e.place)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && extents_join(&a->extents.items[low - 1], &e)) {
		e.place = a->extents.items[low - 1].place;
		e.words += a->extents.items[low - 1].words;
		remove_extent(a, --low);
	}
	if (low < a->extents.count && extents_join(&e, &a->extents.items[low])) {
		e.words += a->extents.items[low].words;
		remove_extent(a, low);
	}
	if (vector_push(&a->extents, e) < 0)
		return; /* out of memory: the extent is lost until the end */
	memmove(&a->extents.items[low + 1], &a->extents.items[low],
		(a->extents.count - 1 - low) * sizeof(e));
	a->extents.items[low] = e;
}

/* Move the extents that were released more than REST_TIME ago to the free ones. */
static void reuse_rested_extents(struct arena *a, uint64_t now)
{
	while (a->rested < a->resting.count && a->resting.items[a->rested].time + REST_TIME < now)
		insert_extent(a, a->resting.items[a->rested++].extent);
	if (a->rested < 64 || a->rested < a->resting.count / 2)
		return;
	a->resting.count -= a->rested;
	memmove(a->resting.items, a->resting.items + a->rested,
		a->resting.count * sizeof(a->resting.items[0]));
	a->rested = 0;
}

static int arena_add_chunk(struct arena *a)
{
	uint32_t number = (uint32_t)a->chunks.count, *chunk = NULL;
	/*
	 * Extents that were released but are not free yet need room beside the used ones, and so
	 * does fragmentation.
	 */
	uint64_t limit = a->most + a->most / 4 + 2 * ARENA_CHUNK_WORDS;
	int ret;

	if (number >= ARENA_CHUNKS_MAX || (number + 1ULL) * ARENA_CHUNK_WORDS > limit)
		return -ENOSPC;
	if (vector_reserve(&a->chunks, 1) < 0 || vector_reserve(&a->extents, 1) < 0)
		return -ENOMEM;
	ret = a->make(a->context, number, &chunk);
	if (ret)
		return ret;
	a->chunks.items[a->chunks.count++] = chunk;
	insert_extent(a, (struct extent){
				 /* place 0 means "none" */
				 .place = number * ARENA_CHUNK_WORDS + (number ? 0 : ARENA_UNIT),
				 .words = ARENA_CHUNK_WORDS - (number ? 0 : ARENA_UNIT),
			 });
	return 0;
}

static uint32_t take_first_fit(struct arena *a, uint32_t words)
{
	for (size_t i = 0; i < a->extents.count; i++) {
		struct extent *e = &a->extents.items[i];
		uint32_t place = e->place;

		if (e->words < words)
			continue;
		e->place += words;
		e->words -= words;
		if (!e->words)
			remove_extent(a, i);
		return place;
	}
	return 0;
}

/*
 * Return whether that many more words may be used. If necessary, the reclaimer releases others
 * first.
 */
static bool may_use(struct arena *a, uint32_t words, uint64_t now)
{
	if (words > a->most)
		return false; /* reclaiming everything would not help */
	while (a->used + words > a->most)
		if (!a->reclaim || !a->reclaim(a->reclaim_context, now))
			return false;
	return true;
}

uint32_t arena_allocate(struct arena *a, uint32_t words, uint64_t now)
{
	uint32_t place;

	if (!words || words > ARENA_ALLOCATE_MAX)
		return 0;
	words = round_to_units(words);
	if (!may_use(a, words, now))
		return 0;
	reuse_rested_extents(a, now);
	place = take_first_fit(a, words);
	if (!place && arena_add_chunk(a) == 0)
		place = take_first_fit(a, words);
	if (place)
		a->used += words;
	return place;
}

void arena_release(struct arena *a, uint32_t place, uint32_t words, uint64_t now)
{
	struct resting l = {.extent = {place, round_to_units(words)}, .time = now};

	if (!place)
		return;
	a->used -= l.extent.words;
	(void)vector_push(&a->resting, l); /* out of memory: the extent is lost until the end */
}

uint32_t *arena_at(const struct arena *a, uint32_t place)
{
	return a->chunks.items[place >> ARENA_CHUNK_SHIFT] + place % ARENA_CHUNK_WORDS;
}

uint64_t arena_used(const struct arena *a)
{
	return a->used * sizeof(uint32_t);
}

uint64_t arena_size(const struct arena *a)
{
	return a->chunks.count * sizeof(struct arena_chunk);
}

uint64_t arena_limit(const struct arena *a)
{
	return a->most * sizeof(uint32_t);
}
