// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * The numbers that threads have in the recorder's pid namespace, for a recorder in a namespace of
 * its own. All other BPF programs send the numbers of the initial namespace.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/event.h"
#include "bpf/namespace.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set by user space before loading. */
const volatile struct wire_namespace own = {};
const volatile bool with_outside = false; /* also send threads outside of the namespace */

__u64 unsent = 0; /* records for which the ring had no room */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20); /* bytes: 20,000 records */
} numbers SEC(".maps");

/* Fill in the numbers of a living thread; return whether user space wants to know it. */
static __always_inline bool describe_number(struct wire_number *n, struct task_struct *task)
{
	n->time = bpf_ktime_get_boot_ns();
	n->kind = WIRE_NUMBER_ALIVE;
	n->pid = task->tgid;
	n->tid = task->pid;
	n->own_pid = pid_number_in(BPF_CORE_READ(task, group_leader, thread_pid), &own);
	n->own_tid = pid_number_in(BPF_CORE_READ(task, thread_pid), &own);
	n->unused = 0;
	BPF_CORE_READ_INTO(&n->comm, task, comm);
	BPF_CORE_READ_INTO(&n->process_comm, task, group_leader, comm);
	return n->own_tid || with_outside;
}

static __always_inline void send_number(const struct wire_number *n)
{
	struct wire_number copy = *n;

	if (bpf_ringbuf_output(&numbers, &copy, sizeof(copy), BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&unsent, 1);
}

/* The child has its numbers, and has not run yet. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(number_born, struct task_struct *parent, struct task_struct *child)
{
	struct wire_number n;

	if (describe_number(&n, child))
		send_number(&n);
	return 0;
}

/* User space learns the names of threads in the namespace by side-band records. */
SEC("?tp_btf/task_rename")
int BPF_PROG(outside_renamed, struct task_struct *task, const char *comm)
{
	struct wire_number n;

	if (!describe_number(&n, task) || n.own_tid)
		return 0;
	bpf_probe_read_kernel_str(n.comm, sizeof(n.comm), comm);
	send_number(&n);
	return 0;
}

/*
 * The kernel has forgotten the thread's numbers in the namespace by now, so this is sent for every
 * thread of the machine.
 */
SEC("tp_btf/sched_process_free")
int BPF_PROG(number_freed, struct task_struct *task)
{
	const struct wire_number n = {
		.time = bpf_ktime_get_boot_ns(),
		.kind = WIRE_NUMBER_FREED,
		.pid = task->tgid,
		.tid = task->pid,
	};

	send_number(&n);
	return 0;
}

/* tid -> start_boottime of threads outside of the namespace that have been sent when they ran */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);
	__type(value, __u64);
} sent_outside SEC(".maps");

static __always_inline void send_outside(struct task_struct *task)
{
	__u32 tid = task->pid;
	__u64 born = task->start_boottime, *sent = bpf_map_lookup_elem(&sent_outside, &tid);
	struct wire_number n;

	if (!tid || (sent && *sent == born))
		return;
	bpf_map_update_elem(&sent_outside, &tid, &born, BPF_ANY);
	if (describe_number(&n, task) && !n.own_tid)
		send_number(&n);
}

/* A list of threads has only those of the lister's namespace; the others are sent as they run. */
SEC("?tp_btf/sched_switch")
int BPF_PROG(outside_runs, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	send_outside(prev);
	send_outside(next);
	return 0;
}

/* List the living threads of the namespace: those born before the hooks were attached. */
SEC("iter/task")
int list_numbers(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task; /* read once: the verifier checks each reading */
	struct wire_number n;

	if (task && describe_number(&n, task))
		bpf_seq_write(ctx->meta->seq, &n, sizeof(n));
	return 0;
}
