/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognize in Go's machine code what its table of functions does not contain: where the caller's
 * frame pointer is saved, and where the stack is switched. Only the few instructions that Go's
 * assembler and compiler use there are known; anything else counts as absent.
 */
#ifndef SKEIN_SYMBOLIZERS_GO_CODE_H
#define SKEIN_SYMBOLIZERS_GO_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of code that go_code_frame() examines, before and after the given place. */
#define GO_CODE_BEFORE 2
#define GO_CODE_FRAME 16

/* Offsets from a place in the code, in bytes. */
struct go_frame {
	uint32_t saved; /* from here on the caller's frame pointer is in memory */
	uint32_t set;	/* from here on the frame pointer points to it; UINT32_MAX: never */
};

/*
 * Whether the code after the instruction that opened a frame of delta bytes keeps a frame pointer.
 * code: GO_CODE_FRAME bytes, preceded by GO_CODE_BEFORE more. machine: e_machine.
 */
bool go_code_frame(uint16_t machine, const uint8_t *code, int32_t delta, struct go_frame *ret);

/*
 * The size of the instruction right before end that closes a frame, or 0. size: bytes before end.
 */
size_t go_code_close(uint16_t machine, const uint8_t *end, size_t size);

/*
 * The DWARF number of the register into which the instruction before code popped the return
 * address; or -1.
 */
int go_code_popped(uint16_t machine, const uint8_t *code);

/* Offsets in the code of a function that leaves its stack, in bytes. */
#define GO_CODE_NONE SIZE_MAX
struct go_switch {
	size_t at;   /* after the first instruction that sets the stack pointer; or GO_CODE_NONE */
	bool aligns; /* the stack pointer is only aligned downwards */
	bool keeps_frame; /* the frame pointer is not changed */
};

/* Find the first switch of stacks in size bytes of code; at is GO_CODE_NONE if there is none. */
struct go_switch go_code_switch(uint16_t machine, const uint8_t *code, size_t size);

/*
 * In clone(): *both is the end of the system call, *child the start of the code after it that only
 * the child runs. Return false if the code has another form.
 */
bool go_code_clone(uint16_t machine, const uint8_t *code, size_t size, size_t *both, size_t *child);

#endif
