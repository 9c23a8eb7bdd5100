// SPDX-License-Identifier: Apache-2.0
/* Random intervals between looks at the rings. */
#include "capture/pace.h"

#include "capture/clock.h"

/*
 * Mean intervals. While a program that has just begun lacks its tables, or code its name, the
 * memory in which the name stands may be gone with the next sample: two periods, within these.
 */
#define ATTENTIVE_MIN (2 * NSEC_PER_MSEC)
#define ATTENTIVE_MAX (10 * NSEC_PER_MSEC)
/*
 * While processes begin: samples of those that the walkers do not know yet come with their stacks,
 * so this is ten periods, as long as that is no longer than what follows.
 */
#define LIFE_PERIODS 10
#define LIFE_INTERVAL (100 * NSEC_PER_MSEC)
#define QUIET_INTERVAL (250 * NSEC_PER_MSEC)
/* Of a clock slower than this one random part is as good as another. */
#define PAUSE_MAX (100 * NSEC_PER_MSEC)

/* Marsaglia's xorshift (Journal of Statistical Software 8(14), 2003): the state is never 0. */
static uint64_t draw(struct pace *p, uint64_t below)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return below ? p->random % below : 0;
}

void pace_start(struct pace *p, uint64_t period, bool filling, uint64_t now, uint64_t seed)
{
	*p = (struct pace){.period = period, .filling = filling, .next = now, .random = seed | 1};
}

static uint64_t attentive_interval(const struct pace *p)
{
	uint64_t mean = 2 * p->period;

	if (!mean || mean > ATTENTIVE_MAX) /* no samples that could lack names, or few */
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

static uint64_t mean_interval(const struct pace *p, uint64_t now, enum pace_finding found)
{
	if (now < p->attentive)
		return attentive_interval(p);
	if (now < p->lively)
		return life_interval(p);
	return found == PACE_QUIET && !p->filling ? QUIET_INTERVAL : LIFE_INTERVAL;
}

void pace_looked(struct pace *p, uint64_t now, enum pace_finding found)
{
	uint64_t mean;

	/* Records must be in order before they help, so at least two looks follow a finding. */
	if (found == PACE_LACKING)
		p->attentive = now + ORDER_MARGIN + 3 * attentive_interval(p) / 2;
	if (found != PACE_QUIET)
		p->lively = now + ORDER_MARGIN + 3 * life_interval(p) / 2;
	mean = mean_interval(p, now, found);
	p->next = now + mean / 2 + draw(p, mean);
}

enum wire_sleep pace_sleeps(const struct pace *p, uint64_t now)
{
	if (now < p->attentive)
		return WIRE_AWAKE;
	return now < p->lively ? WIRE_SLEEPS_BRIEFLY : WIRE_SLEEPS_LONG;
}

uint64_t pace_pause(struct pace *p)
{
	return draw(p, p->period < PAUSE_MAX ? p->period : PAUSE_MAX);
}
