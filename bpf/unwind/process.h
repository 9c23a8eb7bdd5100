/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The mappings of processes, kept correct from fork to exit. User space enters mappings a little
 * after they are made. The BPF programs copy them at once for a fork, and remove them at once at an
 * exec or the end of a process.
 */
#ifndef SKEIN_BPF_UNWIND_PROCESS_H
#define SKEIN_BPF_UNWIND_PROCESS_H

#include "bpf/unwind/kernel.h"

/* Copy the parent's mappings to a new process; a new thread uses the entry of its process. */
static __always_inline void process_forked(struct task_struct *parent, struct task_struct *child)
{
	__u32 pid = parent->tgid, new = child->tgid;
	struct unwind_process *known, copy;

	if (pid == new)
		return;
	known = bpf_map_lookup_elem(&unwind_processes, &pid);
	if (!known) { /* there may be an entry of an earlier process with this pid */
		bpf_map_delete_elem(&unwind_processes, &new);
		return;
	}
	copy = *known;
	copy.born = child->start_boottime;
	bpf_map_update_elem(&unwind_processes, &new, &copy, BPF_ANY);
}

/* Remove the mappings of a process after an exec, and record the time of the exec. */
static __always_inline void process_executed(__u32 pid)
{
	struct unwind_process p = {.executed = bpf_ktime_get_boot_ns()};

	bpf_map_update_elem(&unwind_processes, &pid, &p, BPF_ANY);
}

/* Remove a process that has ended. */
static __always_inline void process_ended(__u32 pid)
{
	bpf_map_delete_elem(&unwind_processes, &pid);
}

/*
 * Set the mappings of the thread's process in *w; without mappings, the walk cannot leave its first
 * frame. Return the process's entry; NULL if there is none, or only one of an earlier process.
 */
static __always_inline struct unwind_process *walk_set_mappings(struct native_walk *w,
								struct task_struct *task)
{
	__u32 pid = task->tgid;
	struct unwind_process *p = bpf_map_lookup_elem(&unwind_processes, &pid);

	w->mapping_count = 0;
	w->version = 0;
	w->settled = 0;
	w->hotspot = 0;
	if (!p || (p->born && p->born != task->group_leader->start_boottime))
		return NULL;
	w->mappings = p->mappings;
	w->mapping_count = p->count;
	w->version = p->version;
	w->settled = p->settled;
	w->hotspot = p->hotspot;
	return p;
}

#endif
