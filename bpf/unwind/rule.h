/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0-only) */
/*
 * How a frame is left: the unwind table of a file, as it lies in the kernel's
 * maps, in the cache on disk and between the processes that make and use it.
 * Layout only, so that whoever builds tables may include it. On the kernel
 * side vmlinux.h has come before it.
 *
 * A table maps file offsets to rules. The code is cut into pages of 64 KiB;
 * each has sorted rows of 4 bytes: the low 16 bits of the offset at which the
 * row begins in the upper half, the number of its rule in the lower, so that
 * rows compare as numbers. A row holds until the next one. A page that has
 * rows begins with one at its first byte, so no look-up leaves its page; one
 * that has none holds no code, unless it is not made yet (UNWIND_PAGE_UNMADE).
 */
#ifndef SKEIN_BPF_UNWIND_RULE_H
#define SKEIN_BPF_UNWIND_RULE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define UNWIND_PAGE_SHIFT 16
#define UNWIND_PAGE_SIZE (1U << UNWIND_PAGE_SHIFT)

#define UNWIND_ROW(low, rule) ((__u32)(low) << 16 | (__u16)(rule))
#define UNWIND_ROW_LOW(row) ((row) >> 16)
#define UNWIND_ROW_RULE(row) ((row) & 0xffff)

/*
 * Where the canonical frame address (CFA) is. Registers have their DWARF
 * numbers. Other registers than the stack, frame and base pointer are known
 * where the thread stood or was interrupted by a signal, and as long as frames
 * from there on hold nothing but their return address.
 */
enum unwind_kind {
	UNWIND_GAP, /* nothing is said of this code: the walker tries frame pointers */
	UNWIND_BAD, /* it is said, but not understood: the walk ends with a reason */
	UNWIND_END, /* a thread begins here: nobody called */
	UNWIND_CFA, /* reg + cfa_offset */
	UNWIND_DEREF, /* *(reg + cfa_offset) + second */
	UNWIND_INDEXED, /* *(reg + 8 * index + cfa_offset) + second */
	UNWIND_PLT, /* sp + cfa_offset + ((pc & 15) >= second ? 8 : 0) */
	UNWIND_SIGNAL, /* all registers are in a struct sigcontext at sp + cfa_offset */
	UNWIND_FRAME, /* the code keeps a frame pointer, whatever else is said */
	/*
	 * In clone(), behind the system call: the parent comes back here (CFA is
	 * sp + cfa_offset), the child (whose result is 0) begins here.
	 */
	UNWIND_CLONE,
	UNWIND_KIND_COUNT
};

/* Where the caller's frame pointer is. */
enum unwind_fp {
	UNWIND_FP_SAME, /* it has not been touched */
	UNWIND_FP_AT_CFA, /* saved at CFA + fp_offset */
	UNWIND_FP_AT_FP, /* saved at the present frame pointer + fp_offset */
	UNWIND_FP_UNKNOWN, /* lost, or in a place that is not understood */
	UNWIND_FP_COUNT
};

/* Where the return address is. */
enum unwind_ra {
	UNWIND_RA_AT_CFA, /* at CFA + second (UNWIND_CFA), else at CFA - 8 */
	UNWIND_RA_IN_REGISTER, /* in the register numbered index: vfork(), or arm64's lr */
	UNWIND_RA_COUNT
};

/*
 * One more register is followed: rbx, by which _dl_runtime_resolve() and other
 * code that aligns its stack finds its frame. It is saved at CFA + base_offset.
 */
enum unwind_base {
	UNWIND_BASE_SAME = 0, /* instead of an offset: it has not been touched */
	UNWIND_BASE_LOST = 1, /* no offset is odd */
};

struct unwind_rule {
	__s32 cfa_offset;
	__s32 second; /* by kind */
	__s16 fp_offset; /* by fp */
	__s16 base_offset; /* or enum unwind_base */
	__u8 kind; /* enum unwind_kind */
	__u8 reg; /* of the CFA: DWARF number */
	__u8 index; /* second register: of UNWIND_INDEXED, or of the return address */
	__u8 saved; /* enum unwind_fp | enum unwind_ra << 4 */
};

#define UNWIND_SAVED(fp, ra) ((fp) | (ra) << 4)
#define UNWIND_SAVED_FP(saved) ((saved) & 15)
#define UNWIND_SAVED_RA(saved) ((saved) >> 4)

/* DWARF numbers of the registers that matter, and how many a rule may name. */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define UNWIND_REG_FP 29
#define UNWIND_REG_LR 30
#define UNWIND_REG_BASE 19 /* by convention: no code is known to need it */
#define UNWIND_REG_SP 31
#define UNWIND_REGISTERS 32
#else
#define UNWIND_REG_FP 6 /* rbp */
#define UNWIND_REG_BASE 3 /* rbx */
#define UNWIND_REG_SP 7 /* rsp */
#define UNWIND_REGISTERS 16 /* rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15 */
#endif

/*
 * The version also grows when tables are made otherwise than before, so that
 * those that were kept from then are not used.
 */
#define UNWIND_TABLE_MAGIC 0x62746e75 /* "untb" */
#define UNWIND_TABLE_VERSION 4

/*
 * A table in one piece of memory: this header, then the rules (the rows' rule
 * numbers count in them), the pages from first_page on, and the rows.
 */
struct unwind_header {
	__u32 magic;
	__u32 version;
	__u64 first_page; /* number of the first page: file offset >> UNWIND_PAGE_SHIFT */
	__u32 pages;
	__u32 rules; /* at most 65,536 */
	__u32 rows;
	__u32 refused; /* descriptions of functions that made no sense, for whoever counts */
};

/*
 * The same with some of the pages only: those that were asked for. No cache on disk keeps it. The
 * others have this count, and may be asked for as well, or come with the table.
 */
#define UNWIND_PAGES_MAGIC 0x67706e75 /* "unpg" */
#define UNWIND_PAGE_UNMADE 0xffffffff

/*
 * Walkers read it as one word (UNWIND_PAGE_WORD), and whoever makes it writes it as one, after the
 * rows: what is not made is never taken for what has no code.
 */
struct unwind_page {
	__u32 first; /* row */
	__u32 count; /* of rows */
};

/* Both machines that skein runs on store the lower half first. */
#define UNWIND_PAGE_WORD(first, count) ((__u64)(count) << 32 | (first))

#endif
