/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* State of a walk of a native stack between two frames. */
#ifndef SKEIN_BPF_UNWIND_STATE_H
#define SKEIN_BPF_UNWIND_STATE_H

#include "bpf/unwind/hotspot_layout.h"
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
	WALK_END_JAVA = 16,
};

/* Results of a step. */
enum walk_status {
	WALK_CALLER, /* the walk has left the frame and is in its caller */
	WALK_FINISHED,
	WALK_UNMAPPED, /* no known mapping contains pc */
	WALK_PENDING, /* the table is not ready */
	WALK_JAVA, /* pc may lie in the code cache of a JVM: hotspot.h leaves the frame */
};

#define WALK_WINDOW_WORDS 128 /* a power of two */
#define WALK_WINDOW_BYTES (WALK_WINDOW_WORDS * 8)
#define WALK_NO_WINDOW 1 /* misaligned, so that no aligned word lies in this window */
/*
 * In code without a rule, largest distance from sp to fp, in bytes: if the distance is larger, fp
 * is not taken for a frame pointer.
 */
#define WALK_FRAME_MAX (1 << 20)

/*
 * The blob of a pc, or the size and the id of a method, that were found before. CPUs read and write
 * entries without locks: key is mixed with the other members, so that halves of two entries do not
 * match.
 */
struct hotspot_cached {
	__u64 key;
	__u32 id; /* compile id of an nmethod; id of a method; else 0 */
	/* 8-byte words from the blob to pc, << 4 | enum hotspot_kind; bytes of a method's code */
	__u32 place;
	/*
	 * HOTSPOT_CACHED_FRAME() of a return address into an nmethod; address of a method's
	 * bytecodes; else 0
	 */
	__u64 rest;
	/* hotspot_stamp() of the last comparison of rest with the JVM's memory; 0: none */
	__u32 checked;
	__u32 unused;
};

/* Frame size in words, and offset of the return address from the begin of the code. */
#define HOTSPOT_CACHED_FRAME(words, offset) ((__u64)(words) << 32 | (__u32)(offset))

/*
 * What the cache has of the memory of a JVM is used without a look at that memory for the rest of a
 * period of 1 << HOTSPOT_PERIOD_SHIFT ns (0.13 s), if the JVM has unloaded no class meanwhile.
 */
#define HOTSPOT_PERIOD_SHIFT 27

/* A blob. */
struct hotspot_blob {
	__u64 address, code, end; /* begin and end of the code */
	__u32 id; /* compile id of an nmethod, else 0 */
	__u32 kind; /* enum hotspot_kind */
	__s32 frame_size; /* words */
	__u32 unused;
};

/*
 * Functions of the walkers: in the BPF programs global ones, which the verifier checks once, and
 * not in each state of their callers.
 */
#ifdef __bpf__
#define WALK_FUNCTION __noinline
#else
#define WALK_FUNCTION static inline
#endif
#define HOTSPOT_FUNCTION WALK_FUNCTION /* those of the walker of Java frames */

/* Work area of the walker of Java frames. */
struct hotspot_scratch {
	__u64 header[HOTSPOT_BUFFER_WORDS]; /* struct HeapBlock and the blob's header */
	__u64 method[HOTSPOT_METHOD_BYTES / 8]; /* head of a ConstMethod */
	__u64 code[HOTSPOT_CODE_WORDS]; /* code around pc */
	struct hotspot_blob blob; /* of the frame; its header is in header[] */
	__u32 index; /* of a range; keeps the verifier from following each value on its own */
	__u8 found; /* a frame was left: words[] are its words */
	__u8 fresh; /* the frame's blob or Method was not in the cache */
	__u16 method_size; /* bytes of bytecodes: of hotspot_identify_method() */
	struct hotspot_code_row row; /* found by hotspot_find_code_row() */
	__u32 method_id; /* of hotspot_identify_method() */
	/*
	 * what the id is made of, and the method's class: not on the stack, of which all functions
	 * together have only 512 bytes
	 */
	struct hotspot_method_numbers numbers;
	struct hotspot_method_symbols symbols;
	__u64 class;
	struct hotspot_cached cached; /* an entry of the cache, for the same reason */
	__u64 words[2];
};

/* A piece of the stack that was read at once. */
struct walk_window {
	__u64 at; /* its address; WALK_NO_WINDOW: none */
	__u64 bytes; /* how many were read */
	__u64 words[WALK_WINDOW_WORDS];
};

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
	 * updated, and read the ids of Java methods anew
	 */
	__u8 skip_cache;
	__u8 unused[3];
	/* number of the process's struct hotspot_process (HOTSPOT_NUMBER()); 0: no JVM */
	__u32 hotspot;
	/*
	 * how many classes that JVM has unloaded, with the highest bit set; 0: not read yet. Here
	 * for the reason of java_left.
	 */
	__u32 unloads;
	/*
	 * sp of the caller of the last frame of a JVM's code that was left, | HOTSPOT_LEFT_STUB if
	 * that was a stub; 0: there was none. Here, where every walk writes, and not among its
	 * other data, which native walks leave alone.
	 */
	__u64 java_left;
	__u32 period; /* in which the walk has begun, see HOTSPOT_PERIOD_SHIFT */
	struct walk_window window;
	struct hotspot_scratch java;
};

#endif
