// SPDX-License-Identifier: Apache-2.0
/* Random intervals between reads of the rings. */
#include "capture/pace.h"

#include "capture/clock.h"

/*
 * Bounds (ns) of the mean interval while data are missing that may soon be gone: tables of a
 * program that has just begun, or names of Python code, whose memory may be reused before the next
 * sample. Within these bounds, the mean interval is two periods of the sampling clock.
 */
#define ATTENTIVE_MIN (2 * NSEC_PER_MSEC)
#define ATTENTIVE_MAX (10 * NSEC_PER_MSEC)
/*
 * Mean interval while processes begin, map files or end: ten periods of the sampling clock, from
 * ATTENTIVE_MIN to LIFE_INTERVAL (ns). Samples of a process that the walkers do not know yet carry
 * a copy of the stack, so they must not accumulate.
 */
#define LIFE_PERIODS 10
#define LIFE_INTERVAL (100 * NSEC_PER_MSEC)
/*
 * Mean interval otherwise: eight periods of the sampling clock, within these bounds (ns). At low
 * rates a read finds few samples: at 19 Hz on two CPUs, ten in 250 ms.
 */
#define QUIET_PERIODS 8
#define QUIET_INTERVAL (250 * NSEC_PER_MSEC)
#define QUIET_MAX (400 * NSEC_PER_MSEC)
/*
 * Mean interval (ns) of a recorder whose ticks, about one a second, read the rings: longer than
 * from one tick to the next, since every read is a wake-up. What cannot wait wakes the recorder.
 */
#define TICKED_INTERVAL (4 * NSEC_PER_SEC)
/*
 * Upper bound (ns) of the pause after a wake-up by a sample. If the period of the sampling clock is
 * longer, a random part of this bound is sufficient.
 */
#define PAUSE_MAX (100 * NSEC_PER_MSEC)

/* Marsaglia's xorshift (Journal of Statistical Software 8(14), 2003); the state is never 0. */
static uint64_t random_below(struct pace *p, uint64_t below)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return below ? p->random % below : 0;
}

void pace_start(struct pace *p, uint64_t period, enum pace_source source, uint64_t now,
		uint64_t seed)
{
	*p = (struct pace){.period = period, .source = source, .next = now, .random = seed | 1};
}

static uint64_t attentive_interval(const struct pace *p)
{
	uint64_t mean = 2 * p->period;

	/* No samples, or only few, can lack names. */
	if (!mean || mean > ATTENTIVE_MAX)
		return ATTENTIVE_MAX;
	return mean > ATTENTIVE_MIN ? mean : ATTENTIVE_MIN;
}

static uint64_t life_interval(const struct pace *p)
{
	uint64_t mean = LIFE_PERIODS * p->period;

	if (!mean || mean > LIFE_INTERVAL)
		return LIFE_INTERVAL;
	return mean > ATTENTIVE_MIN ? mean : ATTENTIVE_MIN;
}

static uint64_t quiet_interval(const struct pace *p)
{
	uint64_t mean = QUIET_PERIODS * p->period;

	if (p->source == PACE_ARRAYS)
		return LIFE_INTERVAL;
	if (p->source == PACE_TICKED_RINGS)
		return TICKED_INTERVAL;
	if (mean < QUIET_INTERVAL)
		return QUIET_INTERVAL;
	return mean < QUIET_MAX ? mean : QUIET_MAX;
}

static uint64_t mean_interval(const struct pace *p, uint64_t now, enum pace_finding found)
{
	if (now < p->attentive)
		return attentive_interval(p);
	if (now < p->lively)
		return life_interval(p);
	return found == PACE_QUIET ? quiet_interval(p) : LIFE_INTERVAL;
}

void pace_rings_read(struct pace *p, uint64_t now, enum pace_finding found)
{
	uint64_t mean;

	/*
	 * A record takes effect only once it is in order, ORDER_MARGIN later, so the short
	 * intervals last until a read after that. An interval has at most 3/2 of its mean.
	 */
	if (found == PACE_LACKING)
		p->attentive = now + ORDER_MARGIN + 3 * attentive_interval(p) / 2;
	if (found != PACE_QUIET)
		p->lively = now + ORDER_MARGIN + 3 * life_interval(p) / 2;
	mean = mean_interval(p, now, found);
	p->next = now + mean / 2 + random_below(p, mean);
}

enum wire_sleep pace_sleep_kind(const struct pace *p, uint64_t now)
{
	if (now < p->attentive)
		return WIRE_AWAKE;
	return now < p->lively ? WIRE_SLEEPS_BRIEFLY : WIRE_SLEEPS_LONG;
}

uint64_t pace_pause(struct pace *p)
{
	return random_below(p, p->period < PAUSE_MAX ? p->period : PAUSE_MAX);
}
