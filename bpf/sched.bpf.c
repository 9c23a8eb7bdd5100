// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/* Recording of context switches and wake-ups: 16 bytes for each. */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/event.h"
#include "bpf/interrupt.h"
#include "bpf/runtime_lock.h"
#include "bpf/select.h"
#include "bpf/task_wait.h"
#include "bpf/wait.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set by user space before loading. */
const volatile __u32 slots = 1; /* number of records in each CPU's array; a power of two */
const volatile bool switch_passes_state =
	true; /* sched_switch passes the state: since Linux 5.18 */

/* Stacks of waits are taken (wait.h). */
const volatile bool with_waits = false;
/* Stacks of wakers are taken, too. */
const volatile bool with_wakers = true;
/* No tracepoint at the end of a switch: interrupt the thread that has been switched in. */
const volatile bool with_interrupts = false;

/* The period with which waits are chosen, and its number (WIRE_PERIOD_BITS); set by user space. */
__u64 wait_period = 0;

/* The arrays of all CPUs, one after the other; user space reads them in place. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the real number is set by user space */
	__type(key, __u32);
	__type(value, struct wire_switch);
} switches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_cpu);
} switch_cpus SEC(".maps");

struct wait_slots {
	__u64 words[1 << WAIT_SLOT_BITS]; /* by the low bits of a thread's number */
};

/* One large value, so that a program looks it up once and a thread's slot is a memory access. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wait_slots);
} wait_slots SEC(".maps");

struct interrupt_ring_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* the real size is set by user space */
};

/* One ring per CPU, through which the CPU interrupts itself; its records are all discarded. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct interrupt_ring_map);
} interrupt_rings SEC(".maps");

/* User space enters waker() of waits.bpf.c here. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} waker_program SEC(".maps");

/*
 * Write a record of the time now, ns. The record becomes visible to user space when c->written
 * counts it.
 */
static __always_inline void write_switch_record(struct wire_cpu *c, __u32 cpu, __u64 now,
						__u64 head, __u64 body)
{
	__u64 number = c->written;
	__u32 at = cpu * slots + (number & (slots - 1));
	struct wire_switch *s = bpf_map_lookup_elem(&switches, &at);

	if (!s)
		return;
	s->head = head | (now & ((1ULL << WIRE_TIME_BITS) - 1));
	s->body = body;
#if defined(__TARGET_ARCH_x86)
	barrier(); /* keeps the order of the stores */
	*(volatile __u64 *)&c->written = number + 1;
#else
	__sync_fetch_and_add(&c->written, 1);
#endif
}

static __always_inline __u64 switch_record_head(enum wire_switch_kind kind, __u64 how, __u64 detail)
{
	return (__u64)kind << WIRE_TIME_BITS | how << (WIRE_TIME_BITS + 4) |
	       detail << (WIRE_TIME_BITS + 8);
}

static __always_inline __u64 switch_record_body(__u32 first, __u32 second, __u64 number)
{
	return first | (__u64)second << WIRE_TID_BITS | number << 2 * WIRE_TID_BITS;
}

static __always_inline struct wire_cpu *current_wire_cpu(__u32 *cpu)
{
	*cpu = bpf_get_smp_processor_id();
	return bpf_map_lookup_elem(&switch_cpus, cpu);
}

static __always_inline bool all_selected(void)
{
	return !wanted.conditions;
}

static __always_inline struct wait_slots *find_wait_slots(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&wait_slots, &zero);
}

static __always_inline __u64 *wait_slot(struct wait_slots *slots, __u32 tid)
{
	return &slots->words[tid & ((1U << WAIT_SLOT_BITS) - 1)];
}

/*
 * Return a random number of 32 bits: the upper half of a linear congruential generator (Knuth's
 * MMIX), which needs one multiplication, and none before its number can be used.
 */
static __always_inline __u32 draw_random(struct wire_cpu *c)
{
	__u64 x = c->waits.random;

	c->waits.random = x * 6364136223846793005ULL + 1442695040888963407ULL;
	return x >> 32;
}

/* Write the slot of a thread. A stack that was chosen for another thread is then not taken. */
static __always_inline void write_wait_slot(struct wire_cpu *c, __u64 *slot,
					    enum wait_slot_state state, __u32 tid, __u64 number)
{
	if (wait_slot_state(*slot) == WAIT_CHOSEN && wait_slot_is_of(*slot, tid)) {
		/* the switch by which the thread came was not reported */
		c->waits.asked++;
		c->waits.missed++;
	} else if (wait_slot_state(*slot) == WAIT_CHOSEN) {
		c->waits.displaced++;
	}
	*slot = wait_slot_word(state, tid, number);
}

/* Have the CPU interrupt itself as soon as interrupts are on again, which is after the switch. */
static __always_inline void interrupt_this_cpu(__u32 cpu)
{
	void *ring = bpf_map_lookup_elem(&interrupt_rings, &cpu), *record;

	if (!ring)
		return;
	record = bpf_ringbuf_reserve(ring, sizeof(__u64), 0);
	if (record)
		bpf_ringbuf_discard(record, BPF_RB_FORCE_WAKEUP);
}

/* If a stack is to be taken of the thread that is switched in, request it. */
static __always_inline void request_wait_stack(struct wire_cpu *c, __u32 cpu, __u64 *slot,
					       __u32 tid)
{
	__u64 word = *slot;

	if (c->waits.request) { /* the hook after the last switch did not run */
		c->waits.missed++;
		c->waits.request = 0;
	}
	if (wait_slot_state(word) <= WAIT_RUNS || !wait_slot_is_of(word, tid))
		return;
	*slot = wait_slot_word(WAIT_RUNS, tid, 0);
	if (wait_slot_state(word) != WAIT_CHOSEN)
		return;
	c->waits.asked++;
	c->waits.request = word;
	c->waits.requested = tid;
	if (with_interrupts)
		interrupt_this_cpu(cpu);
}

/*
 * Choose whether a stack is taken of the wait that ends. The probability is length / T, but 1 if it
 * is not known when the wait began. Return the length, 0 if it is not known, or -1 if no stack is
 * taken.
 */
static __always_inline __s64 choose_wait(struct wire_cpu *c, struct task_struct *task, __u64 now)
{
	__u64 period = *(volatile __u64 *)&wait_period, most = period >> WIRE_PERIOD_BITS;
	struct wait_slots *slots = find_wait_slots();
	__u64 *slot, word, length = 0;

	if (!slots)
		return -1;
	slot = wait_slot(slots, task->pid);
	word = *slot;
	if (wait_slot_is_of(word, task->pid) && wait_slot_state(word) != WAIT_NEVER_SEEN) {
		if (wait_slot_state(word) != WAIT_LEFT)
			return -1; /* it has not left the CPU, or is woken twice */
		length = (now - word) & WAIT_TIME_MASK;
		if (length < most && ((draw_random(c) * most) >> 32) >= length) {
			*slot = wait_slot_word(WAIT_RUNS, task->pid, 0);
			return -1;
		}
	} else {
		enum wire_state state = decode_task_state(task->__state);

		if (state != WIRE_SLEEPING && state != WIRE_DISK)
			return -1;
		if (wait_slot_state(word) == WAIT_CHOSEN)
			c->waits.displaced++;
	}
	c->waits.chosen++;
	*slot = wait_slot_word(WAIT_CHOSEN, task->pid, length) |
		(period & ((1ULL << WIRE_PERIOD_BITS) - 1)) << WAIT_PERIOD_SHIFT;
	return length;
}

/*
 * Count a run of a hook that began at a time (ns), and for some the time that it took. Call this at
 * the end, but before a stack is taken: that is timed by itself.
 */
static __always_inline void count_switch_hook(struct wire_cpu *c, __u64 began)
{
	if (!(++c->hooks % WIRE_SWITCH_HOOKS_TIMED))
		c->spent += WIRE_SWITCH_HOOKS_TIMED * (bpf_ktime_get_boot_ns() - began);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	/* Prefer the state that the tracepoint passes; prev->__state may have changed since. */
	unsigned int prev_state = switch_passes_state ? (unsigned int)ctx[3] : prev->__state;
	enum wire_state state = preempt ? WIRE_PREEMPTED : decode_task_state(prev_state);
	__u64 call = 0, flags = 0, class = 0, now;
	struct wait_slots *slots;
	struct wire_cpu *c;
	__u32 cpu, next_tid;

	c = current_wire_cpu(&cpu);
	if (!c || !c->wanted)
		return 0;
	now = bpf_ktime_get_boot_ns();
	if (!all_selected()) {
		flags |= is_selected_thread(prev) ? 0 : WIRE_PREV_UNSELECTED;
		flags |= is_selected_thread(next) ? 0 : WIRE_NEXT_UNSELECTED;
		/* between unselected threads, record only switches from and to the idle thread */
		if (flags == (WIRE_PREV_UNSELECTED | WIRE_NEXT_UNSELECTED) && prev->pid &&
		    next->pid)
			return 0;
	}
	if (state == WIRE_SLEEPING || state == WIRE_DISK) {
		flags |= task_wait_flags(prev);
		if (!(flags & WIRE_PREV_KTHREAD))
			call = task_syscall(prev);
		if (call == FUTEX_CALL + 1 && *(volatile __u32 *)&with_runtimes &&
		    !(flags & WIRE_PREV_UNSELECTED))
			call = WIRE_CALL(call, (__u64)runtime_lock(prev, &class));
	} else if (is_ready_to_run(state) && prev->pid && task_is_throttled(prev)) {
		flags |= WIRE_PREV_THROTTLED;
	}
	if (class)
		write_switch_record(c, cpu, now, switch_record_head(WIRE_MONITOR, 0, 0), class);
	write_switch_record(c, cpu, now, switch_record_head(WIRE_SWITCH, state, flags),
			    switch_record_body(next->pid, prev->pid, call));
	slots = with_waits ? find_wait_slots() : NULL;
	if (slots) {
		/* First: the thread that leaves may share the slot of the one that comes. */
		next_tid = flags & WIRE_NEXT_UNSELECTED ? 0 : next->pid;
		request_wait_stack(c, cpu, wait_slot(slots, next_tid), next_tid);
		if ((state == WIRE_SLEEPING || state == WIRE_DISK) &&
		    !(flags & WIRE_PREV_UNSELECTED))
			write_wait_slot(c, wait_slot(slots, prev->pid), WAIT_LEFT, prev->pid,
					now & WAIT_TIME_MASK);
	}
	count_switch_hook(c, now);
	return 0;
}

struct wakeup {
	__u64 time; /* ns */
	enum wire_context context;
};

/*
 * Record that task is woken on this CPU, now. Return this CPU if it is recorded and the thread is
 * selected, else NULL.
 */
static __always_inline struct wire_cpu *
record_wakeup(struct task_struct *task, enum wire_switch_kind kind, struct wakeup *out)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct wire_cpu *c;
	__u32 cpu;

	c = current_wire_cpu(&cpu);
	if (!c || !c->wanted || (!all_selected() && !is_selected_thread(task)))
		return NULL;
	out->context = waking_context(c, waker, task);
	out->time = bpf_ktime_get_boot_ns();
	write_switch_record(c, cpu, out->time, switch_record_head(kind, out->context, 0),
			    switch_record_body(task->pid, waker->pid, task_cpu_of(task)));
	return c;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct wakeup wakeup;
	struct wire_cpu *c = record_wakeup(task, WIRE_WAKING, &wakeup);
	__s64 length;

	if (!c)
		return 0;
	length = with_waits ? choose_wait(c, task, wakeup.time) : -1;
	count_switch_hook(c, wakeup.time);
	if (!with_wakers || length < 0 || wakeup.context != WIRE_BY_TASK ||
	    !bpf_get_current_task_btf()->pid)
		return 0;
	c->waits.wakers_asked++;
	c->waits.waker_length = length;
	c->waits.waker_time = wakeup.time;
	bpf_tail_call(ctx, &waker_program, 0);
	c->waits.wakers_missed++;
	return 0;
}

SEC("?tp_btf/sched_wakeup_new")
int BPF_PROG(on_new, struct task_struct *task)
{
	struct wakeup wakeup;
	struct wire_cpu *c = record_wakeup(task, WIRE_NEW, &wakeup);
	struct wait_slots *slots = c && with_waits ? find_wait_slots() : NULL;

	/* A thread may be woken before it leaves a CPU for the first time: it has not waited. */
	if (slots)
		write_wait_slot(c, wait_slot(slots, task->pid), WAIT_RUNS, task->pid, 0);
	if (c)
		count_switch_hook(c, wakeup.time);
	return 0;
}

SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *task, int target)
{
	struct wire_cpu *c;
	__u64 now;
	__u32 cpu;

	c = current_wire_cpu(&cpu);
	if (!c || !c->wanted || (!all_selected() && !is_selected_thread(task)))
		return 0;
	now = bpf_ktime_get_boot_ns();
	write_switch_record(c, cpu, now, switch_record_head(WIRE_MIGRATE, 0, 0),
			    switch_record_body(task->pid, task_cpu_of(task), target));
	count_switch_hook(c, now);
	return 0;
}

SEC("?tp_btf/softirq_raise")
int BPF_PROG(on_softirq_raise, unsigned int number)
{
	__u32 cpu;
	struct wire_cpu *c = current_wire_cpu(&cpu);

	if (c)
		softirq_raised(c, number);
	return 0;
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int number)
{
	__u32 cpu;
	struct wire_cpu *c = current_wire_cpu(&cpu);

	if (c)
		softirq_begun(c, number);
	return 0;
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int number)
{
	__u32 cpu;
	struct wire_cpu *c = current_wire_cpu(&cpu);

	if (c)
		softirq_ended(c);
	return 0;
}

/* Hooks at the beginning and end of interrupts. Not every kernel has all of them. */
#define INTERRUPT_HOOK(tracepoint, member, value) \
	SEC("?tp_btf/" #tracepoint) \
	int BPF_PROG(on_##tracepoint) \
	{ \
		__u32 cpu; \
		struct wire_cpu *c = current_wire_cpu(&cpu); \
\
		if (c) \
			c->member = value; \
		return 0; \
	}

INTERRUPT_HOOK(hrtimer_expire_entry, in_timer, 1)
INTERRUPT_HOOK(hrtimer_expire_exit, in_timer, 0)
INTERRUPT_HOOK(irq_handler_entry, in_device, 1)
INTERRUPT_HOOK(irq_handler_exit, in_device, 0)
#if defined(__TARGET_ARCH_x86)
INTERRUPT_HOOK(call_function_entry, in_ipi, 1)
INTERRUPT_HOOK(call_function_exit, in_ipi, 0)
INTERRUPT_HOOK(call_function_single_entry, in_ipi, 1)
INTERRUPT_HOOK(call_function_single_exit, in_ipi, 0)
INTERRUPT_HOOK(irq_work_entry, in_ipi, 1)
INTERRUPT_HOOK(irq_work_exit, in_ipi, 0)
#else
INTERRUPT_HOOK(ipi_entry, in_ipi, 1)
INTERRUPT_HOOK(ipi_exit, in_ipi, 0)
#endif

/* Set the state of a thread; if the thread waits, also its flags and its system call. */
static __always_inline void describe_task_wait(struct wire_task *t, struct task_struct *task)
{
	struct task_struct___wait *w = (void *)task;

	t->call = 0;
	t->flags = 0;
	t->state = w->on_cpu ? WIRE_RUNNING : decode_task_state(task->__state);
	if (t->state == WIRE_SLEEPING || t->state == WIRE_DISK) {
		t->flags = task_wait_flags(task);
		if (!(t->flags & WIRE_PREV_KTHREAD))
			t->call = task_syscall(task);
	} else if (t->state == WIRE_RUNNABLE && task_is_throttled(task)) {
		t->flags = WIRE_PREV_THROTTLED;
	}
	if (task_is_kernel_thread(task))
		t->flags |= WIRE_PREV_KTHREAD;
}

/*
 * Write the state of every selected thread, and of the unselected threads that run. User space
 * needs these states at the beginning of a recording and after a loss of records.
 */
SEC("?iter/task")
int snapshot(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct wire_task t = {0};
	bool other;

	if (!task)
		return 0;
	t.time = bpf_ktime_get_boot_ns();
	describe_task_wait(&t, task);
	other = !is_selected_thread(task);
	if (other && t.state != WIRE_RUNNING)
		return 0;
	t.flags |= other ? WIRE_PREV_UNSELECTED : 0;
	t.born = task->group_leader->start_boottime;
	t.cgroup = cgroup_id(task_shown_cgroup(task));
	t.pid = task->tgid;
	t.tid = task->pid;
	t.ns_pid = task_inner_pid(task->group_leader);
	t.cpu = task_cpu_of(task);
	__builtin_memcpy(t.comm, task->comm, sizeof(t.comm));
	bpf_seq_write(ctx->meta->seq, &t, sizeof(t));
	return 0;
}
