/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Walkers that the kernel has built in: its own stack, and user stacks by
 * frame pointers. Each writes tagged words (event.h), leaf first, and returns
 * how many; a user walker also says how the walk ended.
 */
#ifndef SKEIN_BPF_UNWIND_FRAME_POINTER_H
#define SKEIN_BPF_UNWIND_FRAME_POINTER_H

#include "event.h"

#define WALK_BYTES (WIRE_MAX_FRAMES * sizeof(__u64))

/* Values of enum stack_end in base/record.h, which asserts that they agree. */
enum { WALK_ENDED = 0, WALK_TOO_DEEP = 1 };

static __always_inline __u32 walk_kernel(void *ctx, __u64 *words)
{
	long bytes = bpf_get_stack(ctx, words, WALK_BYTES, 0);

	return bytes > 0 ? bytes / sizeof(__u64) : 0;
}

/*
 * The kernel follows the chain of saved frame pointers until it leaves the
 * stack; whether it ended where the thread began is decided by the address of
 * the last frame, in user space.
 */
static __always_inline __u32 walk_frame_pointers(void *ctx, __u64 *words, __u8 *end)
{
	long bytes = bpf_get_stack(ctx, words, WALK_BYTES, BPF_F_USER_STACK);

	*end = bytes == WALK_BYTES ? WALK_TOO_DEEP : WALK_ENDED;
	return bytes > 0 ? bytes / sizeof(__u64) : 0;
}

#endif
