/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The arguments of a probe. The worker compiles them from a note or from the calling convention,
 * and the BPF program evaluates them when the probe is hit. BPF programs include vmlinux.h before
 * this header.
 */
#ifndef SKEIN_BPF_PROBE_OPERAND_H
#define SKEIN_BPF_PROBE_OPERAND_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PROBE_OPERANDS_MAX 8
#define PROBE_NO_REGISTER 0xff
/* Words of the largest struct pt_regs: arm64's x0 to x30, sp, pc, pstate. x86-64 has 21. */
#define PROBE_REGISTERS 34

enum probe_operand_kind {
	PROBE_OPERAND_NONE, /* it cannot be read, such as a floating-point register: 0 */
	PROBE_OPERAND_CONSTANT,
	PROBE_OPERAND_REGISTER,
	PROBE_OPERAND_MEMORY, /* at base + (index << shift) + value */
	PROBE_OPERAND_KINDS,
	/* only from user space to the program: at value in the window of the site */
	PROBE_OPERAND_WINDOW = PROBE_OPERAND_KINDS,
};

#define PROBE_WINDOW_BYTES 128 /* a power of two */

/*
 * Memory that is read at once, since each reading takes 0.12 us: arguments in memory mostly lie
 * beside each other in the frame of a function.
 */
struct probe_window {
	__s64 value; /* it begins at base + value */
	__u8 base; /* word of struct pt_regs */
	__u8 bytes; /* PROBE_WINDOW_BYTES at most; 0: the site has no window */
	__u8 unused[6];
};

struct probe_operand {
	__s64 value;
	__u8 kind; /* enum probe_operand_kind */
	__u8 bytes; /* 1, 2, 4 or 8 */
	__u8 is_signed; /* sign-extend a value of fewer than 8 bytes */
	/* words of struct pt_regs; PROBE_NO_REGISTER: none. The instruction pointer is the probe's.
	 */
	__u8 base, index;
	__u8 shift; /* of a register: the value begins at this bit, 8 for %ah */
	__u8 unused[2];
};

#endif
