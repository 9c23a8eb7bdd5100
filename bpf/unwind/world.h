/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The memory in which walkers look up mappings and unwind tables (rule.h). User space writes it.
 * The BPF programs read it; they write only times of use (struct unwind_slot) and, at forks, execs
 * and exits, entries of processes. BPF programs include vmlinux.h before this header.
 *
 * Everything of variable size lies in an arena of chunks of 1 MiB. A place in the arena is a number
 * of 32-bit words; one allocation does not cross the end of its chunk.
 */
#ifndef SKEIN_BPF_UNWIND_WORLD_H
#define SKEIN_BPF_UNWIND_WORLD_H

#include "bpf/unwind/hotspot_layout.h"
#include "bpf/unwind/python_layout.h"
#include "bpf/unwind/rule.h"

#define ARENA_CHUNK_SHIFT 18
#define ARENA_CHUNK_WORDS (1U << ARENA_CHUNK_SHIFT)
#define ARENA_CHUNKS_MAX 4096 /* 4 GiB */

struct arena_chunk {
	__u32 words[ARENA_CHUNK_WORDS];
};

/* One executable mapping of an address space. The mappings of a space lie sorted in the arena. */
struct unwind_mapping {
	__u64 start, end;
	__u64 offset; /* file offset of the mapping's start */
	__u32 table; /* number of a struct unwind_slot */
	__u32 unused;
};

#define UNWIND_MAPPING_WORDS (sizeof(struct unwind_mapping) / sizeof(__u32))

/*
 * The mappings of a process. The key is its pid; the entry is not valid for a process with another
 * start time than born.
 */
struct unwind_process {
	__u64 born; /* start_boottime of its main thread, ns; 0: not known */
	__u64 version; /* version of the address space, unique for every state of every space */
	__u32 mappings; /* place of the sorted mappings in the arena */
	__u32 count; /* number of mappings */
	__u32 settled; /* user space knows all mappings: other addresses are not code */
	__u32 hotspot; /* HOTSPOT_NUMBER() of its JVM; 0: none */
	/*
	 * Time of the last exec, ns; 0: there was none since user space wrote the entry. User space
	 * processes an exec a little late, and must not enter the mappings of the program before
	 * the exec.
	 */
	__u64 executed;
	struct python_process python;
};

#define UNWIND_PROCESSES_MAX 65536

enum unwind_table_state {
	/* the table is being made; user space continues the walks that need it */
	UNWIND_TABLE_PENDING,
	UNWIND_TABLE_READY,
	UNWIND_TABLE_NONE, /* the file has no table */
	UNWIND_TABLE_EVICTED,
	UNWIND_TABLE_GENERATED, /* code of a JIT compiler */
};

/* The table of one file. */
struct unwind_slot {
	__u32 state; /* enum unwind_table_state; written last */
	__u32 pages; /* place of the array of struct unwind_page in the arena */
	__u64 first_page; /* number of the first page: file offset >> UNWIND_PAGE_SHIFT */
	__u32 page_count;
	__u32 unused;
	__u64 used; /* time of a walker's last access or attempt, ns; 0: never */
};

#define UNWIND_SLOTS_MAX 16384
#define UNWIND_SLOT_GENERATED 0 /* number of the slot of all generated code */
#define UNWIND_SLOT_NONE 1 /* number of the slot of all code that certainly has no table */
#define UNWIND_SLOTS_FIXED 2

/* Numbers of rules that stand for code without a rule. All tables share the rules. */
enum unwind_fixed_rule {
	UNWIND_RULE_GAP, /* a hole in a table */
	UNWIND_RULE_GENERATED,
	UNWIND_RULE_NO_TABLE,
	UNWIND_RULE_EVICTED,
	UNWIND_RULES_FIXED
};

#define UNWIND_RULES_MAX 65536

#endif
