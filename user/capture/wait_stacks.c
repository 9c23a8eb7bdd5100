// SPDX-License-Identifier: Apache-2.0
/* Chooses the period T of stacks of waits, and keeps their account. */
#include "capture/wait_stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/clock.h"

/* Budget of taking stacks: this part of each CPU's time. */
#define BUDGET_PART 200
/* Interval (ns) between changes of T. */
#define ADAPT_INTERVAL (100 * NSEC_PER_MSEC)
/* Each T is the one before times the square root of 2; the BPF programs take T below 2^32 ns. */
#define PERIODS_MAX 64
#define PERIOD_MAX (4 * NSEC_PER_SEC)

/* The account of one event on one CPU. */
struct wait_account {
	uint64_t written, filtered, unknown;
	uint64_t lost[LOSS_COUNT]; /* as far as reported */
};

struct wait_cpu {
	struct wait_account accounts[WAIT_EVENTS];
	uint64_t spent; /* when T was last chosen, ns */
};

struct wait_stacks {
	struct wait_stacks_context c;
	struct wait_cpu *cpus;
	unsigned int cpu_count;
	uint64_t periods[PERIODS_MAX]; /* ns, growing */
	unsigned int period_count;
	unsigned int now, most; /* numbers of T: the present one, the largest so far */
	uint64_t adapted; /* when T was last chosen, ns */
	uint64_t reported; /* when losses were last reported, ns */
};

/* Fill the list of periods. Source of the factor: sqrt(2) = 1.41421356. */
static void list_periods(struct wait_stacks *w)
{
	uint64_t t = w->c.period;

	w->periods[w->period_count++] = t;
	while (t && w->period_count < PERIODS_MAX) {
		t = w->period_count % 2 ? w->periods[w->period_count - 1] * 141421356 / 100000000
					: 2 * w->periods[w->period_count - 2];
		if (t > PERIOD_MAX)
			break;
		w->periods[w->period_count++] = t;
	}
}

static void use_wait_period(struct wait_stacks *w, unsigned int number)
{
	w->now = number;
	w->most = number > w->most ? number : w->most;
	switches_set_wait_period(w->c.switches, w->periods[number] << WIRE_PERIOD_BITS | number);
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
	list_periods(w);
	use_wait_period(w, 0);
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

/*
 * Return the number of the period after one in which the busiest CPU spent part of its time: larger
 * by as many steps as it exceeds the budget, or one smaller if it spent less than half of it.
 */
static unsigned int next_period(const struct wait_stacks *w, uint64_t spent, uint64_t elapsed)
{
	uint64_t budget = elapsed / BUDGET_PART;
	unsigned int number = w->now;

	if (spent < budget / 2)
		return number ? number - 1 : 0;
	for (; spent > budget && number + 1 < w->period_count; number++)
		spent = spent * 100000000 / 141421356;
	return number;
}

void wait_stacks_adapt(struct wait_stacks *w, uint64_t now)
{
	uint64_t elapsed = now - w->adapted, most = 0;

	if (w->adapted && elapsed < ADAPT_INTERVAL)
		return;
	for (unsigned int cpu = 0; cpu < w->cpu_count; cpu++) {
		uint64_t spent = spent_on(w, cpu), since = spent - w->cpus[cpu].spent;

		w->cpus[cpu].spent = spent;
		most = since > most ? since : most;
	}
	if (w->adapted)
		use_wait_period(w, next_period(w, most, elapsed));
	w->adapted = now;
}

uint64_t wait_stacks_weight(const struct wait_stacks *w, const struct wire_wait *wire,
			    uint64_t length)
{
	uint64_t period = wire->period < w->period_count ? w->periods[wire->period] : 0;

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

/*
 * Fill the numbers of stacks lost so far, by reason. Return how many were to be taken on the CPU,
 * or would have been if their place had not been taken.
 */
static uint64_t count_losses(const struct wait_stacks *w, enum wait_event event, unsigned int cpu,
			     uint64_t lost[LOSS_COUNT])
{
	const struct wire_cpu_waits *c = &switches_cpu(w->c.switches, cpu)->waits;

	lost[LOSS_WAIT_UNKNOWN] = w->cpus[cpu].accounts[event].unknown;
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
	return c->asked + c->displaced;
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
		.written = a->written,
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
		.period_least = w->periods[0],
		.period_most = w->periods[w->most],
	};
	for (unsigned int cpu = 0; cpu < w->cpu_count; cpu++) {
		uint64_t lost[LOSS_COUNT] = {0};

		(void)count_losses(w, WAIT_EVENT_WAIT, cpu, lost);
		out->chosen += switches_cpu(w->c.switches, cpu)->waits.chosen;
		for (int reason = 1; reason < LOSS_COUNT; reason++)
			out->lost += lost[reason];
		out->written += w->cpus[cpu].accounts[WAIT_EVENT_WAIT].written;
		out->wakers += w->cpus[cpu].accounts[WAIT_EVENT_WAKER].written;
		out->spent += spent_on(w, cpu);
	}
}
