/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Which mappings a process has, kept true from fork to exit: user space tells
 * them, a little later than they are made; what a fork copies, an exec or the
 * end of a process makes void, is known here at once.
 */
#ifndef SKEIN_BPF_UNWIND_PROCESS_H
#define SKEIN_BPF_UNWIND_PROCESS_H

#include "bpf/unwind/kernel.h"

static __always_inline void process_forked(struct task_struct *parent, struct task_struct *child)
{
	__u32 pid = parent->tgid, new = child->tgid;
	struct unwind_process *known, copy;

	if (pid == new)
		return;
	known = bpf_map_lookup_elem(&unwind_processes, &pid);
	if (!known) { /* of one that had the same pid, perhaps */
		bpf_map_delete_elem(&unwind_processes, &new);
		return;
	}
	copy = *known;
	copy.born = child->start_boottime;
	bpf_map_update_elem(&unwind_processes, &new, &copy, BPF_ANY);
}

static __always_inline void process_executed(__u32 pid)
{
	struct unwind_process p = {.executed = bpf_ktime_get_boot_ns()};

	bpf_map_update_elem(&unwind_processes, &pid, &p, BPF_ANY);
}

static __always_inline void process_gone(__u32 pid)
{
	bpf_map_delete_elem(&unwind_processes, &pid);
}

/*
 * Lets the walk know its mappings; without them it cannot leave its first frame. Returns the
 * process, NULL if nothing is known of it.
 */
static __always_inline struct unwind_process *walk_in_process(struct walk *w,
							      struct task_struct *task)
{
	__u32 pid = task->tgid;
	struct unwind_process *p = bpf_map_lookup_elem(&unwind_processes, &pid);

	w->mapping_count = 0;
	w->version = 0;
	w->settled = 0;
	if (!p || (p->born && p->born != task->group_leader->start_boottime))
		return NULL;
	w->mappings = p->mappings;
	w->mapping_count = p->count;
	w->version = p->version;
	w->settled = p->settled;
	return p;
}

#endif
