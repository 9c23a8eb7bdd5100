/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The end of a sample, whose stack was walked by a program of sample.bpf.c or of java.bpf.c. */
#ifndef SKEIN_BPF_SAMPLE_END_H
#define SKEIN_BPF_SAMPLE_END_H

#include "bpf/account.h"
#include "bpf/ring.h"

/* Set by user space before loading. */
const volatile bool save_all = false; /* send registers and stack memory with every sample */
/* send SIGSTOP to the sampled thread, to compare its stack with a debugger's */
const volatile bool stop_sampled = false;

#define SIGSTOP 19

/* One entry per CPU, shared with user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the number of possible CPUs, set by user space */
	__type(key, __u32);
	__type(value, struct wire_clock);
} clocks SEC(".maps");

/* Count the time since began (ns) as time that skein's programs took. */
static __always_inline void count_time_spent(struct wire_clock *c, __u64 began)
{
	c->spent += bpf_ktime_get_boot_ns() - began;
}

static __always_inline int end_sample(struct bpf_perf_event_data *ctx, struct user_walk *u)
{
	struct wire_sample *s = &u->sample;
	__u32 words = u->at, cpu = s->cpu;
	struct wire_clock *c = bpf_map_lookup_elem(&clocks, &cpu);

	if (save_all && s->user_end != WALK_END_CODE_32_BIT &&
	    (s->user_frames || s->flags & WIRE_UNFINISHED)) {
		take_user_registers(&u->walk, ctx, bpf_get_current_task_btf(),
				    s->flags & WIRE_KERNEL_MODE);
		s->flags |= WIRE_INITIAL_STATE;
	}
	if (s->flags & WIRE_SAVED)
		words += user_walk_save(u, bpf_get_current_task_btf(), !save_all);
	if (!c)
		return 0;
	if (send_stack(u, words))
		clock_account(c)->ring_full++;
	else
		clock_account(c)->written++;
	if (stop_sampled && u->status == WALK_FINISHED && s->user_frames)
		bpf_send_signal_thread(SIGSTOP); /* to this thread, not to any of the process */
	count_time_spent(c, s->time);
	return 0;
}

#endif
