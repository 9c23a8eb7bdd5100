/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the sampling rate of the service, so that it stays within its budget of CPU time. It is
 * given only measurements, and has no clock of its own.
 *
 * - Down: as soon as the cost of a window of GOVERNOR_WINDOW is certain to exceed the budget, by
 *   one rate. The window begins anew then, so that the new rate is judged by its own cost.
 * - Up: by one rate, after a calm time, in which every window would have cost at most
 *   GOVERNOR_MARGIN of the budget at the higher rate. All cost counts as caused by samples there,
 *   which is an upper bound.
 * - A step up that has to be taken back within GOVERNOR_AGAIN doubles the calm time, up to
 *   GOVERNOR_CALM_MOST; so a load for which two rates alternate changes them ever less.
 * - The cost of the start does not count: for GOVERNOR_GRACE, files of the programs that run are
 *   read, once. What that costs does not depend on the rate, and no step down would make it less.
 * - What does not depend on the rate (governor_point.apart) counts, but the rate stays if all else
 *   is at most GOVERNOR_SMALL of the budget: a lower one would save hardly anything.
 * - Someone else may want a lower rate, such as the budget of memory: governor_hold().
 * - At the lowest rate nothing is left to reduce: governor.exceeded is set. Sampling goes on, since
 *   what is over the budget there comes from following processes and naming code, not from samples.
 */
#ifndef SKEIN_SERVE_GOVERNOR_H
#define SKEIN_SERVE_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#define GOVERNOR_RATES 8 /* at most */
#define GOVERNOR_SECOND 1000000000ULL
#define GOVERNOR_GRACE (20 * GOVERNOR_SECOND)
#define GOVERNOR_WINDOW (20 * GOVERNOR_SECOND)
#define GOVERNOR_CALM (60 * GOVERNOR_SECOND)
#define GOVERNOR_CALM_MOST (3600 * GOVERNOR_SECOND)
#define GOVERNOR_AGAIN (600 * GOVERNOR_SECOND)
#define GOVERNOR_MARGIN 80 /* % */
#define GOVERNOR_SMALL 20 /* % */
/* Measurements in a window: one a second, and some more if they come faster. */
#define GOVERNOR_POINTS 32

struct governor_point {
	uint64_t time, cost; /* ns; cost: CPU time since the beginning */
	uint64_t apart; /* ns of it: what does not depend on the rate */
};

struct governor {
	uint64_t budget; /* ns of CPU time per second; 0: no limit */
	uint64_t rates[GOVERNOR_RATES]; /* Hz, from high to low */
	unsigned int count, rate; /* of rates; index of the present one */
	unsigned int least; /* index of the highest rate that is allowed */
	uint64_t clamps; /* steps down for the budget so far */
	bool exceeded; /* it costs more than the budget, and no lower rate would help */
	uint64_t share; /* cost of the last window, ns per second */
	uint64_t started; /* first measurement, ns; 0: there was none */
	uint64_t calm_since, calm; /* ns: since when it is calm, and how long it has to be */
	uint64_t last_up; /* time of the last step up, ns; 0: a step down came since */
	/* measurements of the present window, a ring; the oldest at first */
	struct governor_point points[GOVERNOR_POINTS];
	unsigned int first, used;
};

/*
 * Prepare a governor for a budget (ns per second; 0: no limit) and a frequency, Hz: the highest
 * rate. The lower ones are fixed; with no limit there are none.
 */
void governor_init(struct governor *g, uint64_t budget, uint64_t frequency);

/* Have the lower rates without a limit, for governor_hold(). */
void governor_add_rates(struct governor *g);

/* Take a measurement. Call this about once a second. Return the index of the rate from now on. */
unsigned int governor_step(struct governor *g, const struct governor_point *now);

/* Allow no rate above that of an index, from the next measurement on. */
void governor_hold(struct governor *g, unsigned int least);

#endif
