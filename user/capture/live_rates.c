// SPDX-License-Identifier: Apache-2.0
/*
 * The rates of a live capture. Each has an event in the trace, which is put when the rate is first
 * used, so that its samples have its period as their weight.
 */
#include <errno.h>
#include <time.h>

#include "capture/live.h"

/* Time between two readings of the helpers' CPU time, ns: a fifth of what a tick cost with each. */
#define HELPERS_INTERVAL (5 * NSEC_PER_SEC)

_Static_assert(LOWER_EVENT_ID + WIRE_RATES - 1 <= SAMPLE_EVENTS, "each rate has a place");
_Static_assert(CAPTURE_LOWER_RATES_MAX + 1 == WIRE_RATES, "rates of a capture and of a CPU");

int live_find_rates(struct live *l, struct error *err)
{
	const struct capture_options *o = &l->options;
	const struct capture_rates *rates = &o->when.rates;
	const char *name = o->event ? o->event : "cpu-clock";
	int ret = sampled_event_find(&l->clock.rates[0], name, o->frequency, o->period, err);

	if (!ret && rates->count > CAPTURE_LOWER_RATES_MAX)
		ret = error_set(err, -EINVAL, "more than %d rates", WIRE_RATES);
	for (unsigned int i = 0; !ret && i < rates->count; i++)
		ret = sampled_event_find(&l->clock.rates[i + 1], name, rates->lower[i], 0, err);
	l->clock.count = rates->count + 1;
	l->progress.frequency = l->clock.rates[0].frequency;
	return ret;
}

uint64_t live_event_of_rate(unsigned int rate)
{
	return rate ? LOWER_EVENT_ID + rate - 1 : EVENT_ID;
}

int live_rate_of_event(uint64_t event)
{
	if (event == EVENT_ID)
		return 0;
	return event >= LOWER_EVENT_ID ? (int)(event - LOWER_EVENT_ID + 1) : -1;
}

void live_set_ledger_rates(const struct live *l, struct ledger_context *c)
{
	c->rate_count = l->clock.count;
	for (unsigned int rate = 0; rate < l->clock.count; rate++)
		c->rates[rate] =
			(struct ledger_rate){live_event_of_rate(rate), l->clock.rates[rate].period};
}

static int put_event_of_rate(struct live *l, unsigned int rate, struct error *err)
{
	const struct sampled_event *of = &l->clock.rates[rate];
	const struct event e = {
		.id = live_event_of_rate(rate),
		.host = HOST_ID,
		.name = of->name,
		.unit = of->unit,
		.period = of->period,
		.frequency = of->frequency,
	};

	l->clock.described |= 1U << rate;
	return put_event(l->sink, &e, err);
}

int live_describe_rates(struct live *l, struct error *err)
{
	int ret = 0;

	l->clock.described |= 1U << l->progress.rate;
	for (unsigned int rate = 0; !ret && rate < l->clock.count; rate++)
		if (l->clock.described >> rate & 1)
			ret = put_event_of_rate(l, rate, err);
	return ret;
}

static uint64_t own_cpu_time(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

/* Return struct capture_cost.apart. */
static uint64_t time_apart_from_rate(const struct live *l)
{
	uint64_t time = l->probes.groups ? group_sums_time_spent(l->probes.groups) : 0;

	if (l->switches.array)
		time += switches_time_spent(l->switches.array);
	if (l->probes.attached)
		time += probes_time_spent(l->probes.attached);
	if (l->probes.handlers.attached)
		time += handlers_time_spent(l->probes.handlers.attached);
	return time + (l->probes.hits ? hit_stacks_time_spent(l->probes.hits) : 0);
}

/* Return the CPU time of all helpers, which is read from /proc only now and then. */
static uint64_t helpers_time(struct live *l)
{
	struct helper_cost cost = {.time_only = true};
	uint64_t now = clock_boot_ns();

	if (now < l->times.helpers_measured + HELPERS_INTERVAL)
		return l->progress.cost.helpers;
	l->times.helpers_measured = now;
	live_add_helper_cost(l, &cost);
	return cost.cpu;
}

void live_measure_cost(struct live *l)
{
	if (!l->options.when.rates.choose)
		return;
	l->progress.cost = (struct capture_cost){
		.own = own_cpu_time(),
		.helpers = helpers_time(l),
		.kernel = program_time_spent(l->program),
		.apart = time_apart_from_rate(l),
	};
}

int live_follow_rate(struct live *l, struct error *err)
{
	struct capture_progress *p = &l->progress;
	unsigned int wanted;

	if (!l->options.when.rates.choose)
		return 0;
	wanted = l->options.when.rates.choose(l->options.context, p);
	if (wanted >= l->clock.count || wanted == p->rate)
		return 0;
	p->slower += wanted > p->rate;
	p->faster += wanted < p->rate;
	p->rate = wanted;
	p->frequency = l->clock.rates[wanted].frequency;
	sampler_set_rate(l->sampler, wanted);
	l->times.pace.period = l->clock.rates[wanted].clocked ? l->clock.rates[wanted].period : 0;
	return l->clock.described >> wanted & 1 ? 0 : put_event_of_rate(l, wanted, err);
}

enum pace_source live_pace_source(const struct live *l, bool switches)
{
	if (switches)
		return PACE_ARRAYS;
	return l->options.when.tick ? PACE_TICKED_RINGS : PACE_RINGS;
}

void live_start_pace(struct live *l)
{
	const struct sampled_event *e = &l->clock.rates[0];

	pace_start(&l->times.pace, e->clocked ? e->period : 0,
		   live_pace_source(l, l->switches.schedule != NULL), l->times.started,
		   l->times.started);
}
