/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Selection of the recorded threads: all, or those of some processes, threads or a cgroup. */
#ifndef SKEIN_BPF_SELECT_H
#define SKEIN_BPF_SELECT_H

#include "bpf/namespace.h"

/* Number of levels searched for the cgroup when its level is not known. */
#define MAX_LEVELS 32

const volatile struct wire_selection wanted = {.cgroup_subsys = -1, .shown_subsys = -1};

/*
 * Type of selected_pids (tgid -> start_boottime of the process) and selected_tids (tid ->
 * start_boottime of the thread); a start time of 0 is not known yet.
 */
struct selection {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, __u32);
	__type(value, __u64);
};

struct selection selected_pids SEC(".maps");
struct selection selected_tids SEC(".maps");

/* Number of child processes that could not be selected because the map was full. */
__u64 unselected_children = 0;

/* Linux before 6.1 keeps the ids of a cgroup's ancestors, not pointers to them. */
struct cgroup___ids {
	__u64 ancestor_ids[0];
} __attribute__((preserve_access_index));

/*
 * Return a thread's cgroup, NULL if there is none. subsys: -1: the unified hierarchy, else a v1
 * controller's id.
 */
static __always_inline struct cgroup *task_cgroup_in_hierarchy(struct task_struct *task, int subsys)
{
	struct css_set *set = task->cgroups;
	struct cgroup_subsys_state *css = NULL;

	if (subsys < 0)
		return set->dfl_cgrp;
	bpf_probe_read_kernel(&css, sizeof(css),
			      (char *)set + bpf_core_field_offset(struct css_set, subsys) +
				      subsys * sizeof(css));
	return css ? BPF_CORE_READ(css, cgroup) : NULL;
}

/* Return the cgroup that the records of a thread show; NULL if there is none. */
static __always_inline struct cgroup *task_shown_cgroup(struct task_struct *task)
{
	return task_cgroup_in_hierarchy(task, wanted.shown_subsys);
}

static __always_inline __u64 cgroup_id(struct cgroup *cgroup)
{
	return cgroup ? BPF_CORE_READ(cgroup, kn, id) : 0;
}

static __always_inline __u64 cgroup_ancestor_id(struct cgroup *cgroup, __u32 level)
{
	struct cgroup___ids *old = (void *)cgroup;
	struct cgroup *ancestor = NULL;
	__u64 id = 0;

	if (bpf_core_field_exists(old->ancestor_ids)) {
		bpf_probe_read_kernel(
			&id, sizeof(id),
			(char *)old + bpf_core_field_offset(struct cgroup___ids, ancestor_ids) +
				level * sizeof(id));
		return id;
	}
	bpf_probe_read_kernel(&ancestor, sizeof(ancestor),
			      (char *)cgroup + bpf_core_field_offset(struct cgroup, ancestors) +
				      level * sizeof(ancestor));
	return cgroup_id(ancestor);
}

static __always_inline bool is_in_selected_cgroup(struct task_struct *task)
{
	struct cgroup *cgroup = task_cgroup_in_hierarchy(task, wanted.cgroup_subsys);

	int level = cgroup ? BPF_CORE_READ(cgroup, level) : -1;

	if (wanted.level != (__u32)-1)
		return level >= (int)wanted.level &&
		       cgroup_ancestor_id(cgroup, wanted.level) == wanted.cgroup;
	/*
	 * The level is unknown if skein runs in a cgroup namespace, which hides the upper levels:
	 * try every level.
	 */
	for (int i = 0; i < MAX_LEVELS; i++)
		if (i <= level && cgroup_ancestor_id(cgroup, i) == wanted.cgroup)
			return true;
	return false;
}

/*
 * Return whether a selection contains the pid or tid number of a process or thread that started at
 * actual (start_boottime, ns). A start time that the selection does not know yet becomes actual.
 * A reused number has another start time and is not selected.
 */
static __always_inline bool selection_contains(void *selection, __u32 number, __u64 actual)
{
	__u64 *born = bpf_map_lookup_elem(selection, &number);

	if (!born)
		return false;
	if (!*born)
		*born = actual;
	return *born == actual;
}

static __always_inline bool is_selected_process(struct task_struct *task)
{
	return selection_contains(&selected_pids, task->tgid, task->group_leader->start_boottime);
}

/*
 * Return whether a thread belongs to the recorder's pid namespace, or may belong to it: a process
 * that is being reaped has lost its numbers, and user space, which remembers them, decides.
 */
static __always_inline bool is_in_own_namespace(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);

	return !pid || pid_number_in(pid, &wanted.namespace);
}

/* Return whether all conditions of the selection hold for a thread. */
static __always_inline bool is_selected_thread(struct task_struct *task)
{
	__u32 conditions = wanted.conditions;

	if (conditions & WIRE_IF_PID && !is_selected_process(task))
		return false;
	if (conditions & WIRE_IF_TID &&
	    !selection_contains(&selected_tids, task->pid, task->start_boottime))
		return false;
	if (conditions & WIRE_IF_NAMESPACE && !is_in_own_namespace(task))
		return false;
	return !(conditions & WIRE_IF_CGROUP) || is_in_selected_cgroup(task);
}

/*
 * Select child if it is a new process (not a thread) of a selected process. A failure is counted in
 * unselected_children.
 */
static __always_inline void select_child_process(struct task_struct *parent,
						 struct task_struct *child)
{
	__u32 new_pid = child->tgid;
	__u64 born = child->start_boottime;

	if ((__u32)parent->tgid == new_pid || !is_selected_process(parent))
		return;
	if (bpf_map_update_elem(&selected_pids, &new_pid, &born, BPF_ANY))
		__sync_fetch_and_add(&unselected_children, 1);
}

/* Remove a process that has ended from the selection. */
static __always_inline void unselect_process(struct task_struct *task)
{
	__u32 pid = task->tgid;
	__u64 *born = bpf_map_lookup_elem(&selected_pids, &pid);

	/* The pid may be in use again by the time the old task is freed. */
	if (born && (!*born || *born == task->start_boottime))
		bpf_map_delete_elem(&selected_pids, &pid);
}

#endif
