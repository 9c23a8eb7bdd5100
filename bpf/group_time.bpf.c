// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * Adds up what the threads of each control group do: run, wait for a CPU, or are blocked and by
 * what; without a record of each switch. A state counts when it ends. The hooks of one thread
 * follow each other (the kernel holds the lock of its run queue), so its slot has one writer.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/event.h"
#include "bpf/group_time.h"
#include "bpf/task_wait.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set by user space before loading. */
const volatile bool group_switch_passes_state = true; /* sched_switch does: since Linux 5.18 */
const volatile int group_subsys = -1; /* -1: the unified hierarchy, else a v1 controller's id */
const volatile __u32 group_shards = 1; /* a power of two */
const volatile bool group_shards_shared = false; /* there are more CPUs than shards */
const volatile __u8 group_column_of_wait[GROUP_WAIT_KINDS * GROUP_CALLS] = {0};

/* When the hooks were attached, ns: what was before is not known. Set by user space. */
__u64 group_attached = 0;

/* One large value each, so that a program looks it up once. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct group_slots);
} group_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct group_rows);
} group_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the real number is set by user space */
	__type(key, __u32);
	__type(value, struct group_shard);
} group_shards_of_cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the real number is set by user space */
	__type(key, __u32);
	__type(value, struct group_cpu);
} group_cpus SEC(".maps");

/* What a hook works with. */
struct group_hook {
	struct group_slots *slots;
	struct group_rows *rows;
	struct group_shard *shard;
	__u64 now;
};

static __always_inline bool begin_group_hook(struct group_hook *h, __u32 cpu)
{
	__u32 zero = 0, shard = cpu & (group_shards - 1);

	h->slots = bpf_map_lookup_elem(&group_slots, &zero);
	h->rows = bpf_map_lookup_elem(&group_rows, &zero);
	h->shard = bpf_map_lookup_elem(&group_shards_of_cpus, &shard);
	if (!h->slots || !h->rows || !h->shard)
		return false;
	/* not CLOCK_BOOTTIME: a thread neither runs nor waits while the machine is suspended */
	h->now = bpf_ktime_get_ns();
	return true;
}

static __always_inline void add_group_time(const struct group_hook *h, __u32 row, __u32 column,
					   __u64 ns)
{
	__u32 at = row * GROUP_COLUMN_ROOM + column;
	struct group_sum *sum;

	barrier_var(at); /* the compiler knows that it is in range, the verifier does not */
	if (at >= GROUP_ROWS * GROUP_COLUMN_ROOM)
		return;
	sum = &h->shard->sums[at];
	if (group_shards_shared) {
		__sync_fetch_and_add(&sum->ns, ns);
		__sync_fetch_and_add(&sum->count, 1);
	} else {
		sum->ns += ns;
		sum->count++;
	}
}

/* Return the id of a thread's control group; 0 if there is none. */
static __always_inline __u64 group_id_of(struct task_struct *task)
{
	struct css_set *set = task->cgroups;
	struct cgroup_subsys_state *css;

	if (group_subsys < 0)
		return set->dfl_cgrp->kn->id;
	css = *(struct cgroup_subsys_state **)((char *)set +
					       bpf_core_field_offset(struct css_set, subsys) +
					       group_subsys * sizeof(css));
	return css->cgroup->kn->id;
}

/*
 * Find the row of a group that is not at its first place, or give it one. Not static, so that the
 * verifier looks at it once, and not again at each call.
 */
__noinline __u32 search_group_row(__u64 id, __u32 first)
{
	__u32 zero = 0;
	struct group_rows *rows = bpf_map_lookup_elem(&group_rows, &zero);

	if (!rows || !id)
		return GROUP_ROW_OTHER;
	for (__u32 i = 0; i < 16; i++) {
		__u32 row = (first + i) & (GROUP_ROWS - 1);
		__u64 *have = &rows->ids[row];

		if (row != GROUP_ROW_OTHER &&
		    (*have == id ||
		     (!*have && (!__sync_val_compare_and_swap(have, 0, id) || *have == id))))
			return row;
	}
	__sync_fetch_and_add(&rows->refused, 1);
	return GROUP_ROW_OTHER;
}

static __always_inline __u32 group_row_of(const struct group_hook *h, struct task_struct *task)
{
	__u64 id = group_id_of(task);
	/* the golden ratio: spreads ids, which are numbers of inodes */
	__u32 first = id * 0x9E3779B97F4A7C15ULL >> (64 - GROUP_ROWS_BITS);

	if (h->rows->ids[first & (GROUP_ROWS - 1)] == id && first != GROUP_ROW_OTHER)
		return first;
	return search_group_row(id, first) & (GROUP_ROWS - 1);
}

static __always_inline struct group_slot *find_group_slot(const struct group_hook *h, __u32 tid)
{
	struct group_slot *set = h->slots->ways[tid & (GROUP_SLOT_SETS - 1)];

	for (int i = 0; i < GROUP_SLOT_WAYS; i++)
		if (set[i].tid == tid)
			return &set[i];
	return NULL;
}

static __always_inline struct group_slot *claim_group_slot(const struct group_hook *h, __u32 tid)
{
	struct group_slot *set = h->slots->ways[tid & (GROUP_SLOT_SETS - 1)];

	for (int i = 0; i < GROUP_SLOT_WAYS; i++)
		if (!set[i].tid && !__sync_val_compare_and_swap(&set[i].tid, 0, tid))
			return &set[i];
	__sync_fetch_and_add(&h->rows->displaced, 1);
	return NULL;
}

static __always_inline void set_group_slot(const struct group_hook *h, struct group_slot *slot,
					   __u32 row, __u32 column)
{
	slot->row = row;
	slot->turn = h->rows->turns[row & (GROUP_ROWS - 1)];
	slot->column = column;
	slot->since = h->now;
}

/* The row of a slot may have another group by now: such time is that of no group. */
static __always_inline __u32 row_of_group_slot(const struct group_hook *h,
					       const struct group_slot *slot)
{
	__u32 row = slot->row & (GROUP_ROWS - 1);

	return h->rows->turns[row] == slot->turn ? row : GROUP_ROW_OTHER;
}

/* Count that a thread's state before was not seen; its time, if that is known. */
static __always_inline void add_unknown_group_time(const struct group_hook *h, __u32 row,
						   struct task_struct *task)
{
	bool older = task->start_boottime < group_attached;

	/* a thread that found no slot before may have been seen */
	add_group_time(h, row, GROUP_UNKNOWN,
		       older && !h->rows->displaced ? h->now - group_attached : 0);
}

static __always_inline enum group_column column_of_wait(struct task_struct *task, bool disk)
{
	__u64 flags = task_wait_flags(task);
	__u32 kind = disk			? GROUP_WAIT_DISK
		     : flags & WIRE_PREV_IOWAIT ? GROUP_WAIT_IO
						: GROUP_WAIT_SLEEPING;
	__u32 call = flags & (WIRE_PREV_KTHREAD | WIRE_PREV_COMPAT) ? GROUP_CALL_FOREIGN
								    : task_syscall(task);
	__u32 at = kind * GROUP_CALLS + call;

	barrier_var(at);
	return at < GROUP_WAIT_KINDS * GROUP_CALLS ? group_column_of_wait[at] : GROUP_OTHER;
}

/* Return what a thread does that leaves a CPU in that state. */
static __always_inline enum group_column column_after_run(struct task_struct *task,
							  enum wire_state state)
{
	if (is_ready_to_run(state))
		return task_is_throttled(task) ? GROUP_THROTTLED : GROUP_PREEMPTED;
	if (state == WIRE_SLEEPING || state == WIRE_DISK)
		return column_of_wait(task, state == WIRE_DISK);
	return state == WIRE_PARKED   ? GROUP_PARKED
	       : state == WIRE_UNUSED ? GROUP_UNUSED
				      : GROUP_STOPPED;
}

static __always_inline void group_thread_leaves(const struct group_hook *h,
						const struct group_cpu *c, struct task_struct *task,
						enum wire_state state)
{
	__u32 tid = task->pid, row = group_row_of(h, task);
	struct group_slot *slot = find_group_slot(h, tid);

	if (c->since && c->tid == tid)
		add_group_time(h, row, GROUP_RUNS, h->now - c->since);
	else if (slot) /* some kernels do not report each switch: it was not seen to come */
		add_group_time(h, row, GROUP_UNKNOWN, h->now - slot->since);
	else
		add_unknown_group_time(h, row, task);
	if (state == WIRE_DEAD) {
		if (slot)
			slot->tid = 0;
		return;
	}
	if (!slot)
		slot = claim_group_slot(h, tid);
	if (slot)
		set_group_slot(h, slot, row, column_after_run(task, state));
}

/* Count a run of a hook, and for some the time that it took. */
static __always_inline void count_group_hook(const struct group_hook *h, struct group_cpu *c)
{
	if (++c->hooks % GROUP_HOOKS_TIMED)
		return;
	c->spent += GROUP_HOOKS_TIMED * (bpf_ktime_get_ns() - h->now);
}

/* Return the row of a thread that gets a CPU. */
static __always_inline __u32 group_thread_comes(const struct group_hook *h,
						struct task_struct *task)
{
	struct group_slot *slot = find_group_slot(h, task->pid);
	__u32 row, column;

	if (!slot) {
		row = group_row_of(h, task);
		add_unknown_group_time(h, row, task);
		slot = claim_group_slot(h, task->pid);
		if (slot)
			set_group_slot(h, slot, row, GROUP_RUNS);
		return row;
	}
	row = row_of_group_slot(h, slot);
	column = slot->column;
	/* Without its wake-up it is not known how long it was blocked. */
	if (column == GROUP_RUNS || column >= GROUP_LOCK)
		column = GROUP_UNKNOWN;
	add_group_time(h, row, column, h->now - slot->since);
	slot->column = GROUP_RUNS;
	slot->since = h->now;
	return row;
}

/*
 * Programs are attached in the order of this file: those that see threads come first, so that what
 * the last one sees is known.
 */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(group_on_new, struct task_struct *task)
{
	struct group_slot *slot;
	struct group_hook h;

	if (!begin_group_hook(&h, bpf_get_smp_processor_id()))
		return 0;
	/* A slot of that number is of a thread that ended before. */
	slot = find_group_slot(&h, task->pid);
	if (!slot)
		slot = claim_group_slot(&h, task->pid);
	if (slot)
		set_group_slot(&h, slot, group_row_of(&h, task), GROUP_WOKEN);
	return 0;
}

/* The kernel passes it when the thread is in a run queue, and so after it has left its CPU. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(group_on_wakeup, struct task_struct *task)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct group_cpu *c = bpf_map_lookup_elem(&group_cpus, &cpu);
	struct group_slot *slot;
	struct group_hook h;

	if (!c || !begin_group_hook(&h, cpu))
		return 0;
	slot = find_group_slot(&h, task->pid);
	if (slot && slot->column >= GROUP_LOCK) {
		add_group_time(&h, row_of_group_slot(&h, slot), slot->column, h.now - slot->since);
		slot->column = GROUP_WOKEN;
		slot->since = h.now;
	}
	count_group_hook(&h, c);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(group_on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	unsigned int state = group_switch_passes_state ? (unsigned int)ctx[3] : prev->__state;
	__u32 cpu = bpf_get_smp_processor_id(), row;
	struct group_cpu *c = bpf_map_lookup_elem(&group_cpus, &cpu);
	struct group_hook h;
	__u64 runs = 0;

	if (!c || !begin_group_hook(&h, cpu))
		return 0;
	if (prev->pid)
		group_thread_leaves(&h, c, prev,
				    preempt ? WIRE_PREEMPTED : decode_task_state(state));
	if (next->pid) {
		row = group_thread_comes(&h, next);
		runs = (h.now & ~(GROUP_ROWS - 1ULL)) | row;
	}
	c->tid = next->pid;
	c->since = h.now;
	*(volatile __u64 *)&c->runs = runs;
	count_group_hook(&h, c);
	return 0;
}
