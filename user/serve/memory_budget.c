// SPDX-License-Identifier: Apache-2.0
/* Choose steps within a budget of memory (memory_budget.h). */
#include "serve/memory_budget.h"

#include <stddef.h>

#define REPLACED_MOST 2 /* helpers, one after the other: that of names, that of memory */
#define LARGE_PART 8 /* of the budget: what a helper has to hold to be worth replacing */

void memory_budget_init(struct memory_budget *b, uint64_t bytes, unsigned int rates)
{
	*b = (struct memory_budget){
		.bytes = bytes, .rates = rates, .again = MEMORY_AGAIN, .calm = MEMORY_CALM};
}

static uint64_t doubled(uint64_t time, uint64_t most)
{
	return 2 * time < most ? 2 * time : most;
}

static void go_slower(struct memory_budget *b, uint64_t now)
{
	if (b->last_up)
		b->calm = now < b->last_up + MEMORY_UP_AGAIN ? doubled(b->calm, MEMORY_CALM_MOST)
							     : MEMORY_CALM;
	b->last_up = 0;
	b->slower++;
}

/* Return the step that follows the last one; MEMORY_NOTHING: there is none. */
static enum memory_step step_after(const struct memory_budget *b, const struct memory_measured *m)
{
	if (!b->acted || m->time >= b->acted + b->again)
		return MEMORY_FORGET;
	if (b->last <= MEMORY_REPLACE && b->replaced < REPLACED_MOST &&
	    m->helper >= b->bytes / LARGE_PART)
		return MEMORY_REPLACE;
	return m->bytes > b->bytes && b->slower + 1 < b->rates ? MEMORY_SLOWER : MEMORY_NOTHING;
}

static enum memory_step reduce_memory(struct memory_budget *b, const struct memory_measured *m)
{
	const enum memory_step step = step_after(b, m);

	b->calm_since = m->time;
	b->exceeded = step == MEMORY_NOTHING && m->bytes > b->bytes;
	if (step == MEMORY_NOTHING) {
		if (!b->at_end)
			b->again = doubled(b->again, MEMORY_AGAIN_MOST);
		b->at_end = true;
		return step;
	}
	b->at_end = false;
	b->replaced = step == MEMORY_FORGET ? 0 : b->replaced + (step == MEMORY_REPLACE);
	b->last = step;
	b->acted = m->time;
	b->clamps++;
	if (step == MEMORY_SLOWER)
		go_slower(b, m->time);
	return step;
}

const struct memory_helper *memory_budget_choose(const struct memory_budget *b,
						 const struct memory_helper *helpers,
						 unsigned int count, uint64_t now)
{
	const struct memory_helper *largest = NULL, *old = NULL;

	for (unsigned int i = 0; i < count; i++) {
		const struct memory_helper *h = &helpers[i];

		if (!largest || h->bytes > largest->bytes)
			largest = h;
		if (h->bytes >= b->bytes / LARGE_PART &&
		    (!h->since || now >= h->since + MEMORY_YOUNG) &&
		    (!old || h->bytes > old->bytes))
			old = h;
	}
	return old ? old : largest;
}

enum memory_step memory_budget_step(struct memory_budget *b, const struct memory_measured *m)
{
	if (!b->bytes)
		return MEMORY_NOTHING;
	if (m->bytes > b->bytes - b->bytes / MEMORY_ROOM)
		return reduce_memory(b, m);
	b->exceeded = b->at_end = false;
	if (m->bytes / MEMORY_MARGIN * 100 > b->bytes)
		b->calm_since = m->time;
	if (m->time < b->calm_since + b->calm)
		return MEMORY_NOTHING;
	b->again = MEMORY_AGAIN;
	if (!b->slower)
		return MEMORY_NOTHING;
	b->slower--;
	b->last_up = b->calm_since = m->time;
	return MEMORY_FASTER;
}
