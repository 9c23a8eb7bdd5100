/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finishes stacks that the BPF programs could not finish because a mapping or a table was not
 * available yet. The same walker code continues in user space, over the registers and the part of
 * the stack that came with the sample, in the mappings of the sample's time.
 */
#ifndef SKEIN_CAPTURE_FINISH_H
#define SKEIN_CAPTURE_FINISH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"
#include "bpf/event.h"
#include "bpf/unwind/world.h"

/* Tables and mappings that the walker looks up. */
struct finish_world {
	struct unwind_slot *slots;
	const struct unwind_rule *rules;
	/* returns a chunk of the arena, NULL if there is none with that number */
	const struct arena_chunk *(*chunk)(const void *context, uint32_t number);
	const void *context;
	/* place and number of the address space's mappings in the arena */
	uint32_t mappings, mapping_count;
	/*
	 * bitmap of FINISH_READ_WORDS words: one bit for each word of the first part of the copied
	 * stack (at.bytes), set if the walk reads the word; NULL: reads are not recorded
	 */
	uint64_t *read;
};

#define FINISH_READ_WORDS (WIRE_STACK_BYTES / sizeof(uint64_t) / 64)

/* An interrupted walk to be continued. */
struct unfinished_stack {
	struct wire_unfinished at;
	/*
	 * the copied stack: at.bytes bytes from address at.stack on, followed by at.outer_bytes
	 * bytes from address at.outer on
	 */
	const void *stack;
	const uint64_t *frames; /* frames that the walk has found so far, leaf first */
	uint32_t count; /* number of frames */
};

struct finished_stack {
	uint64_t frames[WIRE_MAX_USER];
	uint32_t count;
	enum stack_end end;
	bool rooted; /* the walk ended in code where threads begin, by the unwind table */
	uint64_t pc; /* pc at which the walk ended */
	/*
	 * With -EAGAIN: the walk waits for the table of this slot, or for its page with the rule
	 * for address waits_at.
	 */
	uint32_t slot;
	uint64_t waits_at;
};

/*
 * Finish a stack. Returns 0; -EAGAIN if the walk needs a table, or a page of a table, that is not
 * ready: then only out->slot and out->waits_at are set; -EBADMSG if u has too many frames.
 */
int finish_stack(struct finished_stack *out, const struct finish_world *world,
		 const struct unfinished_stack *u);

#endif
