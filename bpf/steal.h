/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * How long the host has run something else on this CPU, as KVM writes it into the guest's memory
 * (Documentation/virt/kvm/x86/msr.rst, MSR_KVM_STEAL_TIME). The host updates the count before it
 * lets the CPU run again, so it is exact whenever the guest reads it.
 *
 * The kernel keeps that memory in a variable of each CPU, and no helper gives its address where
 * kallsyms lacks data (CONFIG_KALLSYMS_ALL). But it lies as far from the CPU's run queue as the
 * kernel's types say, and the run queue is known to every thread.
 */
#ifndef SKEIN_BPF_STEAL_H
#define SKEIN_BPF_STEAL_H

/* Bytes from a CPU's run queue to its struct kvm_steal_time; 0: there is none. By user space. */
const volatile __s64 steal_offset = 0;

struct rq___steal;

struct cfs_rq___steal {
	struct rq___steal *rq;
} __attribute__((preserve_access_index));

struct sched_entity___steal {
	struct cfs_rq___steal *cfs_rq;
} __attribute__((preserve_access_index));

struct task_struct___steal {
	struct sched_entity___steal se;
} __attribute__((preserve_access_index));

/* ns, ever; 0: not known. task: the one that runs on this CPU. */
static __always_inline __u64 stolen_time(struct task_struct *task)
{
	struct task_struct___steal *t = (void *)task;
	struct cfs_rq___steal *queue;
	__u64 steal = 0;

	if (!steal_offset || !bpf_core_field_exists(t->se.cfs_rq->rq))
		return 0;
	queue = BPF_CORE_READ(t, se.cfs_rq);
	/* the count is the first member */
	bpf_probe_read_kernel(&steal, sizeof(steal),
			      (char *)BPF_CORE_READ(queue, rq) + steal_offset);
	return steal;
}

#endif
