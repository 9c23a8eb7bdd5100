/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Properties of a thread that all BPF programs record: whether it is a kernel thread, and the
 * innermost pid of its process. Workers of io_uring and vhost count as kernel threads, since they
 * never run in user mode.
 */
#ifndef SKEIN_BPF_TASK_H
#define SKEIN_BPF_TASK_H

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

#endif
