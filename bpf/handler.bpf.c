// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * What serves interrupts on each CPU, and how long: sums of all runs, and records of long ones.
 * Only loaded when it is asked for; who was woken by an interrupt is known to sched.bpf.c.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/event.h"

/* include/linux/interrupt.h */
struct irqaction {
	const char *name;
} __attribute__((preserve_access_index));

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set by user space before loading. */
const volatile __u64 handled_least = 0; /* ns: shorter runs have no record */
const volatile __u32 handler_cpus_per_ring = 1;

/* One large value a CPU, so that a program looks it up once. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the real number is set by user space */
	__type(key, __u32);
	__type(value, struct wire_handlers);
} handlers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WIRE_HANDLERS);
	__type(key, __u32);
	__type(value, struct wire_handler_name);
} handler_names SEC(".maps");

struct handled_ring_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* the real size is set by user space */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct handled_ring_map);
} handled_rings SEC(".maps");

/* Send a record of a long run, or count that there was no room. */
static __always_inline void send_handled(struct wire_handler *h, __u64 since, __u64 now, __u32 cpu,
					 __u32 slot)
{
	__u32 index = cpu / handler_cpus_per_ring;
	void *ring = bpf_map_lookup_elem(&handled_rings, &index);
	struct wire_handled *r;

	if (!ring)
		return;
	r = bpf_ringbuf_reserve(ring, sizeof(*r), 0);
	if (!r) {
		h->lost++;
		return;
	}
	r->time = since;
	r->end = now;
	r->cpu = cpu;
	r->slot = slot;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* Return the sums of a slot. */
static __always_inline struct wire_handler *handler_of(struct wire_handlers *c, __u32 slot)
{
	barrier_var(slot); /* the compiler knows that the slot is in range, the verifier does not */
	return &c->slots[slot & (WIRE_HANDLERS - 1)];
}

/*
 * Add a run up. A slot has one writer at a time: softirqs do not interrupt each other, and
 * interrupts have slots of their own. inside: ns of what interrupted it.
 */
static __always_inline void count_handled(struct wire_handlers *c, __u32 slot, __u64 since,
					  __u64 now, __u64 inside)
{
	struct wire_handler *h = handler_of(c, slot);
	__u64 length = now - since;

	h->count++;
	h->time += length > inside ? length - inside : 0;
	if (length > h->longest)
		h->longest = length;
	if (length >= handled_least)
		send_handled(h, since, now, bpf_get_smp_processor_id(), slot);
}

static __always_inline struct wire_handlers *current_handlers(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&handlers, &cpu);
}

/* Maximum time (ns) that one timed hook counts: an interrupt, or the host, may have come. */
#define HANDLER_HOOK_MAX 20000

/* Return the time, if this run of the hook of an end is timed, else 0. */
static __always_inline __u64 handler_hook_begin(struct wire_handlers *c)
{
	return ++c->ends % WIRE_INTERRUPTS_TIMED ? 0 : bpf_ktime_get_boot_ns();
}

static __always_inline void handler_hook_end(struct wire_handlers *c, __u64 began)
{
	__u64 time;

	if (!began)
		return;
	time = bpf_ktime_get_boot_ns() - began;
	/* twice: the begin had a hook, too */
	c->spent += 2 * WIRE_INTERRUPTS_TIMED * (time < HANDLER_HOOK_MAX ? time : HANDLER_HOOK_MAX);
}

static __always_inline void interrupt_begun(struct wire_handlers *c, __u32 slot)
{
	__u32 depth = c->depth;

	c->depth = depth + 1;
	if (depth >= WIRE_HANDLER_DEPTH) {
		c->unpaired++;
		return;
	}
	c->open[depth].slot = slot;
	c->open[depth].since = c->wanted ? bpf_ktime_get_boot_ns() : 0;
}

/* A run is counted if the CPU was recorded at its begin and at its end. */
static __always_inline void count_interrupt(struct wire_handlers *c, __u32 slot)
{
	__u32 depth = c->depth;
	__u64 since, now;

	if (!depth)
		return; /* it began before the program was attached */
	c->depth = --depth;
	if (depth >= WIRE_HANDLER_DEPTH)
		return;
	since = c->open[depth].since;
	if (c->open[depth].slot != slot) {
		c->depth = 0;
		c->unpaired++;
		return;
	}
	if (!since || !c->wanted)
		return;
	now = bpf_ktime_get_boot_ns();
	count_handled(c, slot, since, now, 0);
	if (!depth)
		*(volatile __u64 *)&c->hard_time += now - since;
}

static __always_inline void interrupt_ended(struct wire_handlers *c, __u32 slot)
{
	__u64 began = handler_hook_begin(c);

	count_interrupt(c, slot);
	handler_hook_end(c, began);
}

/*
 * Programs are attached in the order of this file: those at ends come first, so that no begin is
 * seen whose end is not.
 */
static __always_inline __u32 device_slot(int irq)
{
	__u32 slot = (__u32)irq + WIRE_DEVICES;

	return slot < WIRE_HANDLERS ? slot : WIRE_HANDLERS - 1;
}

SEC("?tp_btf/irq_handler_exit")
int BPF_PROG(on_handler_exit, int irq)
{
	struct wire_handlers *c = current_handlers();

	if (c)
		interrupt_ended(c, device_slot(irq));
	return 0;
}

SEC("?tp_btf/irq_handler_entry")
int BPF_PROG(on_handler_entry, int irq, struct irqaction *action)
{
	struct wire_handlers *c = current_handlers();
	__u32 slot = device_slot(irq);
	struct wire_handler_name *name;

	if (!c)
		return 0;
	interrupt_begun(c, slot);
	if (handler_of(c, slot)->count || slot == WIRE_HANDLERS - 1)
		return 0;
	name = bpf_map_lookup_elem(&handler_names, &slot);
	if (name && !name->text[0])
		bpf_probe_read_kernel_str(name->text, sizeof(name->text), action->name);
	return 0;
}

/*
 * Interrupts are on here, so that one may come between any two lines: the time that interrupts have
 * taken is read before and after the clock, and again if it has changed.
 */
static __always_inline __u64 softirq_clock(struct wire_handlers *c, __u64 *hard_time)
{
	volatile __u64 *taken = &c->hard_time;
	__u64 now;

	*hard_time = *taken;
	now = bpf_ktime_get_boot_ns();
	if (*taken == *hard_time)
		return now;
	*hard_time = *taken;
	return bpf_ktime_get_boot_ns();
}

static __always_inline void count_softirq(struct wire_handlers *c, __u32 number)
{
	__u64 since = c->softirq_since, now, hard_time;

	c->softirq_since = 0;
	if (!c->wanted || number >= WIRE_VECTORS)
		return;
	now = softirq_clock(c, &hard_time);
	count_handled(c, number, since, now, hard_time - c->softirq_hard_time);
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(on_softirq_end, unsigned int number)
{
	struct wire_handlers *c = current_handlers();
	__u64 began;

	if (!c || !c->softirq_since)
		return 0;
	began = handler_hook_begin(c);
	count_softirq(c, number);
	handler_hook_end(c, began);
	return 0;
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(on_softirq_begin, unsigned int number)
{
	struct wire_handlers *c = current_handlers();
	__u64 hard_time;

	if (!c || !c->wanted)
		return 0;
	/* no interrupt is being served when a softirq begins */
	if (c->softirq_since || c->depth)
		c->unpaired++;
	c->depth = 0;
	c->softirq_since = softirq_clock(c, &hard_time);
	c->softirq_hard_time = hard_time;
	return 0;
}

/* Interrupts of a CPU's own. Not every kernel has all of these tracepoints. */
#define VECTOR_HOOKS(tracepoint, vector) \
	SEC("?tp_btf/" #tracepoint "_exit") \
	int BPF_PROG(on_##tracepoint##_end) \
	{ \
		struct wire_handlers *c = current_handlers(); \
\
		if (c) \
			interrupt_ended(c, WIRE_VECTORS + vector); \
		return 0; \
	} \
\
	SEC("?tp_btf/" #tracepoint "_entry") \
	int BPF_PROG(on_##tracepoint##_begin) \
	{ \
		struct wire_handlers *c = current_handlers(); \
\
		if (c) \
			interrupt_begun(c, WIRE_VECTORS + vector); \
		return 0; \
	}

#if defined(__TARGET_ARCH_x86)
VECTOR_HOOKS(local_timer, WIRE_LOCAL_TIMER)
VECTOR_HOOKS(reschedule, WIRE_RESCHEDULE)
VECTOR_HOOKS(call_function, WIRE_CALL_FUNCTION)
VECTOR_HOOKS(call_function_single, WIRE_CALL_FUNCTION_SINGLE)
VECTOR_HOOKS(irq_work, WIRE_IRQ_WORK)
#else
VECTOR_HOOKS(ipi, WIRE_IPI)
#endif
