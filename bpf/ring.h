/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Stacks of the current thread are walked here, and sent through the sample rings: what samples of
 * the clock (sample.bpf.c), stacks of waits that have ended (wait_stack.h) and of hits of probes
 * (hit_stack.h) share.
 */
#ifndef SKEIN_BPF_RING_H
#define SKEIN_BPF_RING_H

#include "bpf/unwind/current.h"

#include "bpf/stack.h"

/* Set by user space before loading. */
const volatile __u32 cpus_per_ring = 1;
const volatile __u32 wake_bytes = 0; /* a ring with this many bytes wakes the consumer */

struct sample_ring_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* the real size is set by user space */
};

/* One ring for every cpus_per_ring CPUs, to keep contention for the ring's lock low. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct sample_ring_map);
} rings SEC(".maps");

/*
 * The sample under construction on each CPU: too large for the stack of a BPF program, and for the
 * kernel's per-CPU allocator. User space sets the number of entries: one for each CPU, and as many
 * again for stacks of waits, and for those of hits of probes, which a sample may interrupt.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct user_walk);
} sample_scratch SEC(".maps");

/*
 * How long the consumer of the rings sleeps (enum wire_sleep): user space sets this before and
 * after it sleeps, and the program that wakes the consumer resets it to WIRE_AWAKE. Memory that the
 * consumer must read, for a stack or for Python names, may vanish with its process. So the first
 * event that needs the consumer, mostly an exec, wakes it, and the consumer then reads the rings
 * more often for a while. A sample wakes the consumer at a tick of the sampling clock, so that the
 * consumer's own work would never be sampled; the consumer therefore first waits for a random part
 * of a period. In a section of its own, which the programs for JVMs share.
 */
__u32 consumer_sleeps SEC(".data.consumer") = WIRE_AWAKE;

static __always_inline bool sample_needs_consumer(const struct wire_sample *s)
{
	return s->python & WIRE_PYTHON_NEW || s->java & WIRE_JAVA_NEW || s->flags & WIRE_PENDING ||
	       (s->flags & WIRE_UNFINISHED && consumer_sleeps == WIRE_SLEEPS_LONG);
}

/*
 * Return true to the first caller after the consumer has gone to sleep, which then wakes the
 * consumer. There is no lock: callers on two CPUs may both get true, which is harmless.
 */
static __always_inline bool claim_consumer_wakeup(void)
{
	if (consumer_sleeps == WIRE_AWAKE)
		return false;
	consumer_sleeps = WIRE_AWAKE;
	return true;
}

/*
 * Return the flag for the ring buffer. Waking the consumer for every sample would cost more than
 * the sample. The consumer is woken by a sample that needs it and when wake_bytes are in a ring;
 * otherwise it reads the rings several times a second.
 */
static __always_inline __u64 sample_wake_flag(void *ring, const struct wire_sample *s)
{
	if ((sample_needs_consumer(s) && claim_consumer_wakeup()) ||
	    bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= wake_bytes)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

/* Wake the consumer from outside of a sample, by an empty record that is discarded at once. */
static __always_inline void wake_consumer(void)
{
	__u32 first = 0;
	void *ring, *record;

	if (!claim_consumer_wakeup())
		return;
	ring = bpf_map_lookup_elem(&rings, &first);
	if (!ring)
		return;
	record = bpf_ringbuf_reserve(ring, sizeof(__u64), 0);
	if (record)
		bpf_ringbuf_discard(record, BPF_RB_FORCE_WAKEUP);
}

/* Send the sample with so many words. Return 0, or a negative errno if the ring is full. */
static __always_inline long send_stack(struct user_walk *u, __u32 words)
{
	const struct wire_sample *s = &u->sample;
	__u32 index = s->cpu / cpus_per_ring;
	void *ring = bpf_map_lookup_elem(&rings, &index);
	__u64 size = sizeof(*s) + words * sizeof(__u64);

	if (size > sizeof(*s) + WALK_WORDS * sizeof(__u64))
		size = sizeof(*s) + WALK_WORDS * sizeof(__u64);
	return ring ? bpf_ringbuf_output(ring, &u->sample, size, sample_wake_flag(ring, s)) : -1;
}

struct python_loop_context {
	struct python_walk *walk;
	struct user_walk *user;
};

/* A global function, so that the verifier checks it once and not for each state of the loop. */
__noinline int python_walk_step_global(struct python_walk *w, struct user_walk *u)
{
	return w && u ? python_walk_step(w, u->words) : 1;
}

static long python_walk_loop_step(__u32 i, void *context)
{
	const struct python_loop_context *l = context;

	return python_walk_step_global(l->walk, l->user) ? 1 : 0;
}

static __always_inline void walk_python_by_loop(struct user_walk *u)
{
	struct python_loop_context l = {.user = u};

	l.walk = user_walk_begin_python(u, bpf_get_current_task_btf());
	if (!l.walk)
		return;
	bpf_loop(PYTHON_STEPS_MAX, python_walk_loop_step, &l, 0);
	user_walk_end_python(u, l.walk);
}

/*
 * For stacks that are no samples of the clock: end the native walk, walk Python frames and send the
 * record. Return 0, or a negative errno if it could not be sent.
 */
static __always_inline long end_and_send_stack(struct user_walk *u)
{
	__u32 words;

	user_walk_end_native(u);
	walk_python_by_loop(u);
	words = u->at;
	if (u->sample.flags & WIRE_SAVED)
		words += user_walk_save(u, bpf_get_current_task_btf(), true);
	return send_stack(u, words);
}

#endif
