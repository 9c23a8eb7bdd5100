/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Go's machine code does where its table of functions is silent: when the
 * caller's frame pointer is saved, and when the stack is switched. Only the few
 * instructions that Go's assembler and compiler use there are known; whatever
 * else is found is "no".
 */
#ifndef SKEIN_SYMBOLIZERS_GO_CODE_H
#define SKEIN_SYMBOLIZERS_GO_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of code that go_code_frame() looks at, before and from the place in question. */
#define GO_CODE_BEFORE 2
#define GO_CODE_FRAME 16

/* Offsets from a place in the code. */
struct go_frame {
	uint32_t saved; /* from here on the caller's frame pointer is in memory */
	uint32_t set;	/* from here on the frame pointer points there; UINT32_MAX: never */
};

/*
 * Whether the code behind the instruction that opened a frame of delta bytes keeps a frame
 * pointer. code: GO_CODE_FRAME bytes, with GO_CODE_BEFORE more in front. machine: e_machine.
 */
bool go_code_frame(uint16_t machine, const uint8_t *code, int32_t delta, struct go_frame *ret);

/* Bytes of the instruction that closes a frame, right before end (of size bytes or more). */
size_t go_code_close(uint16_t machine, const uint8_t *end, size_t size);

/* The DWARF number of the register into which the return address was popped before code; or -1. */
int go_code_popped(uint16_t machine, const uint8_t *code);

/* Offsets in the code of a function that leaves its stack. */
#define GO_CODE_NONE SIZE_MAX
struct go_switch {
	size_t at;   /* behind the first instruction that sets the stack pointer; GO_CODE_NONE */
	bool aligns; /* it is only moved down a bit */
	bool keeps_frame; /* the frame pointer stays as it was */
};

struct go_switch go_code_switch(uint16_t machine, const uint8_t *code, size_t size);

/*
 * In clone(): where its system call is over, and where from there on only the child comes. false if
 * it does not look like that.
 */
bool go_code_clone(uint16_t machine, const uint8_t *code, size_t size, size_t *both, size_t *child);

#endif
