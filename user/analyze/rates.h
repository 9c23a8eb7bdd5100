/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rates at which a profile was sampled. A recording may change its rate: each is an event of
 * its own in the trace, with a period of its own. A profile takes all of one name as one event
 * (profile_event_like()), whose weights add up; only the accounts have the rate of each.
 */
#ifndef SKEIN_ANALYZE_RATES_H
#define SKEIN_ANALYZE_RATES_H

#include "analyze/profile.h"

/* Goes through the accounts of an event and of all like it. Set the first two members. */
struct event_accounts {
	const struct profile *profile;
	uint32_t event; /* index: the first of those like it */
	uint32_t at; /* index of the next account */
	uint32_t of; /* index of the event of the last account, whether like it or not */
	bool like; /* that event is like it */
};

/* Return the next account, whose own event has the index event_accounts.of; NULL: none is left. */
const struct account *event_accounts_next(struct event_accounts *a);

#define SAMPLED_RATES_MAX 16

struct sampled_rate {
	uint64_t frequency, period; /* as in struct event */
	uint64_t due; /* samples */
	uint64_t time; /* ns for which the CPUs were sampled at this rate, all added up */
	uint32_t accounts; /* CPUs that were */
};

/* The rates of an event at which samples were due, from high to low; if there are too many, some */
struct sampled_rates {
	struct sampled_rate list[SAMPLED_RATES_MAX];
	unsigned int count;
	uint64_t time; /* ns, of all */
	uint64_t sampled, lost; /* weights of the samples that came, and of those that are lost */
	uint32_t cpus; /* the most CPUs of one rate */
};

void rates_of_event(struct sampled_rates *out, const struct profile *p, uint32_t event);

#endif
