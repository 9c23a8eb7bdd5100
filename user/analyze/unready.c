// SPDX-License-Identifier: Apache-2.0
/* Count samples with functions whose names were not ready (unready.h). */
#include "analyze/unready.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool has_unready(const struct profile *p)
{
	for (uint32_t i = 0; i < p->count.frames; i++)
		if (p->frames[i].f.flags & FRAME_FLAG_UNREADY)
			return true;
	return false;
}

/*
 * Set for each stack whether a frame with a function whose name was not ready is on it; parents
 * precede their children.
 */
static void mark_unready_stacks(bool *stacks, const struct profile *p)
{
	for (uint32_t i = 0; i < p->count.stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];

		stacks[i] = (s->parent != PROFILE_NONE && stacks[s->parent]) ||
			    (s->frame != PROFILE_NONE &&
			     p->frames[s->frame].f.flags & FRAME_FLAG_UNREADY);
	}
}

int unready_of(uint64_t *out, const struct profile *p, uint32_t event)
{
	uint64_t samples = 0;
	bool *stacks;

	*out = 0;
	if (!has_unready(p))
		return 0;
	stacks = calloc((size_t)p->count.stacks + 1, sizeof(*stacks));
	if (!stacks)
		return -ENOMEM;
	mark_unready_stacks(stacks, p);
	for (uint32_t i = 0; i < p->count.sums; i++) {
		const struct profile_sum *s = &p->sums[i];

		if (s->event == event && s->stack != PROFILE_NONE && stacks[s->stack])
			samples += s->count;
	}
	free(stacks);
	*out = samples;
	return 0;
}
