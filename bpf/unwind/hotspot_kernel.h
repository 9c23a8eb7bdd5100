/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Data of the walker of Java frames in the BPF programs: layouts and JVMs, which user space fills,
 * the pc -> blob cache, and the primitives of hotspot.h that use them. The file that includes this
 * one must define user_read() before, as kernel.h says.
 */
#ifndef SKEIN_BPF_UNWIND_HOTSPOT_KERNEL_H
#define SKEIN_BPF_UNWIND_HOTSPOT_KERNEL_H

#include "bpf/unwind/state.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HOTSPOT_LAYOUTS_MAX);
	__type(key, __u32);
	__type(value, struct hotspot_layout);
} hotspot_layouts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HOTSPOT_PROCESSES_MAX);
	__type(key, __u32);
	__type(value, struct hotspot_process);
} hotspot_processes SEC(".maps");

#define HOTSPOT_CACHE_BITS 15

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << HOTSPOT_CACHE_BITS);
	__type(key, __u32);
	__type(value, struct hotspot_cached);
} hotspot_cache SEC(".maps");

/* User space fills it (hotspot_layout.h). */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, HOTSPOT_CODES_MAX);
	__type(key, struct hotspot_code_key);
	__type(value, struct hotspot_code_rows);
} hotspot_codes SEC(".maps");

static __always_inline int hotspot_read(struct native_walk *w, void *to, __u32 bytes, __u64 address)
{
	return user_read(to, bytes, bytes, address);
}

static __always_inline int hotspot_read_part(struct native_walk *w, void *to, __u32 bytes,
					     __u32 most, __u64 address)
{
	return user_read(to, bytes, most, address);
}

static __always_inline const struct hotspot_process *
hotspot_find_process(const struct native_walk *w)
{
	__u32 index = HOTSPOT_NUMBER_INDEX(w->hotspot);
	const struct hotspot_process *p = bpf_map_lookup_elem(&hotspot_processes, &index);

	return p && p->number == w->hotspot ? p : NULL;
}

static __always_inline const struct hotspot_layout *
hotspot_find_layout(const struct hotspot_process *p)
{
	__u32 number = p->layout - 1;

	return bpf_map_lookup_elem(&hotspot_layouts, &number);
}

static __always_inline const struct hotspot_code_rows *
hotspot_find_code_rows(const struct native_walk *w)
{
	const struct hotspot_code_key key = {
		.address = w->java.blob.address,
		.id = w->java.blob.id,
		.number = w->hotspot,
	};

	return bpf_map_lookup_elem(&hotspot_codes, &key);
}

static __always_inline struct hotspot_cached *hotspot_cache_entry(__u64 hash)
{
	__u32 index = hash >> (64 - HOTSPOT_CACHE_BITS);

	return bpf_map_lookup_elem(&hotspot_cache, &index);
}

#endif
