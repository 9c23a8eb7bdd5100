// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * Probes: USDT notes and functions of programs. One program serves all sites; the cookie of an
 * attachment is the site's index. Hits do not wake the consumer: a wake-up in the middle of a JVM's
 * safepoint makes the safepoint milliseconds longer. Only those with which the user begins and ends
 * the recording do.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/event.h"
#include "bpf/hit.h"
#include "bpf/select.h"
#include "bpf/task.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set by user space before loading. */
const volatile __u32 probe_cpus_per_ring = 1;

/* Set by user space at the end of a recording: detaching takes a while. */
bool probes_stopped = false;
/* Set by user space while it records. */
bool hits_wanted = false;
/* Hits that were lost so far, modulo 2^32 (wire_probe.lost). */
__u32 hits_lost = 0;

struct probe_ring_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* the real size is set by user space */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* the real number is set by user space */
	__type(key, __u32);
	__array(values, struct probe_ring_map);
} probe_rings SEC(".maps");

/*
 * The program of java.bpf.c that takes the stack of a hit, for each of the programs here: a map of
 * programs takes those of one kind of attachment only.
 */
struct hit_program_map {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
};

struct hit_program_map hit_taker SEC(".maps");
struct hit_program_map hit_taker_multi SEC(".maps");

/* The registers of a hit, as the words of struct pt_regs. */
struct hit_registers {
	__u64 words[PROBE_REGISTERS];
};

static __always_inline __u64 register_of(const struct hit_registers *r, __u8 number)
{
	return number < PROBE_REGISTERS ? r->words[number] : 0;
}

static __always_inline __u64 narrow(__u64 value, const struct probe_operand *o)
{
	__u32 unused = 64 - 8 * (o->bytes & 15);

	if (unused > 56)
		return value;
	value <<= unused;
	return o->is_signed ? (__u64)((__s64)value >> unused) : value >> unused;
}

/* The memory of a site's window, and room after it for a value that begins in its last byte. */
struct operand_window {
	__u8 bytes[PROBE_WINDOW_BYTES + sizeof(__u64)];
	__u64 address; /* of what could not be read at once; 0: it was read, or there is none */
};

static __always_inline void read_window(struct operand_window *w, const struct hit_registers *r,
					const struct probe_window *from)
{
	__u32 size = from->bytes;

	__builtin_memset(w, 0, sizeof(*w));
	if (!size || size > PROBE_WINDOW_BYTES)
		return;
	w->address = register_of(r, from->base) + from->value;
	if (!bpf_probe_read_user(w->bytes, size, (const void *)w->address))
		w->address = 0;
}

/* Return a value in the window; if that could not be read at once, by itself. */
static __always_inline __u64 read_in_window(const struct operand_window *w,
					    const struct probe_operand *o)
{
	__u32 at = o->value & (PROBE_WINDOW_BYTES - 1), bytes = o->bytes;
	__u64 value = 0;

	if (!w->address)
		return narrow(*(const __u64 *)&w->bytes[at], o);
	if (bytes <= sizeof(value))
		bpf_probe_read_user(&value, bytes, (const void *)(w->address + at));
	return narrow(value, o);
}

static __always_inline __u64 read_operand(const struct hit_registers *r,
					  const struct operand_window *w,
					  const struct probe_operand *o)
{
	__u64 value = 0, address;
	__u32 bytes = o->bytes;

	if (o->kind == PROBE_OPERAND_CONSTANT)
		return narrow(o->value, o);
	if (o->kind == PROBE_OPERAND_REGISTER)
		return narrow(register_of(r, o->base) >> (o->shift & 63), o);
	if (o->kind == PROBE_OPERAND_WINDOW)
		return read_in_window(w, o);
	if (o->kind != PROBE_OPERAND_MEMORY || bytes > sizeof(value))
		return 0;
	address =
		register_of(r, o->base) + (register_of(r, o->index) << (o->shift & 63)) + o->value;
	bpf_probe_read_user(&value, bytes, (const void *)address);
	return narrow(value, o);
}

/*
 * Return an argument by its index + 1. The mask is for verifiers that forget a bound which was
 * checked in another register (Linux 6.1).
 */
static __always_inline __u64 argument_of(const struct wire_probe *p, __u32 number)
{
	__u32 index = number - 1;

	barrier_var(index);
	return p->arguments[index & (PROBE_OPERANDS_MAX - 1)];
}

/* Read a text; length 0: as far as its NUL. The buffer ends with a NUL in each case. */
static __always_inline void read_text(struct wire_probe *p, const struct wire_probe_site *s,
				      __u32 number, char *to)
{
	__u32 at = s->texts[number].address, length = s->texts[number].length;
	__u64 size = WIRE_PROBE_TEXT_BYTES - 1;

	to[0] = '\0';
	if (!at || at > PROBE_OPERANDS_MAX || length > PROBE_OPERANDS_MAX)
		return;
	if (!length) {
		bpf_probe_read_user_str(to, WIRE_PROBE_TEXT_BYTES,
					(const void *)argument_of(p, at));
		return;
	}
	if (argument_of(p, length) < size)
		size = argument_of(p, length);
	if (size > WIRE_PROBE_TEXT_BYTES - 1)
		return;
	if (bpf_probe_read_user(to, size, (const void *)argument_of(p, at)))
		size = 0;
	to[size] = '\0';
}

static __always_inline void describe_hit(struct wire_probe *p, struct task_struct *task, __u32 site,
					 __u64 now, __u64 stack)
{
	p->time = now;
	p->born = task->group_leader->start_boottime;
	p->cgroup = cgroup_id(task_shown_cgroup(task));
	p->pid = task->tgid;
	p->tid = task->pid;
	p->ns_pid = task_inner_pid(task->group_leader);
	p->site = site;
	p->lost = *(volatile __u32 *)&hits_lost;
	p->unused = 0;
	p->stack_pointer = stack;
}

static __always_inline struct wire_probe_cpu *probe_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&probe_cpus, &cpu);
}

/* Count a hit that began at a time (ns). */
static __always_inline void count_hit(__u64 began)
{
	struct wire_probe_cpu *c = probe_cpu();

	if (!c)
		return;
	c->hits++; /* of two threads that preempt each other here, one may not be counted */
	add_hit_time(c, began);
}

static __always_inline void count_lost_hit(void)
{
	struct wire_probe_cpu *c = probe_cpu();

	__sync_fetch_and_add(&hits_lost, 1);
	if (c)
		__sync_fetch_and_add(&c->lost, 1);
}

static __always_inline void read_arguments(struct wire_probe *p, const struct wire_probe_site *s,
					   struct pt_regs *ctx)
{
	struct hit_registers r;
	struct operand_window w;

	if (!s->count)
		return;
	__builtin_memset(&r, 0, sizeof(r));
#if defined(__TARGET_ARCH_x86)
	bpf_probe_read_kernel(&r, sizeof(*ctx), ctx);
#else
	bpf_probe_read_kernel(&r, sizeof(r), ctx);
#endif
	read_window(&w, &r, &s->window);
	for (__u32 i = 0; i < PROBE_OPERANDS_MAX; i++) {
		if (i >= s->count)
			break;
		p->arguments[i] = read_operand(&r, &w, &s->operands[i]);
	}
}

/* A hit of a site. */
struct hit {
	struct pt_regs *registers;
	const struct wire_probe_site *site;
	__u32 number; /* of the site */
	__u64 time; /* ns */
};

/* Send a hit; texts: the record has room for texts. Return whether there was room in the ring. */
static __always_inline bool send_hit(void *ring, const struct hit *h, bool texts)
{
	struct wire_probe *p = bpf_ringbuf_reserve(
		ring, texts ? sizeof(struct wire_probe_texts) : sizeof(struct wire_probe), 0);

	if (!p)
		return false;
	describe_hit(p, bpf_get_current_task_btf(), h->number, h->time, PT_REGS_SP(h->registers));
	read_arguments(p, h->site, h->registers);
	if (texts)
		for (__u32 i = 0; i < WIRE_PROBE_TEXTS_MAX; i++)
			read_text(p, h->site, i, ((struct wire_probe_texts *)p)->texts[i]);
	bpf_ringbuf_submit(p, h->site->wakes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	return true;
}

/* Have the stack of a hit taken, if it is chosen; takers: the map of the program that does that. */
static __always_inline void take_hit_stack(struct pt_regs *ctx, void *takers, __u32 event)
{
	struct wire_probe_cpu *c;

	if (!event || !hits_wanted)
		return;
	bpf_tail_call(ctx, takers, 0);
	/* the program is not there yet */
	c = probe_cpu();
	if (c)
		count_missed_hit(hit_stacks_of(c, event - 1));
}

static __always_inline int on_probe(struct pt_regs *ctx, void *takers)
{
	__u32 index = bpf_get_smp_processor_id() / probe_cpus_per_ring;
	struct hit h = {
		.registers = ctx,
		.number = bpf_get_attach_cookie(ctx),
		.time = bpf_ktime_get_boot_ns(),
	};
	void *ring;

	if (probes_stopped)
		return 0;
	if (wanted.conditions && !is_selected_thread(bpf_get_current_task_btf()))
		return 0;
	h.site = bpf_map_lookup_elem(&probe_sites, &h.number);
	ring = bpf_map_lookup_elem(&probe_rings, &index);
	if (!h.site || !ring)
		return 0;
	if (!(h.site->texts[0].address ? send_hit(ring, &h, true) : send_hit(ring, &h, false)))
		count_lost_hit();
	count_hit(h.time);
	take_hit_stack(ctx, takers, h.site->event);
	return 0;
}

SEC("?uprobe")
int probe_hit(struct pt_regs *ctx)
{
	return on_probe(ctx, &hit_taker);
}

/* The same for attachments of many sites at once, since Linux 6.6. */
SEC("?uprobe")
int probe_hit_multi(struct pt_regs *ctx)
{
	return on_probe(ctx, &hit_taker_multi);
}
