/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Data of the walker of Python frames in the BPF programs: layouts, which user space fills, the
 * walker's caches, and the primitives of python.h.
 */
#ifndef SKEIN_BPF_UNWIND_PYTHON_KERNEL_H
#define SKEIN_BPF_UNWIND_PYTHON_KERNEL_H

#include "bpf/unwind/frames.h"
#include "bpf/unwind/python_state.h"
#include "bpf/unwind/thread.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PYTHON_LAYOUTS_MAX);
	__type(key, __u32);
	__type(value, struct python_layout);
} python_layouts SEC(".maps");

/*
 * Entries for samples, for stacks of waits, which a sample may interrupt, and for stacks of hits of
 * probes, in which a thread may be preempted.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 3);
	__type(key, __u32);
	__type(value, struct python_walk);
} python_scratch SEC(".maps");

/*
 * Number of entries in the cache of threads' states, which is indexed by the low bits of the thread
 * id. Of two threads that share an entry, each replaces the states of the other, which are then
 * searched again.
 */
#define PYTHON_THREADS 4096

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PYTHON_THREADS);
	__type(key, __u32);
	__type(value, struct python_thread);
} python_threads SEC(".maps");

/*
 * The cache of code objects that were seen: one hash per entry, written without locks. A lost entry
 * only makes its code object count as new again.
 */
#define PYTHON_SEEN_BITS 15

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << PYTHON_SEEN_BITS);
	__type(key, __u32);
	__type(value, __u64);
} python_seen SEC(".maps");

static __always_inline int python_read(struct python_walk *w, void *to, __u32 bytes, __u64 address)
{
	return user_read(to, bytes, bytes, address);
}

static __always_inline int python_read_part(struct python_walk *w, void *to, __u32 bytes,
					    __u32 most, __u64 address)
{
	return user_read(to, bytes, most, address);
}

static __always_inline int python_is_new_code(const struct python_walk *w, __u64 code, __u32 id)
{
	__u64 hash = python_hash_word(python_hash_word(python_hash_word(0, w->born), code), id);
	__u32 index = hash >> (64 - PYTHON_SEEN_BITS);
	__u64 *entry = bpf_map_lookup_elem(&python_seen, &index);

	if (!entry || *(volatile __u64 *)entry == hash)
		return 0;
	*(volatile __u64 *)entry = hash;
	return 1;
}

static __always_inline struct python_thread *python_cache_entry(const struct python_walk *w)
{
	__u32 index = w->tid & (PYTHON_THREADS - 1);

	return bpf_map_lookup_elem(&python_threads, &index);
}

#include "bpf/unwind/python.h"

/*
 * Begin to walk the Python frames of a thread; their words follow those of the native frames.
 * Return NULL if the thread's process has no known interpreter, or if there are no steps to make.
 */
static __always_inline struct python_walk *user_walk_begin_python(struct user_walk *u,
								  struct task_struct *task)
{
	const struct python_process *process = &u->python;
	const struct wire_sample *s = &u->sample;
	__u32 scratch = s->kind == WIRE_SAMPLE ? 0 : s->kind == WIRE_HIT ? 2 : 1;
	__u32 number = process->layout - 1;
	struct python_walk *w = bpf_map_lookup_elem(&python_scratch, &scratch);
	const struct python_layout *layout = bpf_map_lookup_elem(&python_layouts, &number);

	if (!w || !layout || !process->layout)
		return NULL;
	w->process = *process;
	w->layout = *layout;
	w->born = s->born;
	w->now = s->time;
	w->tid = s->tid;
	w->self = thread_pointer(task);
	/*
	 * The C library puts the thread control block at the end of the thread's stack, except in
	 * the main thread.
	 */
	w->stack_end = s->tid == s->pid ? ~0ULL : w->self;
	/*
	 * If the native walk has left a signal frame, these are not the registers of the sample;
	 * the checks of python_register.h then reject them.
	 */
	__builtin_memcpy(w->registers.values, u->walk.registers, sizeof(w->registers.values));
	return python_walk_begin(w, u->at) ? NULL : w;
}

#endif
