// SPDX-License-Identifier: Apache-2.0
/*
 * Divide what is left of a memory budget among the helpers that keep names (memory_budget.h),
 * before they have it: a step that is taken when it is too much comes up to a measurement late.
 */
#include <string.h>

#include "serve/memory_budget.h"

/* One helper may have at most a part of the budget, as if two had all of it. */
#define PART_OF_ONE 2

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Divide room fairly: no share is above its want, and none above another that is below its want.
 * Return what is left.
 */
static uint64_t divide(const uint64_t *wants, uint64_t *shares, unsigned int count, uint64_t room)
{
	unsigned int hungry = count;

	memset(shares, 0, count * sizeof(*shares));
	while (hungry && room >= hungry) {
		const uint64_t part = room / hungry;

		hungry = 0;
		for (unsigned int i = 0; i < count; i++) {
			const uint64_t more = smaller(wants[i] - shares[i], part);

			shares[i] += more;
			room -= more;
			hungry += shares[i] < wants[i];
		}
	}
	return room;
}

static uint64_t limit_of(uint64_t share)
{
	return share > MEMORY_HELPER_OWN + MEMORY_NAMES_LEAST ? share - MEMORY_HELPER_OWN
							      : MEMORY_NAMES_LEAST;
}

static bool is_news(const struct memory_helper *h, uint64_t limit)
{
	const uint64_t change = limit > h->limit ? limit - h->limit : h->limit - limit;

	return !h->limit || change >= MEMORY_LIMIT_STEP;
}

void memory_budget_share(const struct memory_budget *b, struct memory_helper *helpers,
			 unsigned int count, uint64_t others, uint64_t *limits)
{
	const uint64_t all = b->bytes - b->bytes / MEMORY_ROOM, most = b->bytes / PART_OF_ONE;
	uint64_t wants[MEMORY_HELPERS_MAX] = {0}, shares[MEMORY_HELPERS_MAX],
		 rest[MEMORY_HELPERS_MAX] = {0};
	uint64_t extra[MEMORY_HELPERS_MAX], left;

	memset(limits, 0, count * sizeof(*limits));
	if (!b->bytes || !count)
		return;
	for (unsigned int i = 0; i < count; i++) {
		others += helpers[i].keeps_names ? 0 : helpers[i].bytes;
		wants[i] = helpers[i].keeps_names
				   ? smaller(helpers[i].bytes + b->bytes / MEMORY_ROOM, most)
				   : 0;
	}
	left = divide(wants, shares, count, all > others ? all - others : 0);
	for (unsigned int i = 0; i < count; i++)
		rest[i] = helpers[i].keeps_names ? most - wants[i] : 0;
	(void)divide(rest, extra, count, left);
	for (unsigned int i = 0; i < count; i++) {
		const uint64_t limit = limit_of(shares[i] + extra[i]);

		if (helpers[i].keeps_names && is_news(&helpers[i], limit))
			limits[i] = helpers[i].limit = limit;
	}
}
