/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What x86-64 instructions do to the stack: where the return address, the frame pointer and rbx
 * are, relative to the stack pointer.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_PATH_STATE_H
#define SKEIN_SYMBOLIZERS_UNWIND_PATH_STATE_H

#include "bpf/unwind/rule.h"
#include "symbolizers/unwind/x86.h"

/*
 * The stack before an instruction. Numbers count words of 8 bytes from the canonical frame address
 * down.
 */
struct path_state {
	uint16_t depth; /* to the stack pointer; 0: not known */
	uint16_t frame; /* to where rbp points; 0: rbp is no frame pointer */
	uint16_t saved_rbp, saved_rbx; /* to the saved register; 0: it is not saved */
};

/* The state where a function begins: only the return address is on the stack. */
static const struct path_state path_state_entry = {.depth = 1};

/* Return whether the state is that of a beginning: a jump may then go to another function. */
bool path_state_is_entry(const struct path_state *s);

/* Change the state as an instruction does that is no jump, call or ret. */
void path_state_run(struct path_state *s, const struct x86_instruction *i);

/*
 * Join the state of another path to *s: if only the stack pointers differ and there is a frame
 * pointer, the stack pointer is not known. Return whether that is possible; *changed: *s has
 * changed.
 */
bool path_state_join(struct path_state *s, const struct path_state *other, bool *changed);

struct unwind_rule path_state_rule(const struct path_state *s);

#endif
