/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The context of a wake-up: the current thread wakes another one, or an interrupt does that is
 * unrelated to the current thread. Small hooks at the beginning and end of interrupts keep the
 * state of the CPU in struct wire_cpu; reading the kernel's preemption count at every wake-up would
 * cost as much as the rest of the wake-up hook.
 */
#ifndef SKEIN_BPF_INTERRUPT_H
#define SKEIN_BPF_INTERRUPT_H

#include "bpf/task_wait.h"

/* include/linux/interrupt.h; the kernel keeps these numbers, since tools rely on them */
enum softirq {
	SOFTIRQ_HI,
	SOFTIRQ_TIMER,
	SOFTIRQ_NET_TX,
	SOFTIRQ_NET_RX,
	SOFTIRQ_BLOCK,
	SOFTIRQ_IRQ_POLL,
	SOFTIRQ_TASKLET,
	SOFTIRQ_SCHED,
	SOFTIRQ_HRTIMER,
	SOFTIRQ_RCU
};

static __always_inline enum wire_context softirq_context(const struct wire_cpu *c,
							 struct task_struct *woken)
{
	enum softirq number = (enum softirq)(c->softirq - 1);

	/* The thread raised the softirq, for example by sending a packet to the loopback device. */
	if (c->by_task)
		return WIRE_BY_TASK;
	if (number == SOFTIRQ_NET_RX || number == SOFTIRQ_NET_TX)
		return WIRE_BY_NETWORK;
	if (number == SOFTIRQ_TIMER || number == SOFTIRQ_HRTIMER)
		return WIRE_BY_TIMER;
	if (number == SOFTIRQ_BLOCK || number == SOFTIRQ_IRQ_POLL || task_waits_for_io(woken))
		return WIRE_BY_BLOCK;
	return WIRE_BY_INTERRUPT;
}

/*
 * Guess whether an interrupt wakes the kernel thread woken as its last act, when in_timer,
 * in_device and in_ipi are already cleared: a user thread outside of a system call rarely wakes a
 * kernel thread itself (in a page fault).
 */
static __always_inline bool is_woken_by_interrupt(struct task_struct *task,
						  struct task_struct *woken)
{
	return task_is_kernel_thread(woken) && !task_is_kernel_thread(task) && !task_syscall(task);
}

/* Return the context in which task wakes woken on this CPU; task runs, or was interrupted. */
static __always_inline enum wire_context
waking_context(struct wire_cpu *c, struct task_struct *task, struct task_struct *woken)
{
	if (c->in_timer)
		return WIRE_BY_TIMER;
	if (c->in_device)
		return task_waits_for_io(woken) ? WIRE_BY_BLOCK : WIRE_BY_INTERRUPT;
	if (c->in_ipi)
		return task_waits_for_io(woken) ? WIRE_BY_BLOCK : WIRE_BY_IPI;
	if (c->softirq)
		return softirq_context(c, woken);
	return is_woken_by_interrupt(task, woken) ? WIRE_BY_INTERRUPT : WIRE_BY_TASK;
}

/*
 * Record whether the current thread is the raiser of a softirq: the thread raises the softirq
 * outside of interrupts, or in a softirq that the thread itself raised.
 */
static __always_inline void softirq_raised(struct wire_cpu *c, unsigned int number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u16 bit = 1 << (number & 15);
	bool by_task = !c->in_timer && !c->in_device && !c->in_ipi && (!c->softirq || c->by_task);

	if (c->raiser != (__u32)task->pid) {
		c->raiser = task->pid;
		c->raised = 0;
	}
	if (by_task)
		c->raised |= bit;
	else
		c->raised &= ~bit;
}

static __always_inline void softirq_begun(struct wire_cpu *c, unsigned int number)
{
	__u16 bit = 1 << (number & 15);

	c->softirq = number + 1;
	c->by_task = (c->raised & bit) && c->raiser == (__u32)bpf_get_current_task_btf()->pid;
	c->raised &= ~bit;
}

static __always_inline void softirq_ended(struct wire_cpu *c)
{
	c->softirq = 0;
	c->by_task = 0;
}

#endif
