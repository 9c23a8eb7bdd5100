// SPDX-License-Identifier: Apache-2.0
/* Chooses the period T of stacks of waits (wait_period.h). */
#include "capture/wait_period.h"

/* Maximum of T, ns. The BPF programs take T below 2^32 ns. */
#define PERIOD_MAX (4 * NSEC_PER_SEC)
/*
 * Budget (ns) that a CPU may save for later. Within it, waits that come all at once do not change
 * T, which would make the stacks of the calm time after them weigh more.
 */
#define SAVED_MAX ((int64_t)(NSEC_PER_SEC / WAIT_BUDGET_PART))

/* Each T is the one before times the square root of 2, 1.41421356. */
void wait_period_init(struct wait_period *p, uint64_t least)
{
	uint64_t t = least;

	*p = (struct wait_period){.list = {least}, .count = 1};
	while (t && p->count < WAIT_PERIODS_MAX) {
		t = p->count % 2 ? p->list[p->count - 1] * 141421356 / 100000000
				 : 2 * p->list[p->count - 2];
		if (t > PERIOD_MAX)
			break;
		p->list[p->count++] = t;
	}
}

void wait_budget_init(struct wait_budget *b)
{
	*b = (struct wait_budget){.saved = SAVED_MAX};
}

/* Return the number of steps by which T must grow so that no more than the budget is spent. */
static unsigned int steps_to_budget(uint64_t spent, uint64_t budget)
{
	unsigned int steps = 0;

	for (; spent > budget && steps < WAIT_PERIODS_MAX; steps++)
		spent = spent * 100000000 / 141421356;
	return steps;
}

void wait_budget_judge(struct wait_budget *b, uint64_t spent, uint64_t elapsed,
		       struct wait_verdict *v)
{
	uint64_t budget = elapsed / WAIT_BUDGET_PART, since = spent - b->spent;
	unsigned int steps = steps_to_budget(since, budget);

	b->spent = spent;
	b->saved += (int64_t)budget - (int64_t)since;
	if (b->saved > SAVED_MAX)
		b->saved = SAVED_MAX;
	if (b->saved < -SAVED_MAX)
		b->saved = -SAVED_MAX;
	if (b->saved < 0 && steps > v->up)
		v->up = steps;
	v->busy |= since >= budget / 2;
}

void wait_period_apply(struct wait_period *p, const struct wait_verdict *v)
{
	p->now += v->up;
	if (p->now >= p->count)
		p->now = p->count - 1;
	if (!v->up && !v->busy && p->now)
		p->now--;
	if (p->now > p->most)
		p->most = p->now;
}
