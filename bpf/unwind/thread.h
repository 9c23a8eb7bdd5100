/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Finds addresses near the end of the current task's stack: the start of its process's first stack,
 * and its thread pointer.
 */
#ifndef SKEIN_BPF_UNWIND_THREAD_H
#define SKEIN_BPF_UNWIND_THREAD_H

/* These members depend on the architecture, so the common vmlinux.h cannot have them. */
#if defined(__TARGET_ARCH_arm64)
struct thread_struct___arch {
	struct {
		unsigned long tp_value;
	} uw;
} __attribute__((preserve_access_index));
#define THREAD_POINTER thread.uw.tp_value
#else
struct thread_struct___arch {
	unsigned long fsbase;
} __attribute__((preserve_access_index));
#define THREAD_POINTER thread.fsbase
#endif

struct mm_struct___stack {
	unsigned long start_stack;
} __attribute__((preserve_access_index));

/*
 * Return the address from which the stack of the process's first thread grows down; 0: there is no
 * address space.
 */
static __always_inline __u64 main_stack_start(struct task_struct *task)
{
	struct mm_struct___stack *mm = (struct mm_struct___stack *)task->mm;

	return mm ? BPF_CORE_READ(mm, start_stack) : 0;
}

struct task_struct___arch {
	struct thread_struct___arch thread;
} __attribute__((preserve_access_index));

static __always_inline __u64 thread_pointer(struct task_struct *task)
{
	return BPF_CORE_READ((struct task_struct___arch *)task, THREAD_POINTER);
}

#endif
