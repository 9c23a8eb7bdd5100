/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates memory that the BPF programs read (layout: bpf/unwind/world.h), in chunks of 1 MiB that
 * are made as they are needed. A place in the arena is a number of 32-bit words. Freed memory is
 * not reused at once, because a BPF walker may still be reading that memory.
 */
#ifndef SKEIN_CAPTURE_ARENA_H
#define SKEIN_CAPTURE_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/unwind/world.h"

/*
 * Make chunk number `number` and store its address in *out; the maker keeps ownership. Returns 0 or
 * a negative errno.
 */
typedef int (*arena_chunk_maker)(void *context, uint32_t number, uint32_t **out);

struct arena;

/*
 * Make an arena. most: maximum bytes in use at a time. context: first argument of make. Returns
 * NULL when out of memory.
 */
struct arena *arena_new(uint64_t most, arena_chunk_maker make, void *context);
void arena_free(struct arena *a);

/*
 * Called when an allocation would exceed arena_limit(): the reclaimer releases some memory of the
 * arena and returns true, or returns false if it has none to release. NULL: no reclaimer. now: ns.
 */
typedef bool (*arena_reclaimer)(void *context, uint64_t now);
void arena_set_reclaimer(struct arena *a, arena_reclaimer reclaim, void *context);

/* alignment of allocations in words: size of a struct unwind_mapping, and half a cache line */
#define ARENA_UNIT 8
#define ARENA_ALLOCATE_MAX (ARENA_CHUNK_WORDS - ARENA_UNIT)

/*
 * Allocate words, at most ARENA_ALLOCATE_MAX, rounded up to whole units; the memory is not zeroed.
 * now: ns. Returns the place, or 0 if there is no room or the number of words is invalid.
 */
uint32_t arena_allocate(struct arena *a, uint32_t words, uint64_t now);
/* Release an allocation of so many words; place 0 is ignored. now: ns. */
void arena_release(struct arena *a, uint32_t place, uint32_t words, uint64_t now);

/* Return the memory at a place. */
uint32_t *arena_at(const struct arena *a, uint32_t place);

/* Return the bytes in use, the bytes of all chunks, and the bytes of the limit (arena_new()). */
uint64_t arena_used(const struct arena *a);
uint64_t arena_size(const struct arena *a);
uint64_t arena_limit(const struct arena *a);

#endif
