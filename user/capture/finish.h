/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks that could not be finished in the kernel, because a mapping or a table
 * was not there yet: the same walker goes on here, over the registers and the
 * piece of stack that came with the sample, in the mappings of its moment.
 */
#ifndef SKEIN_CAPTURE_FINISH_H
#define SKEIN_CAPTURE_FINISH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"
#include "bpf/event.h"
#include "bpf/unwind/world.h"

/* What the walker looks things up in. */
struct finish_world {
	struct unwind_slot *slots;
	const struct unwind_rule *rules;
	/* a chunk of the arena, NULL if there is none of that number */
	const struct arena_chunk *(*chunk)(const void *context, uint32_t number);
	const void *context;
	uint32_t mappings, mapping_count; /* of the address space, in the arena */
	/* a bit for each word of the copied stack, set if the walk reads it; NULL: nobody asks */
	uint64_t *read;
};

#define FINISH_READ_WORDS (WIRE_STACK_BYTES / sizeof(uint64_t) / 64)

/* A walk that stands somewhere. */
struct unfinished {
	struct wire_unfinished at;
	/* at.bytes, from address at.stack on, then at.outer_bytes, from at.outer on */
	const void *stack;
	const uint64_t *frames; /* found so far, innermost first */
	uint32_t count; /* of those */
};

struct finished {
	uint64_t frames[WIRE_MAX_USER];
	uint32_t count;
	enum stack_end end;
	bool rooted; /* it ended in code of which the table says that a thread begins there */
	uint64_t pc; /* where the walk stood at last */
	/* what the walk waits for: whose table, or the page of it that holds this place in the code */
	uint32_t slot;
	uint64_t waits_at;
};

/*
 * 0: finished; -EAGAIN: it stands where a table, or a page of it, is not ready: ret->slot and
 * waits_at; nothing else is set.
 */
int finish_stack(struct finished *ret, const struct finish_world *world,
		 const struct unfinished *u);

#endif
