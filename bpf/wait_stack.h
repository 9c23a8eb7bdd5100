/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Takes the stacks of waits that sched.bpf.c has chosen (wait.h): of the thread that waited, in the
 * first moment in which it runs again, and of the thread that woke it.
 */
#ifndef SKEIN_BPF_WAIT_STACK_H
#define SKEIN_BPF_WAIT_STACK_H

#include "bpf/ring.h"
#include "bpf/wait.h"

/* Where the interrupt that sched.bpf.c requests is seen. */
#if defined(__TARGET_ARCH_x86)
#define WAIT_INTERRUPT "tp_btf/irq_work_entry"
#else
#define WAIT_INTERRUPT "tp_btf/ipi_entry"
#endif

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
 * Begin the current thread's stack as a record of a kind, with what *wait says. The caller walks
 * the user stack if u->status is then WALK_CALLER.
 */
static __always_inline void begin_stack_of_wait(struct user_walk *u, enum wire_kind kind, __u32 cpu,
						__u64 time, const struct wire_wait *wait)
{
	struct task_struct *task = bpf_get_current_task_btf();
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
	if (!begin_stack(u, task, WIRE_WAIT_WORDS + kernel, kernel))
		return;
	take_entry_registers(&u->walk, task);
	if (!user_walk_begin_native(u, task, entry_mode(task), time))
		u->status = WALK_CALLER;
}

/* Return the record under construction on a CPU; NULL: a stack is being taken already. */
static __always_inline struct user_walk *wait_stack_of_cpu(const struct wire_cpu *c, __u32 cpu)
{
	__u32 at = first_wait_scratch + cpu;

	return c->waits.walking ? NULL : bpf_map_lookup_elem(&sample_scratch, &at);
}

/*
 * Begin the stack of the thread that has been switched in, if its wait was chosen; NULL: it was
 * not. *out: the CPU.
 */
static __always_inline struct user_walk *begin_wait_stack(struct wire_cpu **out)
{
	__u64 word;
	__u32 cpu;
	struct wire_cpu *c = wait_stack_cpu(&cpu);
	struct wire_wait wait = {0};
	struct task_struct *task;
	struct user_walk *u;

	if (!c || !c->waits.request) /* as at most switches */
		return NULL;
	task = bpf_get_current_task_btf();
	if (c->waits.requested != (__u32)task->pid)
		return NULL;
	u = wait_stack_of_cpu(c, cpu);
	if (!u)
		return NULL; /* counted as missed at the next switch */
	*out = c;
	u->begun = bpf_ktime_get_boot_ns();
	word = c->waits.request;
	c->waits.request = 0;
	c->waits.walking = 1;
	wait.length = word & WAIT_TIME_MASK;
	wait.period = word >> WAIT_PERIOD_SHIFT;
	if (!task_is_kernel_thread(task))
		wait.call = entry_call(task, &wait.argument);
	begin_stack_of_wait(u, WIRE_WAIT, cpu, u->begun, &wait);
	return u;
}

/* Begin the stack of a thread that wakes another one; NULL: none can be taken. *out: the CPU. */
static __always_inline struct user_walk *begin_waker_stack(struct task_struct *woken,
							   struct wire_cpu **out)
{
	struct wire_wait wait = {0};
	struct user_walk *u;
	__u32 cpu;
	struct wire_cpu *c = wait_stack_cpu(&cpu);
	__u64 begin = bpf_ktime_get_boot_ns();

	if (!c)
		return NULL;
	u = wait_stack_of_cpu(c, cpu);
	if (!u) {
		c->waits.wakers_missed++;
		return NULL;
	}
	*out = c;
	u->begun = begin;
	c->waits.walking = 1;
	wait.length = c->waits.waker_length;
	wait.other = woken->pid;
	begin_stack_of_wait(u, WIRE_WAKER, cpu, c->waits.waker_time, &wait);
	return u;
}

/* End a stack of a kind that one of these has begun. */
static __always_inline int end_wait_stack(struct user_walk *u, struct wire_cpu *c,
					  enum wire_kind kind)
{
	bool failed = end_and_send_stack(u) != 0;

	if (kind == WIRE_WAKER) {
		c->waits.wakers_ring_full += failed;
		c->waits.wakers_taken += !failed;
	} else {
		c->waits.ring_full += failed;
		c->waits.taken += !failed;
	}
	c->waits.walking = 0;
	count_cost(c, u->begun);
	return 0;
}

#endif
