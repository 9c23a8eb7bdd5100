// SPDX-License-Identifier: Apache-2.0
/* Find the rates of an event (rates.h). */
#include "analyze/rates.h"

#include <stdlib.h>

/* Find the event of an account; accounts of one event mostly follow each other. */
static void find_account_event(struct event_accounts *a, uint64_t id)
{
	const struct profile *p = a->profile;

	if (a->at && a->of < p->count.events && p->events[a->of].id == id)
		return;
	for (a->of = 0; a->of < p->count.events && p->events[a->of].id != id;)
		a->of++;
	a->like = a->of < p->count.events && a->event < p->count.events &&
		  profile_event_like(p, a->of) == profile_event_like(p, a->event);
}

const struct account *event_accounts_next(struct event_accounts *a)
{
	while (a->at < a->profile->count.accounts) {
		const struct account *account = &a->profile->accounts[a->at];

		find_account_event(a, account->event);
		a->at++;
		if (a->like)
			return account;
	}
	return NULL;
}

/* Return the entry of an event's rate, which is made if there is none; NULL: no room. */
static struct sampled_rate *rate_of(struct sampled_rates *r, const struct event *e)
{
	for (unsigned int i = 0; i < r->count; i++)
		if (r->list[i].period == e->period && r->list[i].frequency == e->frequency)
			return &r->list[i];
	if (r->count == SAMPLED_RATES_MAX)
		return NULL;
	r->list[r->count] = (struct sampled_rate){.frequency = e->frequency, .period = e->period};
	return &r->list[r->count++];
}

static int compare_rates(const void *a, const void *b)
{
	const struct sampled_rate *x = a, *y = b;

	return (x->period > y->period) - (x->period < y->period);
}

/* Add the losses of an event, which are those of all like it. */
static void add_lost_weights(struct sampled_rates *r, const struct profile *p, uint32_t event)
{
	for (uint32_t i = 0; i < p->count.losses; i++) {
		const struct loss *l = &p->losses[i];

		if (l->event == p->events[profile_event_like(p, event)].id &&
		    loss_reason_is_due(l->reason) && l->reason != LOSS_STOLEN)
			r->lost += l->weight;
	}
}

void rates_of_event(struct sampled_rates *out, const struct profile *p, uint32_t event)
{
	struct event_accounts found = {.profile = p, .event = event};
	const struct account *a;

	*out = (struct sampled_rates){.count = 0};
	while ((a = event_accounts_next(&found))) {
		const struct event *e = &p->events[found.of];
		struct sampled_rate *rate = a->due ? rate_of(out, e) : NULL;

		if (!rate)
			continue;
		rate->due += a->due;
		rate->time += a->due * e->period;
		rate->accounts++;
		out->time += a->due * e->period;
		out->sampled += (a->written + a->filtered) * e->period;
		if (rate->accounts > out->cpus)
			out->cpus = rate->accounts;
	}
	if (event < p->count.events)
		add_lost_weights(out, p, event);
	qsort(out->list, out->count, sizeof(out->list[0]), compare_rates);
}
