/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What became of the samples due on a CPU. The clock of cpu-clock is a timer
 * on a fixed grid (origin + n * period) that ticks through idle time, but
 * whether an idle tick reaches the program depends on the idle state. So idle
 * is counted as grid points between the idle hooks, each point once: last is
 * the number of the last point accounted for.
 *
 * A tick that comes late covers all points since the last one: the kernel moves its timer on to
 * the next point in the future. The time that the host has taken says how many of them were stolen;
 * and points that passed before a tick that came in time had ticks of their own, for
 * which the kernel did not run the program (bpf() calls, throttling).
 *
 * One CPU's entry is only touched on that CPU. A sample can interrupt the idle
 * hooks only where interrupts are on; the cost is one point, not a drift.
 */
#ifndef SKEIN_BPF_ACCOUNT_H
#define SKEIN_BPF_ACCOUNT_H

#include "bpf/event.h"

/* A tick may be this late, ns, on a machine that nobody disturbs: measured in virtual machines. */
#define TICK_LATENCY 50000
/* Samples after which the grid is compared with what they say of it. */
#define GRID_WINDOW 64
/* ns by which samples may seem to come before their point. */
#define GRID_EARLY 50000

/* Number of the last grid point at or before t; points count from 1. */
static __always_inline __u64 grid_point(const struct wire_account *a, __u64 t)
{
	return t > a->origin ? (t - a->origin) / a->period : 0;
}

/*
 * Samples come after their point, some µs late or much later. What comes a little before a point
 * shows that the grid was thought to be too late. It is moved on only if all samples of a window
 * were late: a clock that was throttled ticks on another grid when it goes on.
 */
static __always_inline void refine_origin(struct wire_account *a, __u64 now)
{
	__u64 lag = (now - a->origin) % a->period, early = a->period - lag;

	if (early <= GRID_EARLY && early < a->period / 4) {
		a->origin -= early;
		lag = 0;
	}
	if (!a->lags || lag < a->lag)
		a->lag = lag;
	if (++a->lags < GRID_WINDOW)
		return;
	if (a->lag > TICK_LATENCY)
		a->origin += a->lag;
	a->lags = 0;
}

/*
 * How many of the last points were stolen, of a tick that is so late (ns). The time that was taken
 * is the measure, not the lateness: what is no whole period is carried on to the next late tick, or
 * to any tick if it has become two periods. So the periods stolen are the time stolen.
 */
static __always_inline __u64 stolen_points(struct wire_account *a, __u64 points, __u64 late)
{
	__s64 period = a->period, taken;

	if (2 * a->debt < period || (late <= TICK_LATENCY && a->debt < 2 * period))
		return 0;
	taken = (__u64)(a->debt + a->period / 2) / a->period;
	if (taken > (__s64)points)
		taken = points;
	a->debt -= taken * period;
	a->stolen += taken;
	return taken;
}

/*
 * Account for the grid points up to point, at which a tick arrives at now. Returns whether it is a
 * sample: time that was stolen is nobody's here.
 */
static __always_inline int account_points(struct wire_account *a, __u64 point, __u64 now)
{
	__u64 due = a->origin + (a->last + 1) * a->period; /* ns: the first of these points */
	__u64 points = point - a->last;

	a->last = point;
	points -= stolen_points(a, points, now - due);
	if (!points) {
		a->runs--;
		return 0;
	}
	if ((now - a->origin) % a->period > TICK_LATENCY)
		a->delayed += points - 1;
	else
		a->skipped += points - 1;
	return 1;
}

/* Time that the host takes from an idle CPU is taken from nobody. steal: ns, ever. */
static __always_inline void account_steal(struct wire_account *a, __u64 steal, int idle)
{
	if (a->steal && !idle)
		a->debt += steal - a->steal;
	a->steal = steal;
}

/*
 * A tick whose point is accounted for already: the point was taken for idle, and its tick was still
 * pending, or the tick before it came so late that it seemed to be this one. Every tick has a point
 * of its own, so what was counted in its place is taken back: the sum stays one for each point.
 */
static __always_inline void take_back(struct wire_account *a)
{
	if (a->idle)
		a->idle--;
	else if (a->delayed)
		a->delayed--;
	else if (a->skipped)
		a->skipped--;
}

/* A tick that hit a thread at now. Returns whether it is a sample. */
static __always_inline int account_sample(struct wire_account *a, __u64 now, __u64 steal)
{
	__u64 point;

	a->runs++;
	if (!a->period)
		return 1;
	account_steal(a, steal, 0);
	if (now < a->origin)
		return 1; /* the clock of stamps was read late when this one was started */
	refine_origin(a, now);
	point = grid_point(a, now);
	if (point > a->last)
		return account_points(a, point, now);
	take_back(a);
	return 1;
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

static __always_inline void account_idle_end(struct wire_account *a, __u64 now, __u64 steal)
{
	__u64 from, to;

	if (!a->period || !a->idle_since)
		return;
	account_steal(a, steal, 1);
	from = grid_point(a, a->idle_since - TICK_LATENCY);
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
