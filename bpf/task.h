/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Properties of a thread that BPF programs record: its state, whether it is a kernel thread, the
 * innermost pid of its process, its system call. Workers of io_uring and vhost count as kernel
 * threads, since they never run in user mode.
 */
#ifndef SKEIN_BPF_TASK_H
#define SKEIN_BPF_TASK_H

#include "bpf/event.h"

#define PF_IO_WORKER 0x10
#define PF_USER_WORKER 0x4000 /* since Linux 6.4; PF_USED_ASYNC before 5.17 */
#define PF_KTHREAD 0x00200000

static __always_inline bool task_is_kernel_thread(struct task_struct *task)
{
	return task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER);
}

struct task_struct___exec {
	unsigned int in_execve : 1;
} __attribute__((preserve_access_index));

/*
 * Return whether a thread has the address space of the program that it executes, and still the
 * registers of the old one: exec sets them last. Before, the thread has both of the old one. The
 * new address space has nothing at the old stack pointer.
 */
static __always_inline bool task_lacks_registers(struct task_struct *task)
{
	struct task_struct___exec *t = (void *)task;
	struct pt_regs *regs;
	char byte;

	if (!bpf_core_field_exists(t->in_execve) || !BPF_CORE_READ_BITFIELD_PROBED(t, in_execve))
		return false;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	return bpf_probe_read_user(&byte, sizeof(byte), (void *)regs->sp);
}

/*
 * Return a process's pid in its innermost pid namespace; 0 if the process is being reaped. leader:
 * the process's main thread.
 */
static __always_inline __u32 task_inner_pid(struct task_struct *leader)
{
	/* Linux 6.1's verifier refuses to add a variable to a typed pointer: use untyped reads. */
	struct pid *pid = BPF_CORE_READ(leader, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	char *innermost;
	int number = 0;

	if (!pid)
		return 0;
	if (!level)
		return leader->pid;
	innermost = (char *)pid + bpf_core_field_offset(struct pid, numbers) +
		    level * bpf_core_type_size(struct upid);
	bpf_probe_read_kernel(&number, sizeof(number),
			      innermost + bpf_core_field_offset(struct upid, nr));
	return number;
}

/* Bits of task_struct.__state and exit_state: include/linux/sched.h. */
#define TASK_INTERRUPTIBLE 0x1
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_STOPPED_OR_TRACED 0xc
#define TASK_EXITING 0xb0 /* EXIT_DEAD, EXIT_ZOMBIE, TASK_DEAD */
#define TASK_PARKED 0x40
#define TASK_NOLOAD 0x400
#define TASK_RTLOCK_WAIT 0x1000
#define TASK_FROZEN 0x8000

struct thread_info___sched {
	unsigned int status;
	unsigned int cpu;
} __attribute__((preserve_access_index));

struct task_struct___sched {
	struct thread_info___sched thread_info;
	unsigned int cpu; /* before Linux 5.16 */
} __attribute__((preserve_access_index));

struct task_struct___wait {
	int on_cpu;
	unsigned int in_iowait : 1;
} __attribute__((preserve_access_index));

static __always_inline __u32 task_cpu_of(struct task_struct *task)
{
	struct task_struct___sched *t = (void *)task;

	if (bpf_core_field_exists(t->thread_info.cpu))
		return t->thread_info.cpu;
	return bpf_core_field_exists(t->cpu) ? t->cpu : 0;
}

static __always_inline enum wire_state decode_task_state(unsigned int state)
{
	if (state & TASK_EXITING)
		return WIRE_DEAD;
	if (state & TASK_INTERRUPTIBLE)
		return WIRE_SLEEPING;
	if (state & (TASK_UNINTERRUPTIBLE | TASK_RTLOCK_WAIT))
		return state & TASK_NOLOAD ? WIRE_UNUSED : WIRE_DISK;
	if (state & (TASK_STOPPED_OR_TRACED | TASK_FROZEN))
		return WIRE_STOPPED;
	if (state & TASK_PARKED)
		return WIRE_PARKED;
	return WIRE_RUNNABLE;
}

/* Return the system call of a thread + 1, 0 if it is in none, and its first argument. */
static __always_inline __u16 entry_call(struct task_struct *task, __u64 *argument)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
#if defined(__TARGET_ARCH_x86)
	__s64 number = regs->orig_ax;

	*argument = regs->di;
#else
	__s64 number = regs->syscallno;

	*argument = regs->orig_x0;
#endif
	return number >= 0 && number < 0xffff ? number + 1 : 0;
}

#endif
