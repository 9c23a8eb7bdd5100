// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * Measures how long the children of some programs ran, between the sched_switch events at which
 * they got and lost the CPU. Tests compare the times with samples; rusage is less exact, because it
 * charges the end of a preempted turn, some 10 us, to the next thread (docs/account.md).
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "slices.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile char parent_comm[16];

/* Time at which the current thread of each CPU began to run, ns; 0 before the first switch. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} came SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32); /* pid of the parent process */
	__type(value, struct slices);
} ran SEC(".maps");

static __always_inline bool is_one(struct task_struct *parent)
{
	for (int i = 0; i < (int)sizeof(parent_comm); i++) {
		if (parent->comm[i] != parent_comm[i])
			return false;
		if (!parent_comm[i])
			break;
	}
	return true;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 now = bpf_ktime_get_ns(), *from;
	__u32 zero = 0, parent = prev->real_parent->tgid;
	struct slices *s, none = {};

	from = bpf_map_lookup_elem(&came, &zero);
	if (!from)
		return 0;
	if (*from && is_one(prev->real_parent)) {
		s = bpf_map_lookup_elem(&ran, &parent);
		if (!s) {
			bpf_map_update_elem(&ran, &parent, &none, BPF_NOEXIST);
			s = bpf_map_lookup_elem(&ran, &parent);
		}
		if (s) {
			s->ns += now - *from;
			s->count++;
		}
	}
	*from = now;
	return 0;
}
