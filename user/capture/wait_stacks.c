// SPDX-License-Identifier: Apache-2.0
/* Keeps the account of stacks of waits, and the period with which they are chosen. */
#include "capture/wait_stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/wait_period.h"

/* The account of one event on one CPU. */
struct wait_account {
	uint64_t written, filtered, unknown;
	/* of waits that have not ended: those of the next report, and those whose stack was read */
	uint64_t open, open_written;
	uint64_t unread; /* of such waits, ever: without a stack */
	uint64_t lost[LOSS_COUNT]; /* as far as reported */
};

struct wait_cpu {
	struct wait_account accounts[WAIT_EVENTS];
	struct wait_budget budget;
};

struct wait_stacks {
	struct wait_stacks_context c;
	struct wait_cpu *cpus;
	unsigned int cpu_count;
	struct wait_period period;
	uint64_t adapted; /* when T was last chosen, ns */
	uint64_t reported; /* when losses were last reported, ns */
};

static void use_wait_period(struct wait_stacks *w)
{
	const struct wait_period *p = &w->period;

	switches_set_wait_period(w->c.switches, p->list[p->now] << WIRE_PERIOD_BITS | p->now);
}

int wait_stacks_new(struct wait_stacks **out, const struct wait_stacks_context *c,
		    struct error *err)
{
	struct wait_stacks *w = calloc(1, sizeof(*w));

	if (!w)
		return error_errno(err, -ENOMEM, "stacks of waits");
	w->c = *c;
	w->cpu_count = switches_cpus(c->switches);
	w->cpus = calloc(w->cpu_count, sizeof(*w->cpus));
	if (!w->cpus) {
		free(w);
		return error_errno(err, -ENOMEM, "stacks of waits");
	}
	for (unsigned int cpu = 0; cpu < w->cpu_count; cpu++)
		wait_budget_init(&w->cpus[cpu].budget);
	wait_period_init(&w->period, w->c.period);
	use_wait_period(w);
	*out = w;
	return 0;
}

void wait_stacks_free(struct wait_stacks *w)
{
	if (!w)
		return;
	free(w->cpus);
	free(w);
}

static uint64_t spent_on(const struct wait_stacks *w, unsigned int cpu)
{
	return __atomic_load_n(&switches_cpu(w->c.switches, cpu)->waits.spent, __ATOMIC_RELAXED);
}

void wait_stacks_adapt(struct wait_stacks *w, uint64_t now)
{
	struct wait_verdict v = {0};
	uint64_t elapsed = now - w->adapted;

	if (w->adapted && elapsed < WAIT_ADAPT_INTERVAL)
		return;
	for (unsigned int cpu = 0; w->adapted && cpu < w->cpu_count; cpu++)
		wait_budget_judge(&w->cpus[cpu].budget, spent_on(w, cpu), elapsed, &v);
	if (w->adapted)
		wait_period_apply(&w->period, &v);
	use_wait_period(w);
	w->adapted = now;
}

uint64_t wait_stacks_weight(const struct wait_stacks *w, const struct wire_wait *wire,
			    uint64_t length)
{
	uint64_t period = wire->period < w->period.count ? w->period.list[wire->period] : 0;

	return wire->length && wire->length < period ? period : length;
}

static struct wait_account *account_on(struct wait_stacks *w, enum wait_event event,
				       unsigned int cpu)
{
	static struct wait_account none;

	return cpu < w->cpu_count ? &w->cpus[cpu].accounts[event] : &none;
}

void wait_stacks_count_written(struct wait_stacks *w, enum wait_event event, unsigned int cpu)
{
	account_on(w, event, cpu)->written++;
}

void wait_stacks_count_filtered(struct wait_stacks *w, enum wait_event event, unsigned int cpu)
{
	account_on(w, event, cpu)->filtered++;
}

void wait_stacks_count_unknown(struct wait_stacks *w, enum wait_event event, unsigned int cpu)
{
	account_on(w, event, cpu)->unknown++;
}

void wait_stacks_count_open(struct wait_stacks *w, unsigned int cpu, enum open_wait_outcome outcome)
{
	struct wait_account *a = account_on(w, WAIT_EVENT_WAIT, cpu);

	if (outcome == OPEN_WAIT_UNREAD) {
		a->unread++;
		return;
	}
	a->open++;
	if (outcome == OPEN_WAIT_WRITTEN)
		a->open_written++;
}

void wait_stacks_drop_open(struct wait_stacks *w)
{
	for (unsigned int cpu = 0; cpu < w->cpu_count; cpu++)
		w->cpus[cpu].accounts[WAIT_EVENT_WAIT].open =
			w->cpus[cpu].accounts[WAIT_EVENT_WAIT].open_written = 0;
}

/*
 * Fill the numbers of stacks lost so far, by reason. Return how many were to be taken on the CPU,
 * or would have been if their place had not been taken.
 */
static uint64_t count_losses(const struct wait_stacks *w, enum wait_event event, unsigned int cpu,
			     uint64_t lost[LOSS_COUNT])
{
	const struct wire_cpu_waits *c = &switches_cpu(w->c.switches, cpu)->waits;

	const struct wait_account *a = &w->cpus[cpu].accounts[event];

	lost[LOSS_WAIT_UNKNOWN] = a->unknown;
	lost[LOSS_WAIT_NOT_READ] = a->unread;
	lost[LOSS_NOT_STORED] =
		sink_unstored(w->c.sink, KIND_SAMPLE, sample_place(w->c.events[event], cpu));
	if (event == WAIT_EVENT_WAKER) {
		lost[LOSS_WAIT_MISSED] = c->wakers_missed;
		lost[LOSS_RING_FULL] = c->wakers_ring_full;
		return c->wakers_asked;
	}
	lost[LOSS_WAIT_MISSED] = c->missed;
	lost[LOSS_WAIT_DISPLACED] = c->displaced;
	lost[LOSS_RING_FULL] = c->ring_full;
	return c->asked + c->displaced + a->open + a->unread;
}

static int put_wait_loss(struct wait_stacks *w, const struct loss *of, uint64_t count,
			 struct error *err)
{
	struct loss r = *of;

	if (!count)
		return 0;
	r.id = ++*w->c.last_loss;
	r.count = count;
	return put_loss(w->c.sink, &r, err);
}

/* A report of accounts at a time. */
struct wait_report {
	uint64_t now; /* ns */
	bool final; /* recording has ended: what was still to be taken is cut off */
};

static int report_account(struct wait_stacks *w, enum wait_event event, unsigned int cpu,
			  const struct wait_report *at, struct error *err)
{
	struct wait_account *a = &w->cpus[cpu].accounts[event];
	uint64_t lost[LOSS_COUNT] = {0}, known;
	struct account r = {
		.event = w->c.events[event],
		.cpu = cpu,
		.due = count_losses(w, event, cpu, lost),
		.written = a->written + a->open_written,
		.filtered = a->filtered,
	};
	int ret = 0;

	if (!r.due)
		return 0;
	r.written -= lost[LOSS_NOT_STORED];
	known = r.written + r.filtered;
	for (int reason = 1; !ret && reason < LOSS_COUNT; reason++) {
		const struct loss of = {
			.host = w->c.host,
			.event = w->c.events[event],
			.cpu = cpu + 1,
			.reason = (enum loss_reason)reason,
			.time = w->reported,
			.end = at->now,
		};

		known += lost[reason];
		ret = put_wait_loss(w, &of, lost[reason] - a->lost[reason], err);
		a->lost[reason] = lost[reason];
	}
	r.cut_off = at->final && r.due > known ? r.due - known : 0;
	return ret ? ret : put_account(w->c.sink, &r, err);
}

int wait_stacks_report(struct wait_stacks *w, uint64_t now, bool final, struct error *err)
{
	const struct wait_report at = {now, final};
	int ret = 0;

	if (!w->reported)
		w->reported = now;
	for (unsigned int cpu = 0; !ret && cpu < w->cpu_count; cpu++)
		for (int event = 0; !ret && event < WAIT_EVENTS; event++)
			ret = report_account(w, (enum wait_event)event, cpu, &at, err);
	w->reported = now;
	return ret;
}

void wait_stacks_get_summary(const struct wait_stacks *w, struct wait_stacks_summary *out)
{
	*out = (struct wait_stacks_summary){
		.period_least = w->period.list[0],
		.period_most = w->period.list[w->period.most],
	};
	for (unsigned int cpu = 0; cpu < w->cpu_count; cpu++) {
		uint64_t lost[LOSS_COUNT] = {0};

		(void)count_losses(w, WAIT_EVENT_WAIT, cpu, lost);
		out->chosen += switches_cpu(w->c.switches, cpu)->waits.chosen;
		for (int reason = 1; reason < LOSS_COUNT; reason++)
			out->lost += lost[reason];
		out->written += w->cpus[cpu].accounts[WAIT_EVENT_WAIT].written;
		out->open += w->cpus[cpu].accounts[WAIT_EVENT_WAIT].open_written;
		out->wakers += w->cpus[cpu].accounts[WAIT_EVENT_WAKER].written;
		out->spent += spent_on(w, cpu);
	}
}
