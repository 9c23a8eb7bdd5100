/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follow all paths through x86-64 code that HotSpot has generated, and find the state of the stack
 * before each instruction. paths.h does the same for the code of files.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_CODE_FLOW_H
#define SKEIN_SYMBOLIZERS_UNWIND_CODE_FLOW_H

#include "base/vector.h"
#include "symbolizers/unwind/code_state.h"

#define CODE_FLOW_MAX (4u << 20) /* bytes of code that are followed at once */

enum code_mark {
	CODE_UNSEEN,
	CODE_SEEN, /* an instruction begins here, and its state is known */
	CODE_NEW, /* as CODE_SEEN, found by the paths that are being followed */
	CODE_BAD, /* an instruction begins here, but its state is not known */
	CODE_TRIED, /* a guess that made no sense has led here */
};

struct code_flow {
	const uint8_t *code;
	size_t size;
	uint8_t *marks, *sizes; /* by offset: enum code_mark, and bytes of the instruction */
	struct code_state *states; /* by offset */
	VECTOR(uint32_t) next; /* offsets to be visited */
	uint8_t *after_calls; /* by offset: 1: to be visited when nothing else is left */
	VECTOR(uint32_t) calls; /* offsets that were in after_calls */
	size_t first_after_call; /* not above the first offset in after_calls */
	VECTOR(uint32_t) found; /* offsets that are CODE_NEW */
	uint64_t steps; /* instructions that may still be visited */
	bool calls_inside; /* called code of the same range has its caller's frame */
	bool keeps_found; /* a path on which the caller is lost changes nothing where others lead */
	/* words of memory that are pushed while the depth is not known are return addresses */
	bool makes_frames;
	bool failed; /* the paths make no sense */
	bool lost; /* somewhere on the paths, the caller cannot be found */
};

/* Begin. Return 0, -E2BIG or -ENOMEM. Call code_flow_free() also after failure. */
int code_flow_init(struct code_flow *f, const uint8_t *code, size_t size);
void code_flow_free(struct code_flow *f);

/*
 * Follow all paths from an offset, at which the stack has a state. If they make no sense (they
 * disagree with what is known, a ret finds no return address, a path leads to what is no code), all
 * that they have found becomes CODE_BAD. Return 0, also then; -ENOMEM; -E2BIG: this takes too long.
 */
int code_flow_follow(struct code_flow *f, size_t at, const struct code_state *state);

/*
 * Like code_flow_follow(), for a state that is a guess: code that makes no sense becomes
 * CODE_TRIED, and may be followed again. whole: the paths make no sense also if somewhere the
 * caller cannot be found. *made_sense: result.
 */
int code_flow_try(struct code_flow *f, size_t at, const struct code_state *state, bool whole,
		  bool *made_sense);

/*
 * Find the next offset from *at on at which code begins that no path has led to. Padding is
 * skipped. Return false if there is none.
 */
bool code_flow_unseen(const struct code_flow *f, size_t *at);

/* Return the state of the instruction that holds an offset; NULL if it is not known. */
const struct code_state *code_flow_state(const struct code_flow *f, size_t at);

#endif
