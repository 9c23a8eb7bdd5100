/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Chooses hits of probes, and takes the stacks of the threads that hit them. */
#ifndef SKEIN_BPF_HIT_STACK_H
#define SKEIN_BPF_HIT_STACK_H

#include "bpf/hit.h"
#include "bpf/hit_choice.h"
#include "bpf/ring.h"

/* The entries of sample_scratch from here on are for stacks of hits. */
const volatile __u32 first_hit_scratch = 0;

/*
 * Return whether a hit is the same as the one before of its thread: two overlay file systems may
 * show one file as two, to which probes are then attached twice, and the kernel runs both at once.
 */
static __always_inline bool is_second_face(struct wire_probe_cpu *c, __u32 site, __u32 place,
					   __u64 now, __u64 stack_pointer)
{
	__u32 tid = bpf_get_current_task_btf()->pid;

	if (c->last_tid == tid && c->last_place == place && c->last_site != site &&
	    c->last_stack_pointer == stack_pointer && now - c->last_time < WIRE_HIT_AGAIN)
		return true;
	c->last_tid = tid;
	c->last_place = place;
	c->last_site = site;
	c->last_stack_pointer = stack_pointer;
	c->last_time = now;
	return false;
}

/* Choose whether the stack of the hit is taken at now, ns. *out: the hit; weight 0: it is not. */
static __always_inline void choose_current_hit(struct wire_hit *out, struct wire_probe_cpu *c,
					       struct pt_regs *ctx, __u64 now)
{
	__u32 number = bpf_get_attach_cookie(ctx);
	const struct wire_probe_site *site = bpf_map_lookup_elem(&probe_sites, &number);

	out->weight = 0;
	if (!site || !site->event)
		return;
	out->event = site->event - 1U;
	if (!is_second_face(c, number, site->place, now, PT_REGS_SP(ctx)))
		out->weight = choose_hit(hit_stacks_of(c, out->event), now, bpf_get_prandom_u32());
}

/* Return the CPU's work area if the hit is chosen, and no other stack is being taken there. */
static __always_inline struct user_walk *claim_hit_walk(struct wire_probe_cpu *c, __u32 cpu,
							const struct wire_hit *hit)
{
	struct wire_hit_stacks *s = hit_stacks_of(c, hit->event);
	__u32 at = first_hit_scratch + cpu;
	struct user_walk *u = bpf_map_lookup_elem(&sample_scratch, &at);

	if (!u || __sync_val_compare_and_swap(&c->walking, 0, 1)) {
		count_missed_hit(s);
		return NULL;
	}
	__sync_fetch_and_add(&s->chosen, 1);
	return u;
}

/*
 * Begin the stack of the hit of the current thread as a record, if it is chosen, else return NULL.
 * The caller walks the user stack if its status is WALK_CALLER. *out: the CPU.
 */
static __always_inline struct user_walk *begin_hit_stack(struct wire_probe_cpu **out,
							 struct pt_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id();
	struct wire_probe_cpu *c = bpf_map_lookup_elem(&probe_cpus, &cpu);
	__u64 now = bpf_ktime_get_boot_ns();
	struct wire_hit hit = {0};
	struct user_walk *u;

	if (!c)
		return NULL;
	choose_current_hit(&hit, c, ctx, now);
	u = hit.weight ? claim_hit_walk(c, cpu, &hit) : NULL;
	if (!u) {
		add_hit_time(c, now);
		return NULL;
	}
	*out = c;
	u->begun = now;
	describe_sample(&u->sample, task, WIRE_HIT, cpu, now);
	__builtin_memcpy(u->words, &hit, sizeof(hit));
	/* a thread hits a probe in user mode: there are no kernel frames */
	if (!begin_stack(u, task, WIRE_HIT_WORDS, 0))
		return u;
	take_entry_registers(&u->walk, task);
	if (!user_walk_begin_native(u, task, entry_mode(task), now))
		u->status = WALK_CALLER;
	return u;
}

/* End the stack after the native walk, send the record, and count it. */
static __always_inline int end_hit_stack(struct user_walk *u, struct wire_probe_cpu *c)
{
	const struct wire_hit *hit = (const void *)u->words;
	struct wire_hit_stacks *s = hit_stacks_of(c, hit->event);

	if (end_and_send_stack(u))
		s->ring_full++;
	else
		s->taken++;
	c->spent += bpf_ktime_get_boot_ns() - u->begun;
	*(volatile __u32 *)&c->walking = 0;
	return 0;
}

#endif
