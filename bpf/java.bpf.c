// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * The programs that walk stacks in processes with a known JVM, whose frames are among the native
 * ones. The programs of sample.bpf.c have begun the stacks, and enter these by tail calls, as those
 * of probe.bpf.c enter the last one. User space loads them with the first JVM.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/event.h"
#include "bpf/hit_stack.h"
#include "bpf/sample_end.h"
#include "bpf/wait_stack.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A global function, so that the verifier checks it once and not for each state of the loop. */
__noinline int java_walk_step_global(struct user_walk *u)
{
	return u ? user_walk_step(u, true) : 1;
}

static long java_walk_loop_step(__u32 i, void *context)
{
	return java_walk_step_global(*(struct user_walk **)context) ? 1 : 0;
}

SEC("?perf_event")
int sample_java(struct bpf_perf_event_data *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct user_walk *u = bpf_map_lookup_elem(&sample_scratch, &cpu);

	if (!u)
		return 0;
	bpf_loop(WIRE_MAX_USER + 1, java_walk_loop_step, &u, 0);
	user_walk_end_native(u);
	walk_python_by_loop(u);
	return end_sample(ctx, u);
}

static __always_inline int walk_wait_stack(enum wire_kind kind)
{
	__u32 cpu, at;
	struct wire_cpu *c = wait_stack_cpu(&cpu);
	struct user_walk *u;

	at = first_wait_scratch + cpu;
	u = bpf_map_lookup_elem(&sample_scratch, &at);
	if (!c || !u)
		return 0;
	bpf_loop(WIRE_MAX_USER + 1, java_walk_loop_step, &u, 0);
	return end_wait_stack(u, c, kind);
}

SEC("?tp_btf/sched_exit_tp")
int BPF_PROG(wait_ended_java)
{
	return walk_wait_stack(WIRE_WAIT);
}

SEC("?" WAIT_INTERRUPT)
int BPF_PROG(wait_ended_interrupt_java)
{
	return walk_wait_stack(WIRE_WAIT);
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(waker_java)
{
	return walk_wait_stack(WIRE_WAKER);
}

/* Entered from probe.bpf.c: take the stack of a thread that hits a probe, if that is chosen. */
SEC("?uprobe")
int hit_taken(struct pt_regs *ctx)
{
	struct wire_probe_cpu *c;
	struct user_walk *u = begin_hit_stack(&c, ctx);

	if (!u)
		return 0;
	if (u->status == WALK_CALLER)
		bpf_loop(WIRE_MAX_USER + 1, java_walk_loop_step, &u, 0);
	return end_hit_stack(u, c);
}
