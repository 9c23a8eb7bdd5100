// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * What the recorder cannot read about itself in a container: how deep its pid namespace is, and the
 * control groups above its own. User space runs these programs once, in the context of the
 * recorder.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/event.h"
#include "bpf/select.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Return the level of the pid namespace of the calling thread. */
SEC("raw_tp")
int own_pid_level(void *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	return BPF_CORE_READ(task, thread_pid, level);
}

struct wire_cgroup own_cgroups[WIRE_CGROUP_LEVELS] = {}; /* by level */

/*
 * Store the recorder's control group and all above it, in the hierarchy of wanted.cgroup_subsys.
 * Return the level of its own.
 */
SEC("raw_tp")
int find_own_cgroups(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cgroup *cgroup = task_cgroup_in_hierarchy(task, wanted.cgroup_subsys);
	int own = BPF_CORE_READ(cgroup, level);

	for (int i = 0; i < WIRE_CGROUP_LEVELS && cgroup; i++) {
		__u32 level = BPF_CORE_READ(cgroup, level);
		struct cgroup_subsys_state *parent = BPF_CORE_READ(cgroup, self.parent);

		if (level < WIRE_CGROUP_LEVELS) {
			own_cgroups[level].id = cgroup_id(cgroup);
			bpf_probe_read_kernel_str(own_cgroups[level].name,
						  sizeof(own_cgroups[level].name),
						  BPF_CORE_READ(cgroup, kn, name));
		}
		cgroup = parent ? BPF_CORE_READ(parent, cgroup) : NULL;
	}
	return own;
}
