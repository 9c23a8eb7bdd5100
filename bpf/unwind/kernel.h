/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Data of the walkers in the BPF programs: the maps whose layouts are in world.h, which user space
 * fills, the cache of rules, and the primitives of walk.h that read these maps.
 *
 * The file that includes this one must define user_read() before, which reads the memory of the
 * walked thread: current.h or remote.h.
 */
#ifndef SKEIN_BPF_UNWIND_KERNEL_H
#define SKEIN_BPF_UNWIND_KERNEL_H

#include "bpf/unwind/state.h"
#include "bpf/unwind/world.h"

struct arena_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct arena_chunk));
};

/*
 * The chunks of the arena. A chunk is one large value of a map, so that a search takes one lookup
 * of the chunk and is otherwise plain memory accesses.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, ARENA_CHUNKS_MAX);
	__type(key, __u32);
	__array(values, struct arena_map);
} arena SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_SLOTS_MAX);
	__type(key, __u32);
	__type(value, struct unwind_slot);
} unwind_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_RULES_MAX);
	__type(key, __u32);
	__type(value, struct unwind_rule);
} unwind_rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, UNWIND_PROCESSES_MAX);
	__type(key, __u32); /* tgid */
	__type(value, struct unwind_process);
} unwind_processes SEC(".maps");

/*
 * The pc -> rule cache: one word per entry, which CPUs read and write without locks. The key is pc
 * mixed with the version of the address space and multiplied by an odd number, which loses no bits:
 * the upper 16 bits of the product choose the entry, and the entry keeps the other 48 bits for
 * comparison, followed by the rule's number.
 */
#define RULE_CACHE_BITS 16

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << RULE_CACHE_BITS);
	__type(key, __u32);
	__type(value, __u64);
} rule_cache SEC(".maps");

static __always_inline __u64 rule_cache_hash(const struct native_walk *w, __u64 pc)
{
	return (pc ^ w->version * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;
}

static __always_inline int walk_cache_lookup(const struct native_walk *w, __u64 pc, __u32 *rule)
{
	__u64 hash = rule_cache_hash(w, pc);
	__u32 index = hash >> (64 - RULE_CACHE_BITS);
	__u64 *entry = bpf_map_lookup_elem(&rule_cache, &index), word;

	if (!entry)
		return -1;
	word = *(volatile __u64 *)entry;
	if (word >> RULE_CACHE_BITS != (hash << RULE_CACHE_BITS) >> RULE_CACHE_BITS)
		return -1;
	*rule = word & ((1 << RULE_CACHE_BITS) - 1);
	return 0;
}

static __always_inline void walk_cache_store(const struct native_walk *w, __u64 pc, __u32 rule)
{
	__u64 hash = rule_cache_hash(w, pc);
	__u32 index = hash >> (64 - RULE_CACHE_BITS);
	__u64 *entry = bpf_map_lookup_elem(&rule_cache, &index);

	if (entry)
		*(volatile __u64 *)entry = hash << RULE_CACHE_BITS | rule;
}

static __always_inline int walk_read(struct native_walk *w, void *to, __u32 bytes, __u64 address)
{
	return user_read(to, bytes, bytes, address);
}

static __always_inline int walk_read_part(struct native_walk *w, void *to, __u32 bytes, __u32 most,
					  __u64 address)
{
	return user_read(to, bytes, most, address);
}

static __always_inline const struct arena_chunk *walk_chunk(const struct native_walk *w,
							    __u32 number)
{
	void *chunk = bpf_map_lookup_elem(&arena, &number);
	__u32 zero = 0;

	return chunk ? bpf_map_lookup_elem(chunk, &zero) : NULL;
}

static __always_inline struct unwind_slot *walk_slot(const struct native_walk *w, __u32 number)
{
	return bpf_map_lookup_elem(&unwind_slots, &number);
}

static __always_inline const struct unwind_rule *walk_rule(const struct native_walk *w,
							   __u32 number)
{
	return bpf_map_lookup_elem(&unwind_rules, &number);
}

static __always_inline __u64 walk_now(void)
{
	return bpf_ktime_get_boot_ns();
}

#endif
