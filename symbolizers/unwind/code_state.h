/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What x86-64 instructions that HotSpot generates do to a frame: where the return address, the
 * caller's stack pointer and the caller's rbp are. path_state.h is the same for functions of the C
 * ABI; here, code also keeps its return address and its caller's stack pointer in registers.
 *
 * Numbers of words count from the base: the end of the place where the return address was or will
 * be stored. It is the caller's stack pointer (the CFA), except in the interpreter, whose callees
 * find their caller's stack pointer, the sender, in a register.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_CODE_STATE_H
#define SKEIN_SYMBOLIZERS_UNWIND_CODE_STATE_H

#include "bpf/unwind/hotspot_layout.h"
#include "bpf/unwind/rule.h"
#include "symbolizers/unwind/x86.h"

#define CODE_UNKNOWN INT16_MIN /* of depth: not known */
#define CODE_NO_REGISTER 0xff

enum {
	CODE_WHOLE = 1, /* the interpreter's frame is whole, with the Method* in it */
	CODE_METHOD = 2, /* rbx has the Method* of the frame that is being made */
	CODE_RBP_LOST = 4, /* the caller's rbp was overwritten */
	CODE_RBX_LOST = 8, /* rbx was overwritten */
	CODE_SENDER_APART = 16, /* the caller's stack pointer is the sender, not the base */
	/* the return address is not in the stack yet, and will be stored right below the base */
	CODE_AWAITS_RETURN = 32,
	/* the caller is found by its rbp alone, so the base may move with the stack pointer */
	CODE_FREE_BASE = 64,
	CODE_ALIGNED_BASE = 128, /* the base is a multiple of 16 bytes */
};

/* The stack before an instruction. Registers are numbered as in instructions. */
struct code_state {
	int16_t depth; /* words down to the stack pointer, or CODE_UNKNOWN */
	int16_t frame; /* words down to where rbp points; 0: it does not point to this frame */
	int16_t saved_rbp; /* words down to the caller's rbp; 0: not saved */
	int16_t kept_rbp; /* words down to a copy of the rbp that points to this frame; 0: none */
	int16_t return_slot; /* words down to the return address; 0: it is in a register */
	int16_t sender_slot; /* words down to a copy of the sender; 0: none */
	/* words down to where a copy of the stack pointer points; 0: there is none */
	int16_t copy_depth;
	/* 1 + words up from the stack pointer, of unknown depth, to where that is stored; 0: not */
	int16_t copy_at;
	/* the same for a copy of rbp, which points to words down */
	int16_t rbp_depth, rbp_at;
	/*
	 * Words down to where a copy of an earlier stack pointer points: the sender, unless that is
	 * apart, and what held refers to. Intrinsics of C2 copy it before they move it by what is
	 * known only when they run.
	 */
	int16_t sender_words;
	int16_t held; /* words from the stack pointer up to a copy of that on the stack, plus 1 */
	uint8_t return_register, sender; /* or CODE_NO_REGISTER */
	uint8_t flags;
	uint8_t copy_register; /* 1 + the register that has the copy; 0: none */
	uint8_t unused; /* 0: states are compared as bytes */
	uint8_t return_copy; /* 1 + a register with a copy of the return address; 0: none */
};

/* Where a function begins: the return address is at the stack pointer. */
extern const struct code_state code_state_function;
/* Where a method begins in the interpreter: the sender is in r13, the Method* in rbx. */
extern const struct code_state code_state_method;
/*
 * Where an adapter begins that the interpreter enters to call compiled code: the caller is a frame
 * of the interpreter or of the stub of calls from native code, which both have a frame pointer.
 */
extern const struct code_state code_state_adapter;
/* Where the stub begins to which methods jump that have an exception: it has its address in rdx. */
extern const struct code_state code_state_exception;
/* Code of the interpreter that has a whole frame. */
extern const struct code_state code_state_interpreter;
/*
 * Where a stub begins to which a signal handler goes on (safepoints, deoptimization): it fetches
 * its return address from the JavaThread.
 */
extern const struct code_state code_state_awaiting;
/* Where a stub begins to which another one goes on with its frame, of which rbp is the pointer. */
extern const struct code_state code_state_framed;
/* The state is lost. */
extern const struct code_state code_state_lost;
/* Return the state of a compiled method's body, whose frame has so many words. */
struct code_state code_state_body(int16_t words);

/* Change the state as an instruction does that is no jump or ret; a call changes it as a whole. */
void code_state_run(struct code_state *s, const struct x86_instruction *i);
/* Return whether the return address or the caller's stack pointer cannot be found any more. */
bool code_state_is_lost(const struct code_state *s);
/* Return whether nothing can be found later either. */
bool code_state_is_hopeless(const struct code_state *s);
/* Return whether a ret instruction returns to the caller, with its rbp. */
bool code_state_returns(const struct code_state *s);

/*
 * Join the state of another path to *s: what only one of them knows is lost. Return whether it has
 * changed.
 */
bool code_state_join(struct code_state *s, const struct code_state *other);

/* Return the rule for the state; of the kind UNWIND_BAD if no rule can express it. */
struct unwind_rule code_state_rule(const struct code_state *s);
/* Return the state as the walker of Java frames knows it; offset is 0. */
struct hotspot_row code_state_row(const struct code_state *s);

/* Return the state in a method's code; offset is 0. */
struct hotspot_code_row code_state_code_row(const struct code_state *s);

#endif
