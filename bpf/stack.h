/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The stack of the current thread, as a record in one of the sample rings: the parts that samples
 * of the clock (sample.bpf.c) and stacks of waits (wait_stack.h) share.
 */
#ifndef SKEIN_BPF_STACK_H
#define SKEIN_BPF_STACK_H

#include "bpf/event.h"
#include "bpf/select.h"
#include "bpf/task.h"
#include "bpf/unwind/native.h"
#include "bpf/unwind/python_kernel.h"

/* Set by user space before loading. */
const volatile __u32 cpus_per_ring = 1;
const volatile __u32 wake_bytes = 0; /* a ring with this many bytes wakes the consumer */
const volatile bool with_kernel_stack = true;
const volatile bool with_user_stack = true;

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
 * again for stacks of waits, which a sample may interrupt.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct user_walk);
} sample_scratch SEC(".maps");

static __always_inline void describe_sample(struct wire_sample *s, struct task_struct *task,
					    enum wire_kind kind, __u32 cpu, __u64 now)
{
	s->time = now;
	s->born = task->group_leader->start_boottime;
	s->cgroup = cgroup_id(task_shown_cgroup(task));
	s->pid = task->tgid;
	s->tid = task->pid;
	s->ns_pid = task_inner_pid(task->group_leader);
	s->cpu = cpu;
	s->kind = kind;
	s->flags = 0;
	s->event = 0;
}

/* Return the sample's flag for the reason why no user stack is walked; 0 if one is walked. */
static __always_inline __u8 no_user_stack_flag(struct task_struct *task)
{
	if (task_is_kernel_thread(task))
		return WIRE_KTHREAD;
	/* During exec, end_code of the new address space is 0 until its stack is complete. */
	if (!task->mm || !task->mm->end_code)
		return WIRE_NO_MM;
	if (wanted.namespace.level && !(wanted.conditions & WIRE_IF_NAMESPACE) &&
	    !is_in_own_namespace(task))
		return WIRE_OUTSIDE;
	return with_user_stack ? 0 : WIRE_NO_USER;
}

/*
 * Begin the stack of a thread whose words up to the user frames are written: words of them, kernel
 * of which are frames. Return whether there is a user stack; its registers are to be taken next.
 */
static __always_inline bool begin_stack(struct user_walk *u, struct task_struct *task, __u32 words,
					__u32 kernel)
{
	struct wire_sample *s = &u->sample;

	s->kernel_frames = kernel;
	s->user_frames = 0;
	s->user_end = WALK_END_WALKED;
	s->python_words = 0;
	s->python = 0;
	s->python_end = WALK_END_WALKED;
	s->java = 0;
	s->flags |= no_user_stack_flag(task);
	u->python.layout = 0;
	u->at = u->first = words;
	u->most = WIRE_MAX_USER;
	u->status = WALK_FINISHED;
	return !(s->flags & (WIRE_KTHREAD | WIRE_NO_MM | WIRE_NO_USER | WIRE_OUTSIDE));
}

/*
 * How long the consumer of the rings sleeps (enum wire_sleep): user space sets this before and
 * after it sleeps, and the program that wakes the consumer resets it to WIRE_AWAKE. Memory that the
 * consumer must read, for a stack or for Python names, may vanish with its process. So the first
 * event that needs the consumer, mostly an exec, wakes it, and the consumer then reads the rings
 * more often for a while. A sample wakes the consumer at a tick of the sampling clock, so that the
 * consumer's own work would never be sampled; the consumer therefore first waits for a random part
 * of a period.
 */
__u32 consumer_sleeps = WIRE_AWAKE;

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

/* End the native walk, which is over or can only be continued in user space. */
static __always_inline void user_walk_end_native(struct user_walk *u)
{
	struct wire_sample *s = &u->sample;

	s->user_frames = u->at - u->first;
	s->user_end = u->walk.end;
	if (u->status == WALK_UNMAPPED || u->status == WALK_PENDING)
		s->flags |= WIRE_UNFINISHED;
	if (u->status == WALK_PENDING)
		s->flags |= WIRE_PENDING;
}

/* Add the walked Python frames to the sample. */
static __always_inline void user_walk_end_python(struct user_walk *u, const struct python_walk *w)
{
	struct wire_sample *s = &u->sample;

	s->python_words = w->at - w->from;
	s->python = w->flags;
	s->python_end = w->end;
	u->at = w->at;
}

struct python_loop_context {
	struct python_walk *walk;
	struct user_walk *user;
};

static long python_walk_loop_step(__u32 i, void *context)
{
	const struct python_loop_context *l = context;

	return python_walk_step(l->walk, l->user->words);
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

#endif
