/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Memory of another thread's process, for walkers in a sleepable program, which may fault pages in.
 *
 * The helper that reads such memory needs a typed pointer to the task, which only the loops over
 * the walkers' steps have: the walkers keep their state in maps, which cannot hold one. So the
 * walkers read from a cache of blocks. A step that misses a block fails; the loop then restores the
 * state before the step, reads the block, and repeats the step. A frame takes many small reads, and
 * most of them are near each other: a block costs as much as one of them.
 *
 * Blocks are valid for one thread only: what other threads of the process do meanwhile changes
 * memory, but not the stack and frames of a thread that sleeps.
 */
#ifndef SKEIN_BPF_UNWIND_REMOTE_H
#define SKEIN_BPF_UNWIND_REMOTE_H

#include "bpf/unwind/python_state.h"

#define REMOTE_BLOCK 1024 /* bytes; a block does not cross the end of a page */
#define REMOTE_READ_MAX 384 /* most bytes that walkers read at once */
#define WALK_WINDOW_READ 256 /* the same for walk.h */
/* Linux 6.1 has no room on the stack for one more call, or for hotspot_leave_known(). */
#define WALK_WINDOW_FUNCTION static __always_inline
#define WALK_KNOWN_FRAMES 0
#define REMOTE_SETS 32 /* a power of two */
/*
 * Blocks of one set, of which the oldest is replaced: a step repeats until all blocks that it reads
 * are there at once, which may all be of one set.
 */
#define REMOTE_WAYS 8
#define REMOTE_BLOCKS (REMOTE_SETS * REMOTE_WAYS)
/* Maximum number of blocks that are read for the native frames of a thread, and for all frames. */
#define REMOTE_NATIVE_MAX 256
#define REMOTE_MAX 4096

struct remote_block {
	__u64 number; /* address / REMOTE_BLOCK */
	__u64 visit; /* for which the block was read; see struct remote_memory */
	__u32 bytes; /* readable bytes from the begin of the block on; 0: none */
	__u32 unused;
	__u8 data[REMOTE_BLOCK + REMOTE_READ_MAX]; /* no read crosses the end of its data */
};

struct remote_memory {
	__u64 visit; /* grows with every thread */
	__u64 wanted; /* number of the missing block */
	__u32 fetched, most; /* blocks read for this thread, and their maximum */
	__u8 missing; /* the step needs a block that is not there */
	__u8 exhausted; /* the maximum was reached */
	__u8 begun; /* the walk of Python frames has steps to make */
	__u8 unused[5];
	/* the state before a step */
	struct native_walk native;
	struct python_walk python;
	struct remote_block blocks[REMOTE_BLOCKS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct remote_memory);
} remote_memory SEC(".maps");

static __always_inline struct remote_block *remote_block(struct remote_memory *m, __u32 index)
{
	keep_in_register(index);
	return &m->blocks[index & (REMOTE_BLOCKS - 1)];
}

/*
 * Return the index of a block of this thread, REMOTE_BLOCKS if it is not there. A global function,
 * so that the verifier checks it once and not at every read.
 */
__noinline __u32 remote_find(__u64 number)
{
	__u32 zero = 0, first = (number & (REMOTE_SETS - 1)) * REMOTE_WAYS;
	struct remote_memory *m = bpf_map_lookup_elem(&remote_memory, &zero);

	for (__u32 way = 0; m && way < REMOTE_WAYS; way++) {
		const struct remote_block *b = remote_block(m, first + way);

		if (b->number == number && b->visit == m->visit)
			return first + way;
	}
	return REMOTE_BLOCKS;
}

/* Request a block, unless the thread has had its share. */
static __always_inline int remote_miss(struct remote_memory *m, __u64 number)
{
	if (m->fetched >= m->most) {
		m->exhausted = 1;
		return -1;
	}
	m->missing = 1;
	m->wanted = number;
	return -1;
}

static __always_inline int user_read(void *to, __u32 bytes, __u32 most, __u64 address)
{
	__u32 zero = 0, offset = address & (REMOTE_BLOCK - 1), index;
	struct remote_memory *m = bpf_map_lookup_elem(&remote_memory, &zero);
	const struct remote_block *b;

	if (!m || m->missing)
		return -1;
	index = remote_find(address / REMOTE_BLOCK);
	if (index >= REMOTE_BLOCKS)
		return remote_miss(m, address / REMOTE_BLOCK);
	b = remote_block(m, index);
	/* Linux 6.1's verifier has lost what the caller has checked. */
	keep_in_register(bytes);
	if (bytes > most || offset + bytes > b->bytes)
		return -1;
	return bpf_probe_read_kernel(to, bytes, b->data + offset) != 0;
}

/* Read the missing block. The end of its data may lie in a page that is not mapped. */
static __always_inline void remote_fetch(struct remote_memory *m, struct task_struct *task)
{
	__u64 number = m->wanted;
	__u32 first = (number & (REMOTE_SETS - 1)) * REMOTE_WAYS;
	struct remote_block *b = remote_block(m, first + m->fetched % REMOTE_WAYS);
	void *from = (void *)(number * REMOTE_BLOCK);

	b->number = number;
	b->visit = m->visit;
	b->bytes = 0;
	if (!bpf_copy_from_user_task(b->data, sizeof(b->data), from, task, 0))
		b->bytes = sizeof(b->data);
	else if (!bpf_copy_from_user_task(b->data, REMOTE_BLOCK, from, task, 0))
		b->bytes = REMOTE_BLOCK;
	m->fetched++;
	m->missing = 0;
}

/* Begin with another thread: nothing is known of its memory. */
static __always_inline void remote_begin(struct remote_memory *m)
{
	m->visit++;
	m->fetched = 0;
	m->most = REMOTE_NATIVE_MAX;
	m->missing = 0;
	m->exhausted = 0;
}

#endif
