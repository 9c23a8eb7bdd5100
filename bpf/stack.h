/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The stack of a thread as a record: the parts that samples of the clock (sample.bpf.c), stacks of
 * waits that have ended (wait_stack.h) and of those that have not (open_waits.bpf.c) share. The
 * file that includes this one must define user_read() before, as unwind/kernel.h says.
 */
#ifndef SKEIN_BPF_STACK_H
#define SKEIN_BPF_STACK_H

#include "bpf/event.h"
#include "bpf/select.h"
#include "bpf/task.h"
#include "bpf/unwind/native.h"
#include "bpf/unwind/python_kernel.h"

/* Set by user space before loading. */
const volatile bool with_kernel_stack = true;
const volatile bool with_user_stack = true;

static __always_inline void describe_sample(struct wire_sample *s, struct task_struct *task,
					    enum wire_kind kind, __u32 cpu, __u64 now)
{
	s->time = now;
	s->born = task->group_leader->start_boottime;
	s->cgroup = cgroup_id(task_shown_cgroup(task));
	s->pid = task->tgid;
	s->tid = task->pid;
	s->ns_pid = task_inner_pid(task->group_leader);
	s->cpu = cpu;
	s->kind = kind;
	s->flags = 0;
	s->event = 0;
	s->bytes = 0;
}

/* Return the sample's flag for the reason why no user stack is walked; 0 if one is walked. */
static __always_inline __u8 no_user_stack_flag(struct task_struct *task)
{
	if (task_is_kernel_thread(task))
		return WIRE_KTHREAD;
	/* During exec, end_code of the new address space is 0 until its stack is complete. */
	if (!task->mm || !task->mm->end_code || task_lacks_registers(task))
		return WIRE_NO_MM;
	if (wanted.namespace.level && !(wanted.conditions & WIRE_IF_NAMESPACE) &&
	    !is_in_own_namespace(task))
		return WIRE_OUTSIDE;
	return with_user_stack ? 0 : WIRE_NO_USER;
}

/*
 * Begin the stack of a thread whose words up to the user frames are written: words of them, kernel
 * of which are frames. Return whether there is a user stack; its registers are to be taken next.
 */
static __always_inline bool begin_stack(struct user_walk *u, struct task_struct *task, __u32 words,
					__u32 kernel)
{
	struct wire_sample *s = &u->sample;

	s->kernel_frames = kernel;
	s->user_frames = 0;
	s->user_end = WALK_END_WALKED;
	s->python_words = 0;
	s->python = 0;
	s->python_end = WALK_END_WALKED;
	s->java = 0;
	s->flags |= no_user_stack_flag(task);
	u->python.layout = 0;
	u->at = u->first = words;
	u->most = WIRE_MAX_USER;
	u->status = WALK_FINISHED;
	return !(s->flags & (WIRE_KTHREAD | WIRE_NO_MM | WIRE_NO_USER | WIRE_OUTSIDE));
}

/* End the native walk, which is over or can only be continued in user space. */
static __always_inline void user_walk_end_native(struct user_walk *u)
{
	struct wire_sample *s = &u->sample;

	s->user_frames = u->at - u->first;
	s->user_end = u->walk.end;
	if (u->status == WALK_UNMAPPED || u->status == WALK_PENDING)
		s->flags |= WIRE_UNFINISHED;
	if (u->status == WALK_PENDING)
		s->flags |= WIRE_PENDING;
}

/* Add the walked Python frames to the sample. */
static __always_inline void user_walk_end_python(struct user_walk *u, const struct python_walk *w)
{
	struct wire_sample *s = &u->sample;

	s->python_words = w->at - w->from;
	s->python = w->flags;
	s->python_end = w->end;
	u->at = w->at;
}

#endif
