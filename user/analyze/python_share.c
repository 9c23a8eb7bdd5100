// SPDX-License-Identifier: Apache-2.0
/* How much of the samples of an event is Python's, and how much of that could be read and named. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyze/python.h"

/* Frames of Python on the way from the root to a stack. */
struct on_path {
	uint32_t frames, named, freed;
};

/* Parents come first. */
static void count_frames(struct on_path *paths, const struct profile *p)
{
	for (uint32_t i = 0; i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		const struct profile_frame *f =
			s->frame == PROFILE_NONE ? NULL : &p->frames[s->frame];

		if (s->parent != PROFILE_NONE)
			paths[i] = paths[s->parent];
		if (!f || f->f.kind != FRAME_PYTHON)
			continue;
		paths[i].frames++;
		paths[i].named += f->function != PROFILE_NONE &&
				  *p->functions[f->function].f.name;
		paths[i].freed += f->f.flags & FRAME_FLAG_FREED ? 1 : 0;
	}
}

static bool has_frames(const struct profile *p)
{
	for (uint32_t i = 0; i < p->frame_count; i++)
		if (p->frames[i].f.kind == FRAME_PYTHON)
			return true;
	return false;
}

/* paths: NULL if there are no frames of Python. */
static void add(struct python_share *share, const struct profile_sum *s,
		const struct on_path *paths)
{
	if (s->flags & (SAMPLE_FLAG_PYTHON | SAMPLE_FLAG_UNREAD))
		share->samples += s->count;
	if (s->flags & SAMPLE_FLAG_GIL)
		share->gil += s->count;
	else if (s->flags & SAMPLE_FLAG_PYTHON)
		share->no_gil += s->count;
	if (s->flags & SAMPLE_FLAG_COLLECTING)
		share->collecting += s->count;
	if (s->flags & SAMPLE_FLAG_UNREAD)
		share->unread += s->count;
	if (paths && s->stack != PROFILE_NONE) {
		share->frames += s->count * paths[s->stack].frames;
		share->named += s->count * paths[s->stack].named;
		share->freed += s->count * paths[s->stack].freed;
	}
}

int python_share_of(struct python_share *ret, const struct profile *p, uint32_t event)
{
	struct on_path *paths = NULL;

	if (has_frames(p)) {
		paths = calloc((size_t)p->stack_count + 1, sizeof(*paths));
		if (!paths)
			return -ENOMEM;
		count_frames(paths, p);
	}
	*ret = (struct python_share){0};
	for (uint32_t i = 0; i < p->sum_count; i++)
		if (p->sums[i].event == event)
			add(ret, &p->sums[i], paths);
	free(paths);
	return 0;
}
