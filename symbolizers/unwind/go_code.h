/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognize in Go's machine code what its table of functions does not contain: where the caller's
 * frame pointer is saved, and where the stack is switched. Only the few instructions that Go's
 * assembler and compiler use for this are known; other code counts as code without a frame pointer
 * or a switch.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_GO_CODE_H
#define SKEIN_SYMBOLIZERS_UNWIND_GO_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of code that go_code_frame() examines before and after the place that is passed to it. */
#define GO_CODE_BEFORE 2
#define GO_CODE_FRAME 16

/* Offsets from a place in the code, in bytes. */
struct go_frame {
	uint32_t saved; /* from this offset on, the caller's frame pointer is in memory */
	/* from this offset on, the frame pointer points to the saved one; UINT32_MAX: never */
	uint32_t set;
};

/*
 * Return whether the code after the instruction that made a stack frame of delta bytes keeps a
 * frame pointer. code: GO_CODE_FRAME bytes, preceded by GO_CODE_BEFORE more. machine: e_machine.
 */
bool go_code_frame(uint16_t machine, const uint8_t *code, int32_t delta, struct go_frame *out);

/*
 * Return the size of the instruction right before end if it releases a stack frame, else 0; on
 * arm64 always 0. size: number of bytes before end that may be read.
 */
size_t go_code_close(uint16_t machine, const uint8_t *end, size_t size);

/*
 * Return the DWARF number of the register (r8 to r15 on x86-64) into which the instruction before
 * code popped the return address; or -1.
 */
int go_code_popped(uint16_t machine, const uint8_t *code);

/* Offsets in the code of a function that leaves its stack, in bytes. */
#define GO_CODE_NONE SIZE_MAX
struct go_switch {
	/* offset after the first instruction that sets the stack pointer; or GO_CODE_NONE */
	size_t at;
	bool aligns; /* the stack pointer is only aligned downwards */
	bool keeps_frame; /* the frame pointer is not changed */
};

/* Find the first switch of stacks in size bytes of code; at is GO_CODE_NONE if there is none. */
struct go_switch go_code_switch(uint16_t machine, const uint8_t *code, size_t size);

/*
 * Find two offsets in the code of clone(): *both is the end of the system call, from which both
 * threads run; from *child on, only the child runs. Return false if the code has another form.
 */
bool go_code_clone(uint16_t machine, const uint8_t *code, size_t size, size_t *both, size_t *child);

#endif
