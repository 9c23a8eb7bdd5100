/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What is going on where a thread is woken: itself a thread, or an interrupt
 * that has nothing to do with the thread it hit. Small hooks at the begin and
 * end of what interrupts tell; to read the preemption count at every wake-up
 * would cost as much as all the rest of the hook.
 */
#ifndef SKEIN_BPF_INTERRUPT_H
#define SKEIN_BPF_INTERRUPT_H

/* include/linux/interrupt.h: a list that user space knows, too */
enum softirq { SOFTIRQ_HI, SOFTIRQ_TIMER, SOFTIRQ_NET_TX, SOFTIRQ_NET_RX, SOFTIRQ_BLOCK,
	       SOFTIRQ_IRQ_POLL, SOFTIRQ_TASKLET, SOFTIRQ_SCHED, SOFTIRQ_HRTIMER, SOFTIRQ_RCU };

struct task_struct___wait {
	int on_cpu;
	unsigned int in_iowait : 1;
} __attribute__((preserve_access_index));

static __always_inline bool waits_for_io(struct task_struct *task)
{
	struct task_struct___wait *t = (void *)task;

	return BPF_CORE_READ_BITFIELD(t, in_iowait);
}

static __always_inline enum wire_context softirq_context(const struct wire_cpu *c,
							 struct task_struct *woken)
{
	enum softirq number = (enum softirq)(c->softirq - 1);

	/* the sender's own packet on its way through the loopback, say */
	if (c->by_task)
		return WIRE_BY_TASK;
	if (number == SOFTIRQ_NET_RX || number == SOFTIRQ_NET_TX)
		return WIRE_BY_NETWORK;
	if (number == SOFTIRQ_TIMER || number == SOFTIRQ_HRTIMER)
		return WIRE_BY_TIMER;
	if (number == SOFTIRQ_BLOCK || number == SOFTIRQ_IRQ_POLL || waits_for_io(woken))
		return WIRE_BY_BLOCK;
	return WIRE_BY_INTERRUPT;
}

/* The system call that a thread is in + 1; 0 if in none, as after a page fault. */
static __always_inline __u64 call_of(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
#if defined(__TARGET_ARCH_x86)
	__s64 number = regs->orig_ax;
#else
	__s64 number = regs->syscallno;
#endif

	return number >= 0 && number < 1023 ? number + 1 : 0;
}

/*
 * An interrupt's last act, when it does not count as one any more, may be to
 * wake a kernel thread that does the rest: the thread it hit has asked for nothing.
 */
static __always_inline bool left_by_interrupt(struct task_struct *task, struct task_struct *woken)
{
	return is_kernel_thread(woken) && !is_kernel_thread(task) && !call_of(task);
}

static __always_inline enum wire_context waking_context(struct wire_cpu *c,
							struct task_struct *task,
							struct task_struct *woken)
{
	if (c->in_timer)
		return WIRE_BY_TIMER;
	if (c->in_device)
		return waits_for_io(woken) ? WIRE_BY_BLOCK : WIRE_BY_INTERRUPT;
	if (c->in_ipi)
		return waits_for_io(woken) ? WIRE_BY_BLOCK : WIRE_BY_IPI;
	if (c->softirq)
		return softirq_context(c, woken);
	return left_by_interrupt(task, woken) ? WIRE_BY_INTERRUPT : WIRE_BY_TASK;
}

/* Raised by a thread itself, or while what it has raised is being served. */
static __always_inline void softirq_raised(struct wire_cpu *c, unsigned int number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u16 bit = 1 << (number & 15);
	bool by_task = !c->in_timer && !c->in_device && !c->in_ipi &&
		       (!c->softirq || c->by_task);

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
	c->by_task = (c->raised & bit) &&
		     c->raiser == (__u32)bpf_get_current_task_btf()->pid;
	c->raised &= ~bit;
}

static __always_inline void softirq_over(struct wire_cpu *c)
{
	c->softirq = 0;
	c->by_task = 0;
}

#endif
