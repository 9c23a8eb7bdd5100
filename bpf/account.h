/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What became of the samples due on a CPU. The clock of cpu-clock is a timer
 * on a fixed grid (origin + n * period) that ticks through idle time, but
 * whether an idle tick reaches the program depends on the idle state. So idle
 * is counted as grid points between the idle hooks, each point once: last is
 * the number of the last point accounted for, by a sample or as idle.
 *
 * One CPU's entry is only touched on that CPU. A sample can interrupt the idle
 * hooks only where interrupts are on; the cost is one point, not a drift.
 */
#ifndef SKEIN_BPF_ACCOUNT_H
#define SKEIN_BPF_ACCOUNT_H

#include "bpf/event.h"

/* A tick that was due this long before idle began may still be pending. */
#define PENDING_NS 50000

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the number of possible CPUs, set by user space */
	__type(key, __u32);
	__type(value, struct wire_account);
} accounts SEC(".maps");

/* Number of the last grid point at or before t; points count from 1. */
static __always_inline __u64 grid_point(const struct wire_account *a, __u64 t)
{
	return t > a->origin ? (t - a->origin) / a->period : 0;
}

/* Samples come a few µs behind their point: move the grid to the earliest seen. */
static __always_inline void refine_origin(struct wire_account *a, __u64 now)
{
	__u64 phase;

	if (now < a->origin)
		return;
	phase = (now - a->origin) % a->period;
	if (a->runs == 1)
		a->origin += phase;
	else if (phase > a->period / 2)
		a->origin -= a->period - phase;
}

static __always_inline void account_sample(struct wire_account *a, __u64 now)
{
	__u64 point;

	a->runs++;
	if (!a->period)
		return;
	refine_origin(a, now);
	point = grid_point(a, now);
	if (point > a->last)
		a->last = point;
	else if (a->idle)
		a->idle--; /* fell due in idle time, delivered to what ran next */
}

static __always_inline void account_idle_sample(struct wire_account *a, __u64 now)
{
	__u64 point;

	if (!a->period) {
		a->idle++; /* no grid: what is due in idle time is what is sampled there */
		return;
	}
	if (a->idle_since)
		return; /* counted when the idle state ends */
	point = grid_point(a, now);
	if (point > a->last) {
		a->idle++;
		a->last = point;
	}
}

static __always_inline void account_idle_begin(struct wire_account *a, __u64 now)
{
	a->idle_since = now;
}

static __always_inline void account_idle_end(struct wire_account *a, __u64 now)
{
	__u64 from, to;

	if (!a->period || !a->idle_since)
		return;
	from = grid_point(a, a->idle_since - PENDING_NS);
	to = grid_point(a, now);
	a->idle_since = 0;
	if (from < a->last)
		from = a->last;
	if (to > from) {
		a->idle += to - from;
		a->last = to;
	}
}

#endif
