/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Decides from the bytes around pc how far a compiled Java method has made or removed its frame.
 * pc is where the thread was interrupted, so it is the begin of an instruction. x86-64 only.
 *
 * HotSpot makes a frame of F bytes (the return address included) in one of these ways, possibly
 * after an inline cache check and a write below the stack that tests its size:
 *
 *   push rbp; sub rsp, F - 16
 *   push rbp; mov rbp, rsp; sub rsp, F - 16       wrappers of native methods
 *   sub rsp, F - 8; mov [rsp + F - 16], rbp
 *
 * and removes it by
 *
 *   add rsp, F - 16; pop rbp; cmp rsp, [r15 + x]; ja y; ret
 *   leave; cmp qword [r15 + x], 0; jne y; ret     wrappers of native methods
 */
#ifndef SKEIN_BPF_UNWIND_HOTSPOT_CODE_H
#define SKEIN_BPF_UNWIND_HOTSPOT_CODE_H

#include "bpf/unwind/walk.h"

enum hotspot_progress {
	HOTSPOT_WHOLE, /* the frame is whole */
	HOTSPOT_BARE_RETURN, /* the return address is at sp, fp is the caller's */
	HOTSPOT_PUSHED, /* the return address is at sp + 8, the caller's fp at sp */
	HOTSPOT_UNSAVED, /* whole, but fp is still the caller's */
	HOTSPOT_IN_DOUBT,
	/* whole, but sp is this many words lower than usual: HOTSPOT_MOVED + n */
	HOTSPOT_MOVED = 16,
};

#define HOTSPOT_CODE_BYTES (HOTSPOT_CODE_WORDS * 8)
/* Bytes of the longest instruction that is looked for. */
#define HOTSPOT_PATTERN_BYTES 8
#define HOTSPOT_CODE_AHEAD (HOTSPOT_CODE_BYTES - HOTSPOT_CODE_BEFORE - HOTSPOT_PATTERN_BYTES)

/* Return the eight bytes of code from index at on, as a little-endian word. */
static __always_inline __u64 hotspot_code_at(const __u64 *code, __u32 at)
{
	__u32 word = at / 8, shift = at % 8 * 8;

	return code[word & (HOTSPOT_CODE_WORDS - 1)] >> shift |
	       code[(word + 1) & (HOTSPOT_CODE_WORDS - 1)] << 1 << (63 - shift);
}

/*
 * Return all ones if the value is 0, else 0. Computed without a branch, since the verifier would
 * follow both sides of it for each byte of code.
 */
static __always_inline __u64 hotspot_if_zero(__u64 value)
{
	__u64 sign = value | -value;

	keep_in_register(sign);
	sign >>= 63;
	keep_in_register(sign);
	return sign - 1;
}

/* Return all ones if the word begins with `sub rsp, size` (opcode 0xec) or `add` (0xc4), else 0. */
static __always_inline __u64 hotspot_moves_sp(__u64 word, __u64 opcode, __u64 size)
{
	__u64 byte = (word ^ (0x8348 | opcode << 16 | size << 24)) & 0xffffffff;
	__u64 full = (word ^ (0x8148 | opcode << 16 | size << 24)) << 8;

	/* the form with one byte has a sign: it goes up to 127 */
	return hotspot_if_zero(byte | size >> 7) | hotspot_if_zero(full);
}

/*
 * Return a bitmap of the bytes from pc on: bit n is set if the instruction `sub rsp, size` is n
 * bytes after pc. (An index would be a value that the verifier follows through the loop.)
 */
static __always_inline __u64 hotspot_find_subs(const __u64 *code, __u64 size)
{
	__u64 found = 0;

	for (__u32 i = 0; i < HOTSPOT_CODE_AHEAD; i++) {
		__u64 word = hotspot_code_at(code, HOTSPOT_CODE_BEFORE + i);

		found |= (hotspot_moves_sp(word, 0xec, size) & 1) << i;
	}
	return found;
}

/* The same for `push rbp` directly before the test of the barrier at a method's entry. */
static __always_inline __u64 hotspot_find_pushes(const __u64 *code)
{
	__u64 found = 0;

	for (__u32 i = 0; i < HOTSPOT_CODE_AHEAD; i++) {
		__u64 word = hotspot_code_at(code, HOTSPOT_CODE_BEFORE + i);

		found |= (hotspot_if_zero((word & 0xffffffff) ^ 0x7f814155) & 1) << i;
	}
	return found;
}

/* The frame in the prologue: left bytes of it follow pc. size: F. */
static __always_inline enum hotspot_progress hotspot_in_prologue(const __u64 *code, __u64 left,
								 __u64 size)
{
	__u64 next = hotspot_code_at(code, HOTSPOT_CODE_BEFORE);
	__u64 before = hotspot_code_at(code, HOTSPOT_CODE_BEFORE - 8);
	__u64 ahead, subs;

	/* an inline cache check may make the prologue longer; its end is then not seen */
	if (left >= HOTSPOT_CODE_AHEAD)
		left = HOTSPOT_CODE_AHEAD;
	ahead = (1ULL << (left & 63)) - 1;
	if (size <= 16) { /* push rbp is the last instruction, or before the barrier's test */
		__u64 last = hotspot_code_at(code, HOTSPOT_CODE_BEFORE + (left & 63) - 1);

		return (__u8)last == 0x55 || hotspot_find_pushes(code) & ahead ? HOTSPOT_BARE_RETURN
									       : HOTSPOT_WHOLE;
	}
	subs = hotspot_find_subs(code, size - 16) & ahead;
	if (subs & 1) /* push rbp, or mov rbp, rsp, must come before it */
		return before >> 56 == 0x55 || before >> 40 == 0xec8b48 ? HOTSPOT_PUSHED
									: HOTSPOT_IN_DOUBT;
	if (subs & 8 && (next & 0xffffff) == 0xec8b48)
		return HOTSPOT_PUSHED;
	if (subs || hotspot_find_subs(code, size - 8) & ahead)
		return HOTSPOT_BARE_RETURN;
	/* mov [rsp + F - 16], rbp */
	if ((next & 0xffffffff) == 0x246c8948 || (next & 0xffffffff) == 0x24ac8948)
		return HOTSPOT_UNSAVED;
	/*
	 * Behind the instruction that makes the frame come at most one that saves rbp and the
	 * test of the barrier: if more than that is left, the frame is not made yet.
	 */
	return left == HOTSPOT_CODE_AHEAD ? HOTSPOT_BARE_RETURN : HOTSPOT_WHOLE;
}

/*
 * Return whether an entry for method handles, which removes its last argument by pop rax; pop rbx;
 * push rax, has its return address in rax.
 */
static __always_inline int hotspot_return_is_popped(const __u64 *code)
{
	__u64 next = hotspot_code_at(code, HOTSPOT_CODE_BEFORE);
	__u64 before = hotspot_code_at(code, HOTSPOT_CODE_BEFORE - 8);

	return (before >> 56 == 0x58 && (next & 0xffff) == 0x505b) ||
	       (before >> 48 == 0x5b58 && (__u8)next == 0x50);
}

/*
 * Return how many instructions `pop register` follow from HOTSPOT_CODE_BEFORE + at on, at most 4.
 * C1 passes parameters to some stubs by push, and pops them after the call; other code of a method
 * has no pop but that of its epilogue.
 */
static __always_inline __u32 hotspot_count_pops(const __u64 *code, __u32 at)
{
	__u64 next = hotspot_code_at(code, HOTSPOT_CODE_BEFORE + at);
	__u32 count = 0;

	for (int i = 0; i < 4; i++) {
		__u32 wide = (next & 0xff) == 0x41;

		if ((next >> 8 * wide & 0xf8) != 0x58)
			break;
		next >>= 8 + 8 * wide;
		count++;
	}
	return count;
}

/*
 * Return whether pc lies in the stub by which a method calls an interpreted one: mov $Method*,%rbx;
 * jmp ADAPTER, behind the method's own code from low to high. That has jumps to other code, too,
 * but none behind this instruction.
 */
static __always_inline int hotspot_in_call_stub(const __u64 *code, __u64 pc, __u64 low, __u64 high)
{
	__u32 at_jump = (hotspot_code_at(code, HOTSPOT_CODE_BEFORE - 10) & 0xffff) == 0xbb48;
	__u64 jump = hotspot_code_at(code, HOTSPOT_CODE_BEFORE + (at_jump ? 0 : 10));
	__u64 to = pc + (at_jump ? 5 : 15) + (__u64)(__s64)(__s32)(jump >> 8);

	if (!at_jump && (hotspot_code_at(code, HOTSPOT_CODE_BEFORE) & 0xffff) != 0xbb48)
		return 0;
	return (__u8)jump == 0xe9 && (to < low || to >= high);
}

/* The frame of a method whose prologue is over. */
static __always_inline __u32 hotspot_in_body(const __u64 *code, __u32 size)
{
	__u64 next = hotspot_code_at(code, HOTSPOT_CODE_BEFORE);
	__u64 before = hotspot_code_at(code, HOTSPOT_CODE_BEFORE - 8);
	__u8 last = before >> 56;

	if ((__u8)next == 0xc3)
		return HOTSPOT_BARE_RETURN;
	if ((__u8)next == 0x5d)
		return size <= 16 || hotspot_moves_sp(before >> 32, 0xc4, size - 16) ||
				       hotspot_moves_sp(before >> 8, 0xc4, size - 16)
			       ? HOTSPOT_PUSHED
			       : HOTSPOT_WHOLE;
	/* behind pop rbp: cmp rsp, [r15 + x]; jmp */
	if (last == 0x5d &&
	    ((next & 0xffffff) == 0xa73b49 || (next & 0xffffff) == 0x673b49 || (__u8)next == 0xe9))
		return HOTSPOT_BARE_RETURN;
	/* behind leave: cmp qword [r15 + x], 0 */
	if (last == 0xc9 && (next & 0xffff) == 0x8349)
		return HOTSPOT_BARE_RETURN;
	/* ja or jne, behind one of these comparisons */
	if (((next & 0xffff) == 0x870f && (before & 0xffffffff) == 0xa73b495d) ||
	    ((next & 0xffff) == 0x870f && (before >> 24 & 0xffffffff) == 0x673b495d) ||
	    ((next & 0xffff) == 0x850f && (before >> 16 & 0xffffff) == 0x8349c9))
		return HOTSPOT_BARE_RETURN;
	if (size <= 16) /* its epilogue is a single pop */
		return HOTSPOT_WHOLE;
	/* a call of a stub with parameters: the pops follow it */
	if ((__u8)next == 0xe8)
		return HOTSPOT_MOVED + hotspot_count_pops(code, 5);
	return HOTSPOT_MOVED + hotspot_count_pops(code, 0);
}

#endif
