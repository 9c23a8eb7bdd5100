// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/* Who is on the CPU, with which stack: one program behind a perf event of every CPU. */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "account.h"
#include "event.h"
#include "select.h"
#include "unwind/frame_pointer.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set by user space before loading. */
const volatile __u32 cpus_per_ring = 1;
const volatile __u32 wake_bytes = 0; /* a ring this full wakes the consumer */
const volatile bool with_kernel_stack = true;
const volatile bool with_user_stack = true;
const volatile bool with_idle = false;

struct sample_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* the real size is set by user space */
};

/* Several rings, so that CPUs do not fight for one lock. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct sample_ring);
} rings SEC(".maps");

/* A sample under construction: too large for the stack of a BPF program. */
struct scratch {
	struct wire_sample sample;
	__u64 frames[2 * (WIRE_MAX_FRAMES + 1)];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} sample_scratch SEC(".maps");

/* What the process calls itself; 0 if it is being reaped. */
static __always_inline __u32 inner_pid(struct task_struct *leader)
{
	/* read as a number: Linux 6.1 refuses to add a level to a pointer that it knows */
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

static __always_inline void describe(struct wire_sample *s, struct task_struct *task, __u32 cpu,
				     __u64 now)
{
	s->time = now;
	s->born = task->group_leader->start_boottime;
	s->cgroup = cgroup_id(task_cgroup(task));
	s->pid = task->tgid;
	s->tid = task->pid;
	s->ns_pid = inner_pid(task->group_leader);
	s->cpu = cpu;
	s->kind = WIRE_SAMPLE;
	s->flags = 0;
	s->event = 0;
}

/* The stack of the interrupted thread, kernel part first. Returns the number of words. */
static __always_inline __u32 take_stack(struct bpf_perf_event_data *ctx, struct scratch *scratch,
					struct task_struct *task)
{
	struct wire_sample *s = &scratch->sample;
	__u32 kernel = 0, user = 0;

	if ((__s64)PT_REGS_IP(&ctx->regs) < 0)
		s->flags |= WIRE_KERNEL_MODE;
	if (with_kernel_stack && (s->flags & WIRE_KERNEL_MODE))
		kernel = walk_kernel(ctx, scratch->frames);
	s->user_end = 0;
	if (task->flags & PF_KTHREAD)
		s->flags |= WIRE_KTHREAD;
	else if (!task->mm)
		s->flags |= WIRE_NO_MM;
	else if (!with_user_stack)
		s->flags |= WIRE_NO_USER;
	else
		user = walk_frame_pointers(ctx, &scratch->frames[kernel & WIRE_MAX_FRAMES],
					   &s->user_end);
	s->kernel_frames = kernel;
	s->user_frames = user;
	return kernel + user;
}

/*
 * Waking the consumer for every sample would cost more than the sample. It is
 * woken when a ring fills up, and looks by itself several times a second.
 */
static __always_inline __u64 wake_flag(void *ring)
{
	if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= wake_bytes)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

static __always_inline void send(struct scratch *scratch, __u32 words, struct wire_account *a)
{
	__u32 index = scratch->sample.cpu / cpus_per_ring;
	void *ring = bpf_map_lookup_elem(&rings, &index);
	__u64 size = sizeof(struct wire_sample) + words * sizeof(__u64);

	if (size > sizeof(*scratch))
		size = sizeof(*scratch);
	if (ring && !bpf_ringbuf_output(ring, scratch, size, wake_flag(ring)))
		a->written++;
	else
		a->ring_full++;
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now = bpf_ktime_get_boot_ns();
	__u32 zero = 0, cpu = bpf_get_smp_processor_id();
	struct wire_account *a = bpf_map_lookup_elem(&accounts, &cpu);
	struct scratch *scratch = bpf_map_lookup_elem(&sample_scratch, &zero);

	if (!a || !scratch)
		return 0;
	if (task->pid == 0 && !with_idle) {
		account_idle_sample(a, now);
		return 0;
	}
	account_sample(a, now);
	if (!selected(task)) {
		a->filtered++;
		return 0;
	}
	describe(&scratch->sample, task, cpu, now);
	send(scratch, take_stack(ctx, scratch, task), a);
	return 0;
}

/* state is PWR_EVENT_EXIT, which is -1, when the CPU leaves an idle state. */
SEC("?tp_btf/cpu_idle")
int BPF_PROG(idle, unsigned int state, unsigned int cpu_id)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct wire_account *a = bpf_map_lookup_elem(&accounts, &cpu);
	__u64 now = bpf_ktime_get_boot_ns();

	if (!a)
		return 0;
	if (state == (__u32)-1)
		account_idle_end(a, now);
	else
		account_idle_begin(a, now);
	return 0;
}

/* The children of a selected process are selected from their first instruction. */
SEC("?tp_btf/sched_process_fork")
int BPF_PROG(follow_fork, struct task_struct *parent, struct task_struct *child)
{
	select_child(parent, child);
	return 0;
}

/* A pid that is used again is another process. */
SEC("?tp_btf/sched_process_free")
int BPF_PROG(forget_process, struct task_struct *task)
{
	if (task->pid == task->tgid)
		unselect(task);
	return 0;
}
