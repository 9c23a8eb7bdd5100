/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Accounting of the samples due on a CPU. cpu-clock is driven by a timer on a fixed grid (origin +
 * n * period) that also ticks in idle time, but whether an idle tick reaches the BPF program
 * depends on the idle state. Idle periods are therefore counted as the grid points between the
 * hooks at the beginning and the end of idle time, each point once: wire_account.last is the number
 * of the last point accounted for. All times here are of CLOCK_MONOTONIC, as the timer's are: it
 * stands still while the machine is suspended.
 *
 * A late tick covers all points since the previous tick, because the kernel moves its timer on to
 * the next point in the future. The time that the host has taken (steal time) gives the number of
 * these points that were stolen. Points that passed before a tick that came in time had ticks of
 * their own, for which the kernel did not run the program (during bpf() calls, or because of
 * throttling).
 *
 * The BPF programs access a CPU's entry only on that CPU. A sample can interrupt the idle hooks
 * only where interrupts are on; each such case miscounts one point at most, and the errors do not
 * accumulate.
 *
 * Of several rates each has an event, which keeps its place within a period while it is disabled,
 * and an account, whose grid goes on where it stopped: origin is the time at which the event would
 * have been enabled first if it had never been disabled. Idle time is of the CPU: the idle hooks
 * count it for the event that is enabled when it ends, user space for one that it disables.
 */
#ifndef SKEIN_BPF_ACCOUNT_H
#define SKEIN_BPF_ACCOUNT_H

#include "bpf/event.h"

/* A tick more than this after its grid point, ns, counts as late; measured in virtual machines. */
#define TICK_LATENCY 50000
/* Number of samples after which the origin of the grid is checked against their delays. */
#define GRID_WINDOW 64
/* Largest time, ns, by which a sample may seem to come before its grid point. */
#define GRID_EARLY 50000

/* Return the number of the last grid point at or before t (ns); point 0 is the origin. */
static __always_inline __u64 grid_point(const struct wire_account *a, __u64 t)
{
	return t > a->origin ? (t - a->origin) / a->period : 0;
}

/*
 * Adjust the origin of the grid to a sample at now (ns). Samples come after their point, some µs
 * late or much later. A sample a little before a point shows that the assumed grid is too late. The
 * grid is moved to a later time only if all samples of a window were late: a clock that was
 * throttled ticks on another grid when it continues.
 */
static __always_inline void refine_grid_origin(struct wire_account *a, __u64 now)
{
	__u64 lag = (now - a->origin) % a->period, early = a->period - lag;

	if (early <= GRID_EARLY && early < a->period / 4) {
		a->origin -= early;
		lag = 0;
	}
	if (!a->lag_samples || lag < a->lag)
		a->lag = lag;
	if (++a->lag_samples < GRID_WINDOW)
		return;
	if (a->lag > TICK_LATENCY)
		a->origin += a->lag;
	a->lag_samples = 0;
}

/*
 * Return how many of the points since the previous tick were stolen, and count them. late: ns from
 * the first of these points to the tick. The measure is the stolen time (debt, rounded to whole
 * periods), not the delay. The remainder is carried over to the next late tick, or to any tick once
 * it has reached two periods, so that the stolen periods add up to the stolen time.
 */
static __always_inline __u64 count_stolen_points(struct wire_account *a, __u64 points, __u64 late)
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
 * Account for the grid points up to point, for a tick that arrives at now (ns). Return 1 if the
 * tick is a sample, 0 if all points were stolen: stolen time belongs to no thread of this machine.
 */
static __always_inline int account_points(struct wire_account *a, __u64 point, __u64 now)
{
	/* time of the first grid point that is not accounted for yet, ns */
	__u64 due = a->origin + (a->last + 1) * a->period;
	__u64 points = point - a->last;

	a->last = point;
	points -= count_stolen_points(a, points, now - due);
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

/*
 * Add the time stolen since the last reading to the debt, unless the CPU was idle since (idle).
 * steal: total ns since boot; 0: not known.
 */
static __always_inline void account_steal(struct wire_account *a, __u64 steal, int idle)
{
	if (a->steal && !idle)
		a->debt += steal - a->steal;
	a->steal = steal;
}

/*
 * Handle a tick whose point is already accounted for: the point was counted as idle while its tick
 * was still pending, or the tick before was so late that it was taken for the tick of this point.
 * This tick becomes a sample, so one count is taken back, and each point stays counted once. Under
 * which count the point is included is not recorded; idle is tried first.
 */
static __always_inline void uncount_point(struct wire_account *a)
{
	if (a->idle)
		a->idle--;
	else if (a->delayed)
		a->delayed--;
	else if (a->skipped)
		a->skipped--;
}

/*
 * Account for a tick that hit a thread at now (ns). Return 1 if the tick is a sample, 0 if all its
 * points were stolen. steal: total ns since boot; 0: not known.
 */
static __always_inline int account_sample(struct wire_account *a, __u64 now, __u64 steal)
{
	__u64 point;

	a->runs++;
	if (!a->period)
		return 1;
	account_steal(a, steal, 0);
	if (now < a->origin)
		return 1; /* the clock was started before origin was read */
	refine_grid_origin(a, now);
	point = grid_point(a, now);
	if (point > a->last)
		return account_points(a, point, now);
	uncount_point(a);
	return 1;
}

/* Return the account of the event that is enabled on a CPU. */
static __always_inline struct wire_account *clock_account(struct wire_clock *c)
{
	return &c->accounts[c->rate & (WIRE_RATES - 1)];
}

/* Account for a tick at now (ns) that hit the idle thread and is not sampled. */
static __always_inline void account_idle_sample(struct wire_clock *c, __u64 now)
{
	struct wire_account *a = clock_account(c);
	__u64 point;

	if (!a->period) {
		/* without a grid, only the idle ticks that reach the program can be counted */
		a->idle++;
		return;
	}
	if (c->idle_since)
		return; /* account_idle_end() counts the point */
	point = grid_point(a, now);
	if (point > a->last) {
		a->idle++;
		a->last = point;
	}
}

/* Note that the CPU becomes idle at now (ns). */
static __always_inline void account_idle_begin(struct wire_clock *c, __u64 now)
{
	c->idle_since = now;
}

/*
 * Account for the grid points of the idle time that ends at now (ns). The point of a tick that is
 * still pending when idle time begins is counted as idle. steal: total ns since boot.
 */
static __always_inline void account_idle_end(struct wire_clock *c, __u64 now, __u64 steal)
{
	struct wire_account *a = clock_account(c);
	__u64 from, to, since = c->idle_since;

	c->idle_since = 0;
	if (!a->period || !since)
		return;
	account_steal(a, steal, 1);
	from = grid_point(a, since - TICK_LATENCY);
	to = grid_point(a, now);
	if (from < a->last)
		from = a->last;
	if (to > from) {
		a->idle += to - from;
		a->last = to;
	}
}

#endif
