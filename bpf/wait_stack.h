/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Takes the stacks of waits that sched.bpf.c has chosen (wait.h): of the thread that waited, in the
 * first moment in which it runs again, and of the thread that woke it.
 */
#ifndef SKEIN_BPF_WAIT_STACK_H
#define SKEIN_BPF_WAIT_STACK_H

#include "bpf/ring.h"
#include "bpf/wait.h"

/* Number of CPUs: the entries of sample_scratch from here on are for stacks of waits. */
const volatile __u32 first_wait_scratch = 0;

/* Shared with sched.bpf.c. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the number of possible CPUs, set by user space */
	__type(key, __u32);
	__type(value, struct wire_cpu);
} switch_cpus SEC(".maps");

static __always_inline struct wire_cpu *wait_stack_cpu(__u32 *cpu)
{
	*cpu = bpf_get_smp_processor_id();
	return bpf_map_lookup_elem(&switch_cpus, cpu);
}

/*
 * Maximum time (ns) that one stack counts in the budget. Deep stacks of Python take some 100 us;
 * when it took longer, an interrupt or the host had the CPU meanwhile, which is no reason to take
 * fewer stacks.
 */
#define STACK_COST_MAX 250000

/* Add the time since begin, in which a stack was taken, to the CPU's cost. */
static __always_inline void count_cost(struct wire_cpu *c, __u64 begin)
{
	__u64 cost = bpf_ktime_get_boot_ns() - begin;

	c->waits.spent += cost < STACK_COST_MAX ? cost : STACK_COST_MAX;
}

/*
 * Take the current thread's stack as a record of a kind, with what *wait says. Return 0, or a
 * negative errno if it could not be sent.
 */
static __always_inline long take_stack(struct user_walk *u, enum wire_kind kind, __u32 cpu,
				       __u64 time, const struct wire_wait *wait)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 words = WIRE_WAIT_WORDS;
	long kernel = 0;

	describe_sample(&u->sample, task, kind, cpu, time);
	u->sample.flags |= WIRE_KERNEL_MODE;
	/* a waker that is not selected is named, without what it did */
	if (kind == WIRE_WAKER && wanted.conditions && !is_selected_thread(task))
		u->sample.flags |= WIRE_NO_USER;
	__builtin_memcpy(u->words, wait, sizeof(*wait));
	if (with_kernel_stack)
		kernel = bpf_get_task_stack(task, &u->words[WIRE_WAIT_WORDS],
					    WIRE_MAX_KERNEL * sizeof(__u64), 0);
	kernel = kernel > 0 ? kernel / sizeof(__u64) : 0;
	if (begin_stack(u, task, words + kernel, kernel)) {
		take_entry_registers(&u->walk, task);
		if (!user_walk_begin_native(u, task, entry_mode(task), time))
			bpf_loop(WIRE_MAX_USER + 1, user_walk_loop_step, &u, 0);
	}
	user_walk_end_native(u);
	walk_python_by_loop(u);
	words = u->at;
	if (u->sample.flags & WIRE_SAVED)
		words += user_walk_save(u, task, true);
	return send_stack(u, words);
}

/* Take the stack of the thread that has been switched in, if its wait was chosen. */
static __always_inline int take_wait_stack(void)
{
	__u64 begin, word;
	__u32 cpu, at;
	struct wire_cpu *c = wait_stack_cpu(&cpu);
	struct wire_wait wait = {0};
	struct task_struct *task;
	struct user_walk *u;

	if (!c || !c->waits.request) /* as at most switches */
		return 0;
	task = bpf_get_current_task_btf();
	if (c->waits.requested != (__u32)task->pid)
		return 0;
	at = first_wait_scratch + cpu;
	u = bpf_map_lookup_elem(&sample_scratch, &at);
	if (!u || c->waits.walking)
		return 0; /* counted as missed at the next switch */
	begin = bpf_ktime_get_boot_ns();
	word = c->waits.request;
	c->waits.request = 0;
	c->waits.walking = 1;
	wait.length = word & WAIT_TIME_MASK;
	wait.period = word >> WAIT_PERIOD_SHIFT;
	if (!task_is_kernel_thread(task))
		wait.call = entry_call(task, &wait.argument);
	if (take_stack(u, WIRE_WAIT, cpu, begin, &wait))
		c->waits.ring_full++;
	else
		c->waits.taken++;
	c->waits.walking = 0;
	count_cost(c, begin);
	return 0;
}

/* The end of __schedule(), in the context of the thread that has been switched in. */
SEC("?tp_btf/sched_exit_tp")
int BPF_PROG(wait_ended)
{
	return take_wait_stack();
}

/* The interrupt that sched.bpf.c requests where there is no such tracepoint. */
#if defined(__TARGET_ARCH_x86)
SEC("?tp_btf/irq_work_entry")
#else
SEC("?tp_btf/ipi_entry")
#endif
int BPF_PROG(wait_ended_interrupt)
{
	return take_wait_stack();
}

/* Entered from on_waking() of sched.bpf.c: take the stack of the thread that wakes another one. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(waker, struct task_struct *woken)
{
	struct wire_wait wait = {0};
	struct user_walk *u;
	__u32 cpu, at;
	struct wire_cpu *c = wait_stack_cpu(&cpu);
	__u64 begin = bpf_ktime_get_boot_ns();

	if (!c)
		return 0;
	at = first_wait_scratch + cpu;
	u = bpf_map_lookup_elem(&sample_scratch, &at);
	if (!u || c->waits.walking) {
		c->waits.wakers_missed++;
		return 0;
	}
	c->waits.walking = 1;
	wait.length = c->waits.waker_length;
	wait.other = woken->pid;
	if (take_stack(u, WIRE_WAKER, cpu, c->waits.waker_time, &wait))
		c->waits.wakers_ring_full++;
	else
		c->waits.wakers_taken++;
	c->waits.walking = 0;
	count_cost(c, begin);
	return 0;
}

#endif
