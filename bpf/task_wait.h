/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * How a thread leaves a CPU: whether it is ready to run, what keeps it from running, and the system
 * call in which it waits.
 */
#ifndef SKEIN_BPF_TASK_WAIT_H
#define SKEIN_BPF_TASK_WAIT_H

#include "bpf/task.h"

/* Bit of thread_info.status: arch/x86/include/asm/thread_info.h. */
#define TS_COMPAT 0x2

struct cfs_rq___throttle {
	int throttle_count;
} __attribute__((preserve_access_index));

struct sched_entity___throttle {
	struct cfs_rq___throttle *cfs_rq;
} __attribute__((preserve_access_index));

struct task_struct___throttle {
	bool throttled; /* since Linux 6.18, which throttles threads one by one */
	struct sched_entity___throttle se;
} __attribute__((preserve_access_index));

static __always_inline bool task_waits_for_io(struct task_struct *task)
{
	struct task_struct___wait *t = (void *)task;

	return BPF_CORE_READ_BITFIELD(t, in_iowait);
}

/*
 * Return the number of the system call in which a thread is, plus 1; 0: none, for example in a page
 * fault, or a number that does not fit into a record.
 */
static __always_inline __u64 task_syscall(struct task_struct *task)
{
	__u64 argument, call = entry_call(task, &argument);

	return call < 1024 ? call : 0;
}

static __always_inline bool task_is_compat(struct task_struct *task)
{
	struct task_struct___sched *t = (void *)task;

	return bpf_core_field_exists(t->thread_info.status) && t->thread_info.status & TS_COMPAT;
}

static __always_inline bool task_is_throttled(struct task_struct *task)
{
	struct task_struct___throttle *t = (void *)task;

	if (bpf_core_field_exists(t->throttled))
		return t->throttled;
	if (bpf_core_field_exists(t->se.cfs_rq) &&
	    bpf_core_field_exists(t->se.cfs_rq->throttle_count))
		return t->se.cfs_rq->throttle_count > 0;
	return false;
}

/* Return the flags (enum wire_prev_flag) of a thread that waits. */
static __always_inline __u64 task_wait_flags(struct task_struct *task)
{
	__u64 flags = task_waits_for_io(task) ? WIRE_PREV_IOWAIT : 0;

	if (task_is_kernel_thread(task))
		flags |= WIRE_PREV_KTHREAD;
	else if (task_is_compat(task))
		flags |= WIRE_PREV_COMPAT;
	return flags;
}

/*
 * Return whether a thread in this state is ready to run. A throttled thread also leaves the CPU in
 * one of these states; since Linux 6.18 it is preempted.
 */
static __always_inline bool is_ready_to_run(enum wire_state state)
{
	return state == WIRE_RUNNABLE || state == WIRE_PREEMPTED;
}

#endif
