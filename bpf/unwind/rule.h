/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Unwind rules and tables: how to leave a frame. The same layout is used in the BPF maps, in the
 * cache on disk, and between the processes that make and use tables. This header has only layouts,
 * so that programs that make tables may include it. BPF programs include vmlinux.h before it.
 *
 * A table maps file offsets to rules. The code is divided into pages of 64 KiB, each with sorted
 * rows of 4 bytes: the upper half is the low 16 bits of the offset at which the row begins, the
 * lower half is the number of its rule, so that rows compare as numbers. A row is valid up to the
 * next row. The first row of a page begins at the page's first byte, so no lookup leaves its page.
 * A page without rows has no code, unless it is not made yet (UNWIND_PAGE_UNMADE).
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
#define UNWIND_ROW_RULE(row) ((row)&0xffff)

/*
 * How to compute the canonical frame address (CFA). Registers have their DWARF numbers. The walker
 * follows the stack, frame and base pointer through all frames. Other registers are known in the
 * frame in which the thread was sampled or interrupted by a signal, and in its callers as long as
 * all frames in between hold only their return address.
 */
enum unwind_kind {
	UNWIND_GAP, /* no description of this code: the walker tries the frame pointer */
	UNWIND_BAD, /* a description that skein does not understand: the walk ends with a reason */
	UNWIND_END, /* a thread begins here: there is no caller */
	UNWIND_CFA, /* reg + cfa_offset */
	UNWIND_DEREF, /* *(reg + cfa_offset) + second */
	UNWIND_INDEXED, /* *(reg + 8 * index + cfa_offset) + second */
	UNWIND_PLT, /* sp + cfa_offset + ((pc & 15) >= second ? 8 : 0) */
	UNWIND_SIGNAL, /* all registers are in a struct sigcontext at sp + cfa_offset */
	UNWIND_FRAME, /* the code keeps a frame pointer, even if its description says otherwise */
	/*
	 * In clone(), after the system call: the parent returns here (its CFA is sp + cfa_offset),
	 * the child (whose result is 0) begins here. As a caller's frame, it is always the child's.
	 */
	UNWIND_CLONE,
	UNWIND_KIND_COUNT
};

/* How to find the caller's frame pointer. */
enum unwind_fp {
	UNWIND_FP_SAME, /* still in its register */
	UNWIND_FP_AT_CFA, /* saved at CFA + fp_offset */
	UNWIND_FP_AT_FP, /* saved at the frame pointer + fp_offset */
	UNWIND_FP_UNKNOWN, /* lost, or in a place that skein does not understand */
	UNWIND_FP_COUNT
};

/* How to find the return address. */
enum unwind_ra {
	UNWIND_RA_AT_CFA, /* at CFA + second (UNWIND_CFA), else at CFA - 8 */
	UNWIND_RA_IN_REGISTER, /* in the register numbered index: vfork(), or arm64's lr */
	UNWIND_RA_COUNT
};

/*
 * How to find the caller's base register. The base register is one more register that the walker
 * follows: rbx, from which _dl_runtime_resolve() and other code that aligns its stack computes its
 * CFA. It is saved at CFA + base_offset, unless base_offset is one of these values.
 */
enum unwind_base {
	/* the base register is still in its register; stands in place of an offset */
	UNWIND_BASE_SAME = 0,
	/* the base register is lost; stands in place of an offset, since no offset is odd */
	UNWIND_BASE_LOST = 1,
};

struct unwind_rule {
	__s32 cfa_offset;
	__s32 second; /* depends on kind */
	__s16 fp_offset; /* depends on UNWIND_SAVED_FP(saved) */
	__s16 base_offset; /* offset of the saved base register from the CFA, or enum unwind_base */
	__u8 kind; /* enum unwind_kind */
	__u8 reg; /* DWARF number of the register in the CFA */
	/*
	 * number of the second register: of the index for UNWIND_INDEXED, or of the return address
	 * for UNWIND_RA_IN_REGISTER
	 */
	__u8 index;
	__u8 saved; /* enum unwind_fp | enum unwind_ra << 4 */
};

#define UNWIND_SAVED(fp, ra) ((fp) | (ra) << 4)
#define UNWIND_SAVED_FP(saved) ((saved)&15)
#define UNWIND_SAVED_RA(saved) ((saved) >> 4)

/* DWARF numbers of the registers that skein uses, and the number of registers in its arrays. */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define UNWIND_REG_FP 29
#define UNWIND_REG_LR 30
#define UNWIND_REG_BASE 19 /* by convention; no code is known to need it */
#define UNWIND_REG_SP 31
#define UNWIND_REGISTERS 32
#else
#define UNWIND_REG_FP 6 /* rbp */
#define UNWIND_REG_BASE 3 /* rbx */
#define UNWIND_REG_SP 7 /* rsp */
#define UNWIND_REGISTERS 16 /* rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15 */
#endif

/*
 * Magic number and version of a table. The version is also increased when tables are made in
 * another way, so that cached tables of older versions are not used.
 */
#define UNWIND_TABLE_MAGIC 0x62746e75 /* "untb" */
#define UNWIND_TABLE_VERSION 6

/*
 * A table in one block of memory: this header, then the rules (rows count them from 0), the pages
 * from first_page on, and the rows.
 */
struct unwind_header {
	__u32 magic;
	__u32 version;
	__u64 first_page; /* number of the first page: file offset >> UNWIND_PAGE_SHIFT */
	__u32 pages;
	__u32 rules; /* number of rules, at most 65,536 */
	__u32 rows;
	__u32 refused; /* descriptions of functions that were invalid, for statistics */
};

/*
 * Magic number of a table that has only the requested ones of its pages. Such a table is not cached
 * on disk. All other pages have the count UNWIND_PAGE_UNMADE; they may be requested later, or come
 * with the whole table.
 */
#define UNWIND_PAGES_MAGIC 0x67706e75 /* "unpg" */
#define UNWIND_PAGE_UNMADE 0xffffffff

/*
 * A page. User space writes this struct as one word (UNWIND_PAGE_WORD) after the page's rows, and
 * walkers read it as one word, so that a walker never takes an unmade page for a page without code.
 */
struct unwind_page {
	__u32 first; /* index of the first row */
	__u32 count; /* number of rows */
};

/* A struct unwind_page as one word; both supported architectures are little-endian. */
#define UNWIND_PAGE_WORD(first, count) ((__u64)(count) << 32 | (first))

#endif
