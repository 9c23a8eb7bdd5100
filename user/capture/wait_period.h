/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The period T of stacks of waits: a wait of length d is chosen with the probability d / T, at most
 * 1. T grows while taking stacks costs more than a budget of a CPU's time, and shrinks again. It
 * depends on the past alone, so estimates stay unbiased.
 */
#ifndef SKEIN_CAPTURE_WAIT_PERIOD_H
#define SKEIN_CAPTURE_WAIT_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/clock.h"

#define WAIT_PERIODS_MAX 64
/* Budget of taking stacks: this part of each CPU's time. */
#define WAIT_BUDGET_PART 200
/* Interval (ns) between changes of T. */
#define WAIT_ADAPT_INTERVAL (100 * NSEC_PER_MSEC)

struct wait_period {
	uint64_t list[WAIT_PERIODS_MAX]; /* ns, growing */
	unsigned int count;
	unsigned int now, most; /* numbers of T: the present one, the largest so far */
};

/* The budget of a CPU. */
struct wait_budget {
	uint64_t spent; /* at the last change, ns, since the recording began */
	int64_t saved; /* budget saved then, ns; negative: too much was spent */
};

/* least: the smallest T, ns; 0: every wait is chosen, whatever that costs. */
void wait_period_init(struct wait_period *p, uint64_t least);
void wait_budget_init(struct wait_budget *b);

/* What the budgets of all CPUs say about the next T. Zeroed: nothing yet. */
struct wait_verdict {
	unsigned int up; /* steps by which T must grow */
	bool busy; /* a CPU spends half of its budget or more */
};

/* Add the verdict of a CPU that has spent so much (ns) since the recording began. elapsed: ns. */
void wait_budget_judge(struct wait_budget *b, uint64_t spent, uint64_t elapsed,
		       struct wait_verdict *v);
/* Set the next T. */
void wait_period_apply(struct wait_period *p, const struct wait_verdict *v);

#endif
