/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The parts of walking native stacks that differ between architectures. */
#ifndef SKEIN_BPF_UNWIND_ARCH_H
#define SKEIN_BPF_UNWIND_ARCH_H

#include "bpf/unwind/state.h"

static __always_inline int walk_read(struct native_walk *w, void *to, __u32 bytes, __u64 address);

#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)

#define UNWIND_REG_RESULT 0 /* x0 */
#define WALK_RED_ZONE 0
/* Mask of the address in a return address: pointer authentication signs the upper bits. */
#define WALK_PC_MASK ((1ULL << 48) - 1)
/* The word of struct user_pt_regs that holds pstate: its bit 4 is set while AArch32 code runs. */
#define WALK_MODE_WORD 33
#define walk_is_32_bit(mode) ((mode) >> 4 & 1)

/*
 * Copy the registers from r, a struct user_pt_regs or pt_regs; both begin with x0 to x30, sp, pc.
 */
#define walk_copy_registers(w, r) \
	do { \
		for (int i = 0; i < 31; i++) \
			(w)->registers[i] = (r)->regs[i]; \
		(w)->fp = (r)->regs[UNWIND_REG_FP]; \
		(w)->base = (r)->regs[UNWIND_REG_BASE]; \
		(w)->sp = (r)->sp; \
		(w)->pc = (r)->pc; \
	} while (0)

/* Take all registers from the struct sigcontext at context: fault address, x0 to x30, sp, pc. */
static __always_inline int leave_signal_frame(struct native_walk *w, __u64 context)
{
	__u64 rest[2];

	w->window.at = WALK_NO_WINDOW;
	if (walk_read(w, w->registers, 31 * 8, context + 8) ||
	    walk_read(w, rest, sizeof(rest), context + 32 * 8)) {
		w->end = WALK_END_UNREADABLE;
		return WALK_FINISHED;
	}
	w->fp = w->registers[UNWIND_REG_FP];
	w->base = w->registers[UNWIND_REG_BASE];
	w->sp = rest[0];
	w->pc = rest[1];
	w->exact = 1;
	return WALK_CALLER;
}

#else

#define UNWIND_REG_RESULT 0 /* rax */
/*
 * Bytes below the stack pointer that belong to the thread (the ABI's red zone): hand-written code
 * keeps its caller's stack pointer there, and CFI may still place registers there after they were
 * popped.
 */
#define WALK_RED_ZONE 128
#define WALK_PC_MASK (~0ULL)
/*
 * The word of struct pt_regs that holds cs, the code segment: every value except __USER_CS and
 * Xen's own stands for 32-bit code (user_64bit_mode() in the kernel). FRED keeps flags above the
 * low 16 bits.
 */
#define WALK_MODE_WORD 17
#define walk_is_32_bit(mode) (((mode)&0xffff) != 0x33 && ((mode)&0xffff) != 0xe033)

/*
 * Copy the registers from r, a struct pt_regs, whose members have different names in the kernel and
 * in user space.
 */
#define walk_copy_registers(w, r) \
	do { \
		__u64 *to = (w)->registers; \
		to[0] = (r)->ax, to[1] = (r)->dx, to[2] = (r)->cx, to[3] = (r)->bx; \
		to[4] = (r)->si, to[5] = (r)->di, to[6] = (r)->bp, to[7] = (r)->sp; \
		to[8] = (r)->r8, to[9] = (r)->r9, to[10] = (r)->r10, to[11] = (r)->r11; \
		to[12] = (r)->r12, to[13] = (r)->r13, to[14] = (r)->r14, to[15] = (r)->r15; \
		(w)->fp = (r)->bp; \
		(w)->base = (r)->bx; \
		(w)->sp = (r)->sp; \
		(w)->pc = (r)->ip; \
	} while (0)

/*
 * Take all registers from the struct sigcontext_64 at context: r8 to r15, di, si, bp, bx, dx, ax,
 * cx, sp, ip. w->window.words has room for all of them and is used as the buffer.
 */
static __always_inline int leave_signal_frame(struct native_walk *w, __u64 context)
{
	const __u64 *from = w->window.words;
	__u64 *to = w->registers;

	w->window.at = WALK_NO_WINDOW;
	if (walk_read(w, w->window.words, 17 * 8, context)) {
		w->end = WALK_END_UNREADABLE;
		return WALK_FINISHED;
	}
	to[0] = from[13], to[1] = from[12], to[2] = from[14], to[3] = from[11];
	to[4] = from[9], to[5] = from[8], to[6] = from[10], to[7] = from[15];
	for (int i = 0; i < 8; i++)
		to[8 + i] = from[i];
	w->fp = from[10];
	w->base = from[11];
	w->sp = from[15];
	w->pc = from[16];
	w->exact = 1;
	return WALK_CALLER;
}

#endif
#endif
