/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The state of a walk between two frames. */
#ifndef SKEIN_BPF_UNWIND_STATE_H
#define SKEIN_BPF_UNWIND_STATE_H

#include "bpf/unwind/rule.h"

#ifndef __bpf__
#include <stddef.h>
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* What the verifier sees checked is what is used: the compiler may not derive it anew. */
#define keep_in_register(value) asm volatile("" : "+r"(value))

/* Values of enum stack_end in base/record.h, which asserts that they agree. */
enum walk_end {
	WALK_END_WALKED = 0,
	WALK_END_DEPTH = 1,
	WALK_END_NO_MEMORY_MAP = 2,
	WALK_END_UNREADABLE = 3,
	WALK_END_UNMAPPED = 5,
	WALK_END_NO_TABLE = 6,
	WALK_END_EVICTED = 7,
	WALK_END_BAD_ROW = 8,
	WALK_END_GENERATED = 9,
	WALK_END_PYTHON = 12,
	WALK_END_CODE_32_BIT = 13,
};

/* What a step comes to. */
enum walk_obstacle {
	WALK_LEFT, /* the walk stands in the caller */
	WALK_OVER,
	WALK_UNMAPPED, /* no mapping is known there */
	WALK_PENDING, /* the table is not ready */
};

#define WALK_WINDOW_WORDS 32
#define WALK_WINDOW_BYTES (WALK_WINDOW_WORDS * 8)
#define WALK_NO_WINDOW 1 /* misaligned: no address lies in it */
/* A frame without description that is larger is none. */
#define WALK_FRAME_MAX (1 << 20)

struct walk {
	__u64 pc, sp, fp, base;
	__u64 registers[UNWIND_REGISTERS]; /* by DWARF number; see known */
	__u64 version; /* of the address space */
	__u32 mappings; /* place in the arena */
	__u32 mapping_count;
	__u8 exact; /* pc was interrupted there; otherwise it is a return address */
	__u8 known; /* all registers are; otherwise pc, sp, fp and base only */
	__u8 settled; /* what is not mapped is no code */
	__u8 end; /* enum walk_end */
	__u8 afresh; /* look into the tables themselves, so that they are seen to be used */
	__u8 unused[3];
	__u64 window_at; /* address of the window, WALK_NO_WINDOW: none */
	__u64 window[WALK_WINDOW_WORDS];
};

#endif
