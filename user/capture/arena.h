/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the kernel side reads (bpf/unwind/world.h), in chunks of 1 MiB
 * that are made as they are needed. What is freed is not used again at once,
 * since a walker may still be reading it.
 */
#ifndef SKEIN_CAPTURE_ARENA_H
#define SKEIN_CAPTURE_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/unwind/world.h"

/* A new chunk: its memory in *ret, which stays the maker's. 0 or a negative errno. */
typedef int (*arena_chunk_maker)(void *context, uint32_t number, uint32_t **ret);

struct arena;

/* most: bytes that may be in use at a time. NULL without memory. */
struct arena *arena_new(uint64_t most, arena_chunk_maker make, void *context);
void arena_free(struct arena *a);

/*
 * Whom to ask when all that may be used is: it gives something back and returns true, or
 * false if it has nothing more. NULL: nobody.
 */
typedef bool (*arena_reclaimer)(void *context, uint64_t now);
void arena_reclaim_by(struct arena *a, arena_reclaimer reclaim, void *context);

#define ARENA_UNIT 8 /* words: a mapping of world.h, and half a cache line */
#define ARENA_TAKE_MAX (ARENA_CHUNK_WORDS - ARENA_UNIT)

/*
 * Room for so many words, at most ARENA_TAKE_MAX, zeroed by nobody; whole units, aligned.
 * now: ns. Its place, or 0 if there is none.
 */
uint32_t arena_take(struct arena *a, uint32_t words, uint64_t now);
/* Give back what was taken; place 0 is nothing. */
void arena_give(struct arena *a, uint32_t place, uint32_t words, uint64_t now);

uint32_t *arena_at(const struct arena *a, uint32_t place);

/* Bytes in use, and of all chunks. */
uint64_t arena_used(const struct arena *a);
uint64_t arena_size(const struct arena *a);
uint64_t arena_most(const struct arena *a);

#endif
