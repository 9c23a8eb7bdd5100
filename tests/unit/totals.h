/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of a profile. */
#ifndef SKEIN_TESTS_TOTALS_H
#define SKEIN_TESTS_TOTALS_H

#include "analyze/profile.h"

struct totals {
	uint64_t count, weight;
};

/* Return the totals of the first event. */
static inline struct totals totals_of(const struct profile *p)
{
	struct totals t;

	profile_event_total(p, 0, &t.count, &t.weight);
	return t;
}

#endif
