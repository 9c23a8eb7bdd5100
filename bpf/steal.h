/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Time for which the host has run something else on this CPU, as KVM writes it into the guest's
 * memory (Documentation/virt/kvm/x86/msr.rst, MSR_KVM_STEAL_TIME). The host updates the count
 * before it lets the CPU run again, so the count is exact whenever the guest reads it.
 *
 * The kernel keeps that memory in a per-CPU variable, whose address no BPF helper returns where
 * kallsyms lacks data symbols (CONFIG_KALLSYMS_ALL). The program therefore reads it at a fixed
 * distance (steal_offset) from the CPU's run queue, which is found from the running thread.
 */
#ifndef SKEIN_BPF_STEAL_H
#define SKEIN_BPF_STEAL_H

/*
 * Bytes from a CPU's run queue to its struct kvm_steal_time, the same on every CPU; 0: there is no
 * such memory. Set by user space.
 */
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

/*
 * Return the total stolen time of this CPU, ns; 0: not known. task: the thread that runs on this
 * CPU.
 */
static __always_inline __u64 stolen_time(struct task_struct *task)
{
	struct task_struct___steal *t = (void *)task;
	struct cfs_rq___steal *queue;
	__u64 steal = 0;

	if (!steal_offset || !bpf_core_field_exists(t->se.cfs_rq->rq))
		return 0;
	queue = BPF_CORE_READ(t, se.cfs_rq);
	/* the steal count is the first member of struct kvm_steal_time */
	bpf_probe_read_kernel(&steal, sizeof(steal),
			      (char *)BPF_CORE_READ(queue, rq) + steal_offset);
	return steal;
}

#endif
