/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* State of a walk of a native stack between two frames. */
#ifndef SKEIN_BPF_UNWIND_STATE_H
#define SKEIN_BPF_UNWIND_STATE_H

#include "bpf/unwind/rule.h"

#ifndef __bpf__
#include <stddef.h>
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* Keep the compiler from computing a value again after the check that the verifier has seen. */
#define keep_in_register(value) asm volatile("" : "+r"(value))

/* Values of enum stack_end in base/record.h, which asserts that they are equal. */
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
	WALK_END_COPY_END = 10,
	WALK_END_PYTHON = 12,
	WALK_END_CODE_32_BIT = 13,
	WALK_END_NO_TIME = 15,
};

/* Results of a step. */
enum walk_status {
	WALK_CALLER, /* the walk has left the frame and is in its caller */
	WALK_FINISHED,
	WALK_UNMAPPED, /* no known mapping contains pc */
	WALK_PENDING, /* the table is not ready */
};

#define WALK_WINDOW_WORDS 32
#define WALK_WINDOW_BYTES (WALK_WINDOW_WORDS * 8)
#define WALK_NO_WINDOW 1 /* misaligned, so that no aligned word lies in this window */
/*
 * In code without a rule, largest distance from sp to fp, in bytes: if the distance is larger, fp
 * is not taken for a frame pointer.
 */
#define WALK_FRAME_MAX (1 << 20)

struct native_walk {
	__u64 pc, sp, fp, base;
	__u64 registers[UNWIND_REGISTERS]; /* by DWARF number; see known; on arm64, 31 is not set */
	__u64 version; /* version of the address space */
	__u32 mappings; /* place of the sorted mappings in the arena */
	__u32 mapping_count;
	__u8 exact; /* pc is where the thread was interrupted; otherwise it is a return address */
	__u8 known; /* registers[] are valid; otherwise only pc, sp, fp and base are */
	__u8 settled; /* addresses outside of the mappings are not code */
	__u8 end; /* enum walk_end */
	/*
	 * look up rules in the tables instead of the cache, so that the tables' times of use are
	 * updated
	 */
	__u8 skip_cache;
	__u8 unused[3];
	__u64 window_at; /* address of the window; WALK_NO_WINDOW: none */
	__u64 window[WALK_WINDOW_WORDS];
};

#endif
