/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What the program of probes (probe.bpf.c) shares with the one that takes the stacks of threads
 * that hit them (hit_stack.h), which the former enters by a tail call.
 *
 * Programs of uprobes cannot interrupt one another, but a thread may be preempted in one, and
 * another thread may then hit a probe on the same CPU. It finds wire_probe_cpu.walking set, and its
 * stack is missed.
 */
#ifndef SKEIN_BPF_HIT_H
#define SKEIN_BPF_HIT_H

#include "bpf/event.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_PROBE_SITES_MAX);
	__type(key, __u32);
	__type(value, struct wire_probe_site);
} probe_sites SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the real number is set by user space */
	__type(key, __u32);
	__type(value, struct wire_probe_cpu);
} probe_cpus SEC(".maps");

/* Return the stacks of an event. The mask is for the verifier. */
static __always_inline struct wire_hit_stacks *hit_stacks_of(struct wire_probe_cpu *c, __u32 event)
{
	barrier_var(event);
	return &c->stacks[event & (WIRE_HIT_EVENTS - 1)];
}

/*
 * Maximum time (ns) that one timed hit counts. A thread may be preempted in a hit, and the time of
 * others would count 61 times.
 */
#define HIT_TIME_MAX 50000

/* If the last hit that was counted is one of those that are timed, add the time since began, ns. */
static __always_inline void add_hit_time(struct wire_probe_cpu *c, __u64 began)
{
	__u64 time;

	if (c->hits % WIRE_HITS_TIMED)
		return;
	time = bpf_ktime_get_boot_ns() - began;
	c->hits_spent += WIRE_HITS_TIMED * (time < HIT_TIME_MAX ? time : HIT_TIME_MAX);
}

/* Count a hit that would have been chosen, if it were possible to take its stack. */
static __always_inline void count_missed_hit(struct wire_hit_stacks *s)
{
	__sync_fetch_and_add(&s->chosen, 1);
	__sync_fetch_and_add(&s->missed, 1);
}

#endif
