/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * A thread's user stack into a sample: where the walk begins, and what is sent
 * along when it cannot be finished here.
 */
#ifndef SKEIN_BPF_UNWIND_NATIVE_H
#define SKEIN_BPF_UNWIND_NATIVE_H

#include "bpf/unwind/kernel.h"
#include "bpf/unwind/process.h"

#include "bpf/unwind/frames.h"
#include "bpf/unwind/thread.h"

#define USER_PAGE 4096
#define COPY_STEP 1024 /* bytes of the last page that are copied at a time */
#define UNTOUCHED_PAGES 16
#define WALKS_PER_AFRESH 64
/* No stack is longer: what lies farther off is another thread's. */
#define STACK_MAX (1UL << 30)

static long walk_one(__u32 i, void *context)
{
	return walk_frame(*(struct user_walk **)context);
}

/*
 * The same number of bytes, read back from memory of a map, where the verifier does not follow
 * values: it would check the program to its end for every number that a loop can leave.
 */
static __always_inline __u32 forgotten(__u32 *memory, __u32 bytes)
{
	*memory = bytes;
	return *(volatile __u32 *)memory;
}

/*
 * Copy the stack piece by piece: what lies behind its end cannot be read, and a
 * read that fails fails as a whole. Its first pages may not be there yet: a
 * function makes room first, and touches it later. *from is moved behind them.
 * *copied: memory of a map. Returns bytes.
 */
static __always_inline __u32 copy_stack(__u64 *to, __u64 *from, __u32 *copied)
{
	__u64 bytes = USER_PAGE - (*from & (USER_PAGE - 1));

	for (int i = 0; bpf_probe_read_user(to, bytes & (2 * USER_PAGE - 1), (void *)*from); i++) {
		if (i == UNTOUCHED_PAGES)
			return 0;
		*from += bytes;
		bytes = USER_PAGE;
	}
	for (int i = 0; i < WIRE_STACK_BYTES / USER_PAGE - 1; i++) {
		keep_in_register(bytes);
		if (bytes > WIRE_STACK_BYTES - USER_PAGE ||
		    bpf_probe_read_user((char *)to + bytes, USER_PAGE, (void *)(*from + bytes)))
			break;
		bytes += USER_PAGE;
	}
	bytes = forgotten(copied, bytes);
	for (int i = 0; i < USER_PAGE / COPY_STEP - 1; i++) {
		keep_in_register(bytes);
		if (bytes <= WIRE_STACK_BYTES - USER_PAGE || bytes > WIRE_STACK_BYTES - COPY_STEP ||
		    bpf_probe_read_user((char *)to + bytes, COPY_STEP, (void *)(*from + bytes)))
			break;
		bytes += COPY_STEP;
	}
	return forgotten(copied, bytes);
}

/*
 * Where a thread's stack ends, at most: the C libraries keep what its thread pointer points to
 * behind it, and the kernel knows where the first thread's begins. 0: neither is near.
 */
static __always_inline __u64 end_of_stack(__u64 sp, struct task_struct *task)
{
	__u64 first = first_stack(task), self = thread_pointer(task);

	if (first - sp < STACK_MAX && first - sp < self - sp)
		return first;
	return self - sp < STACK_MAX ? self : 0;
}

/*
 * How much of the stack before its end is there, at most WIRE_OUTER_BYTES and not farther down than
 * least. What nobody has touched yet is not: no frame needs it.
 */
static __always_inline __u32 outer_bytes(__u64 end, __u64 least)
{
	__u32 bytes = 0;
	__u64 word;

	for (int i = 1; i <= WIRE_OUTER_BYTES / USER_PAGE; i++) {
		__u64 page = end - i * USER_PAGE;

		if (page < least || bpf_probe_read_user(&word, sizeof(word), (void *)page))
			break;
		bytes += USER_PAGE;
	}
	return bytes;
}

/*
 * The other end of a stack that is longer than what was copied of it: a walk comes to it across
 * frames of which it needs no more than the end. Returns words.
 */
static __always_inline __u32 save_outer(struct user_walk *u, struct wire_unfinished *to, __u64 at,
					struct task_struct *task)
{
	__u64 end = end_of_stack(u->walk.sp, task), copied = to->stack + to->bytes;
	__u32 bytes;

	if (end <= copied)
		return 0;
	end = (end + USER_PAGE - 1) & ~(USER_PAGE - 1ULL);
	bytes = forgotten(&to->outer_bytes, outer_bytes(end, copied & ~(USER_PAGE - 1ULL)));
	to->outer = end - bytes;
	keep_in_register(at);
	keep_in_register(bytes);
	if (at > WALK_WORDS - OUTER_WORDS || bytes > WIRE_OUTER_BYTES ||
	    bpf_probe_read_user(&u->words[at], bytes, (void *)to->outer)) {
		to->outer_bytes = 0;
		return 0;
	}
	return bytes / 8;
}

/* What user space needs to go on; outer: the other end of the stack, too. Returns words. */
static __always_inline __u32 save_walk(struct user_walk *u, struct task_struct *task, bool outer)
{
	const struct walk *w = &u->walk;
	struct wire_unfinished *to;
	__u64 at = u->at, stack;
	__u32 words;

	keep_in_register(at); /* what is checked must be what is used */
	if (at > WALK_WORDS - UNFINISHED_WORDS - STACK_WORDS - OUTER_WORDS)
		return 0;
	to = (struct wire_unfinished *)&u->words[at];
	to->version = w->version;
	to->pc = w->pc;
	to->sp = w->sp;
	to->fp = w->fp;
	to->base = w->base;
	__builtin_memcpy(to->registers, w->registers, sizeof(to->registers));
	to->exact = w->exact;
	to->known = w->known;
	to->unmapped = u->state == WALK_UNMAPPED;
	__builtin_memset(to->unused, 0, sizeof(to->unused));
	stack = (w->sp - WALK_RED_ZONE) & ~7ULL;
	to->bytes = copy_stack(&u->words[at + UNFINISHED_WORDS], &stack, &to->bytes);
	to->stack = stack;
	to->outer = 0;
	to->outer_bytes = 0;
	words = UNFINISHED_WORDS + to->bytes / 8;
	return outer ? words + save_outer(u, to, u->at + words, task) : words;
}

/*
 * The registers with which the thread was in user space: those that the sample
 * interrupted, or those that it entered the kernel with.
 */
static __always_inline void take_registers(struct walk *w, struct bpf_perf_event_data *ctx,
					   struct task_struct *task, bool in_kernel)
{
	walk_take_registers(w, &ctx->regs);
	/* else the compiler makes one pointer of two that the verifier must tell apart */
	asm volatile("" ::: "memory");
	if (in_kernel) {
		struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

		walk_take_registers(w, regs);
	}
	w->exact = 1;
	w->known = 1;
}

/* Whether the thread was in 32-bit code, whose tables and frames are none that are walked. */
static __always_inline bool in_32_bit_code(struct bpf_perf_event_data *ctx,
					   struct task_struct *task, bool in_kernel)
{
	__u64 mode = ((const __u64 *)&ctx->regs)[WALK_MODE_WORD];

	if (in_kernel)
		bpf_probe_read_kernel(&mode, sizeof(mode),
				      (const __u64 *)bpf_task_pt_regs(task) + WALK_MODE_WORD);
	return walk_is_32_bit(mode);
}

/* The place where the thread stands is all of its user stack, and the reason goes with it. */
static __always_inline void end_at_32_bit(struct user_walk *u)
{
	__u32 at = u->at;

	u->walk.end = WALK_END_CODE_32_BIT;
	if (at >= WALK_WORDS)
		return;
	u->words[at] = u->walk.pc;
	u->at = at + 1;
}

/* 0 if the thread has a user stack to be walked; u->walk.end is set if it has not. now: ns. */
static __always_inline int begin_walk(struct user_walk *u, struct bpf_perf_event_data *ctx,
				      struct task_struct *task, bool in_kernel, __u64 now)
{
	struct walk *w = &u->walk;
	struct unwind_process *p;

	w->afresh = (now >> 7) % WALKS_PER_AFRESH == 0; /* its low bits come by chance */
	take_registers(w, ctx, task, in_kernel);
	w->end = 0;
	w->window_at = WALK_NO_WINDOW;
	if (w->pc && in_32_bit_code(ctx, task, in_kernel)) {
		end_at_32_bit(u);
		return 1;
	}
	p = walk_in_process(w, task);
	if (p)
		u->python = p->python;
	return w->pc == 0;
}

#endif
