/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Chooses the hits of probes whose stacks are taken: each one as long as they are few, else by
 * chance, with a probability that halves whenever HIT_BUDGET stacks of a window were taken with
 * it. A storm of n hits in a window costs HIT_BUDGET * log2(n / HIT_BUDGET) stacks in its first
 * window, and HIT_BUDGET in each later one.
 *
 * The probability depends on earlier hits alone, so the weights, 1 / the probability, add up to the
 * number of hits without bias.
 */
#ifndef SKEIN_BPF_HIT_CHOICE_H
#define SKEIN_BPF_HIT_CHOICE_H

#include "bpf/event.h"

#define HIT_WINDOW 250000000 /* ns */
#define HIT_BUDGET 128 /* stacks of an event, a window and a CPU */
#define HIT_SHIFT_MAX 24

/* Return the least shift by which so many hits are no more than the budget. */
static __always_inline __u32 hit_shift(__u32 hits)
{
	__u32 shift = 0;

	for (__u32 step = 16; step; step /= 2)
		if (hits >> (shift + step - 1) > HIT_BUDGET)
			shift += step;
	return shift < HIT_SHIFT_MAX ? shift : HIT_SHIFT_MAX;
}

/* Begin a window at now (ns), with the probability that would have met the budget in the last. */
static __always_inline void begin_hit_window(struct wire_hit_stacks *s, __u64 now)
{
	__u32 shift = hit_shift(now - s->window < 2ULL * HIT_WINDOW ? s->hits : 0);

	s->window = now;
	s->hits = 0;
	s->drawn = 0;
	s->shift = shift;
}

/*
 * Return the weight of a hit at now (ns) if its stack is to be taken; else 0. random: 32 random
 * bits. Two threads may do this at once if one has preempted the other: a count is then lost, but
 * the weight is that of the probability that was used.
 */
static __always_inline __u32 choose_hit(struct wire_hit_stacks *s, __u64 now, __u32 random)
{
	__u32 shift;

	if ((__s64)(now - s->window) >= HIT_WINDOW)
		begin_hit_window(s, now);
	shift = *(volatile __u32 *)&s->shift & 31;
	s->hits++;
	if (random & ((1U << shift) - 1))
		return 0;
	if (++s->drawn >= HIT_BUDGET && shift < HIT_SHIFT_MAX) {
		s->shift = shift + 1;
		s->drawn = 0;
	}
	return 1U << shift;
}

#endif
