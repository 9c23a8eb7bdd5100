/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The beginning and the end of the walk of a sampled thread's user stack: sets the initial state of
 * the walk, and copies the stack memory that is sent with a sample when the BPF programs cannot
 * finish the walk, or when stacks are saved on request.
 */
#ifndef SKEIN_BPF_UNWIND_NATIVE_H
#define SKEIN_BPF_UNWIND_NATIVE_H

#include "bpf/unwind/hotspot_kernel.h"
#include "bpf/unwind/kernel.h"
#include "bpf/unwind/process.h"

#include "bpf/unwind/frames.h"
#include "bpf/unwind/thread.h"

#define USER_PAGE 4096
#define COPY_STEP 1024 /* bytes of the last page that are copied at a time */
#define UNTOUCHED_PAGES 16
#define WALKS_PER_CACHE_SKIP 64
/* Assumed length of the longest stack, bytes; an address farther away is on another stack. */
#define STACK_MAX (1UL << 30)

/*
 * Return bytes after writing the value to the memory of a map and reading it back: the verifier
 * does not track values there. Otherwise the verifier would check the program to its end for every
 * value that a loop can leave.
 */
static __always_inline __u32 hide_from_verifier(__u32 *memory, __u32 bytes)
{
	*memory = bytes;
	return *(volatile __u32 *)memory;
}

/*
 * Copy the stack from *from on, page by page: a read that crosses the end of the stack fails as a
 * whole. The first pages may not be present yet, because a function reserves its frame before the
 * function writes to it; *from is moved past up to UNTOUCHED_PAGES such pages. copied: scratch word
 * in the memory of a map. Return the number of bytes copied, at most WIRE_STACK_BYTES; 0 on error.
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
	bytes = hide_from_verifier(copied, bytes);
	for (int i = 0; i < USER_PAGE / COPY_STEP - 1; i++) {
		keep_in_register(bytes);
		if (bytes <= WIRE_STACK_BYTES - USER_PAGE || bytes > WIRE_STACK_BYTES - COPY_STEP ||
		    bpf_probe_read_user((char *)to + bytes, COPY_STEP, (void *)(*from + bytes)))
			break;
		bytes += COPY_STEP;
	}
	return hide_from_verifier(copied, bytes);
}

/*
 * Return an address at or above the outermost frame of the thread's stack: the nearer one of the
 * thread pointer, whose data the C libraries keep above the stack, and of the address at which the
 * kernel put the first thread's stack. 0: neither is less than STACK_MAX above sp.
 */
static __always_inline __u64 find_stack_end(__u64 sp, struct task_struct *task)
{
	__u64 first = main_stack_start(task), self = thread_pointer(task);

	if (first - sp < STACK_MAX && first - sp < self - sp)
		return first;
	return self - sp < STACK_MAX ? self : 0;
}

/*
 * Return how many bytes directly below end can be read, in whole pages: at most WIRE_OUTER_BYTES,
 * and none below the address least. A page that was never touched holds no frame and ends the
 * search.
 */
static __always_inline __u32 count_outer_bytes(__u64 end, __u64 least)
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
 * Copy the outer end of a stack that is longer than the first copy. A walk can reach the outer end
 * across a large frame in between, since the walker reads only the outer end of each frame. at:
 * index of the copy in u->words. Return the number of words copied.
 */
static __always_inline __u32 user_walk_save_outer(struct user_walk *u, struct wire_unfinished *to,
						  __u64 at, struct task_struct *task)
{
	__u64 end = find_stack_end(u->walk.sp, task), copied = to->stack + to->bytes;
	__u32 bytes;

	if (end <= copied)
		return 0;
	end = (end + USER_PAGE - 1) & ~(USER_PAGE - 1ULL);
	bytes = hide_from_verifier(&to->outer_bytes,
				   count_outer_bytes(end, copied & ~(USER_PAGE - 1ULL)));
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

/* Store the walk's state, from which user space continues, without any copy of the stack. */
static __always_inline void begin_unfinished(struct wire_unfinished *to, const struct user_walk *u)
{
	const struct native_walk *w = &u->walk;

	to->version = w->version;
	to->stack = 0;
	to->outer = 0;
	to->pc = w->pc;
	to->sp = w->sp;
	to->fp = w->fp;
	to->base = w->base;
	__builtin_memcpy(to->registers, w->registers, sizeof(to->registers));
	to->bytes = 0;
	to->outer_bytes = 0;
	to->exact = w->exact;
	to->known = w->known;
	to->unmapped = u->status == WALK_UNMAPPED;
	to->cut = 0;
	__builtin_memset(to->unused, 0, sizeof(to->unused));
}

/*
 * Store the walk's state, from which user space continues, and a copy of the stack; outer: also a
 * copy of the stack's outer end. Return the number of words stored; 0: there is no room.
 */
static __always_inline __u32 user_walk_save(struct user_walk *u, struct task_struct *task,
					    bool outer)
{
	struct wire_unfinished *to;
	__u64 at = u->at, stack;
	__u32 words;

	keep_in_register(at); /* the verifier must see the same value that is used below */
	if (at > WALK_WORDS - UNFINISHED_WORDS - STACK_WORDS - OUTER_WORDS)
		return 0;
	to = (struct wire_unfinished *)&u->words[at];
	begin_unfinished(to, u);
	stack = (u->walk.sp - WALK_RED_ZONE) & ~7ULL;
	to->bytes = copy_stack(&u->words[at + UNFINISHED_WORDS], &stack, &to->bytes);
	to->stack = stack;
	words = UNFINISHED_WORDS + to->bytes / 8;
	return outer ? words + user_walk_save_outer(u, to, u->at + words, task) : words;
}

/* Take the user-mode registers with which a thread entered the kernel. */
static __always_inline void take_entry_registers(struct native_walk *w, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	walk_copy_registers(w, regs);
	w->exact = 1;
	w->known = 1;
}

/*
 * Take the thread's user-mode registers: those that the sample interrupted, or those with which the
 * thread entered the kernel.
 */
static __always_inline void take_user_registers(struct native_walk *w,
						struct bpf_perf_event_data *ctx,
						struct task_struct *task, bool in_kernel)
{
	walk_copy_registers(w, &ctx->regs);
	/* keeps the compiler from merging two pointers that the verifier must distinguish */
	asm volatile("" ::: "memory");
	w->exact = 1;
	w->known = 1;
	if (in_kernel)
		take_entry_registers(w, task);
}

/* Return the word by which walk_is_32_bit() decides, from where a thread entered the kernel. */
static __always_inline __u64 entry_mode(struct task_struct *task)
{
	__u64 mode = 0;

	bpf_probe_read_kernel(&mode, sizeof(mode),
			      (const __u64 *)bpf_task_pt_regs(task) + WALK_MODE_WORD);
	return mode;
}

/* Return the same word of the thread that a sample interrupted. */
static __always_inline __u64 user_mode(struct bpf_perf_event_data *ctx, struct task_struct *task,
				       bool in_kernel)
{
	__u64 mode = ((const __u64 *)&ctx->regs)[WALK_MODE_WORD];

	return in_kernel ? entry_mode(task) : mode;
}

/* Record the thread's pc as its only user frame, and the reason why the walk ends there. */
static __always_inline void user_walk_end_at_pc(struct user_walk *u, enum walk_end end)
{
	__u32 at = u->at;

	u->walk.end = end;
	if (at >= WALK_WORDS)
		return;
	u->words[at] = u->walk.pc;
	u->at = at + 1;
}

/*
 * Begin the walk at the time now (ns), after the registers were taken. mode: see user_mode().
 * Return 0 if there is a user stack to walk. Return 1 if there is none: the thread has no user-mode
 * pc (w->end is WALK_END_WALKED), or runs 32-bit code.
 */
static __always_inline int user_walk_begin_native(struct user_walk *u, struct task_struct *task,
						  __u64 mode, __u64 now)
{
	struct native_walk *w = &u->walk;
	struct unwind_process *p;

	/* the low bits of a time in ns are random */
	w->skip_cache = (now >> 7) % WALKS_PER_CACHE_SKIP == 0;
	w->end = 0;
	w->window.at = WALK_NO_WINDOW;
	w->java_left = 0;
	w->unloads = 0;
	w->period = (__u32)(now >> HOTSPOT_PERIOD_SHIFT);
	if (w->pc && walk_is_32_bit(mode)) {
		user_walk_end_at_pc(u, WALK_END_CODE_32_BIT);
		return 1;
	}
	p = walk_set_mappings(w, task);
	if (p)
		u->python = p->python;
	return w->pc == 0;
}

#endif
