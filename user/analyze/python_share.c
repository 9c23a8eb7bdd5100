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

/* What a frame is, in one byte: stacks are many more, and what they ask for is small then. */
enum frame_mark { IS_PYTHON = 1, IS_NAMED = 2, IS_FREED = 4 };

/* of_frame: zeroed. Whether there are frames of Python. */
static bool mark_frames(uint8_t *of_frame, const struct profile *p)
{
	bool found = false;

	for (uint32_t i = 0; i < p->frame_count; i++) {
		const struct profile_frame *f = &p->frames[i];

		if (f->f.kind != FRAME_PYTHON)
			continue;
		of_frame[i] = IS_PYTHON;
		if (f->function != PROFILE_NONE && *p->functions[f->function].f.name)
			of_frame[i] |= IS_NAMED;
		if (f->f.flags & FRAME_FLAG_FREED)
			of_frame[i] |= IS_FREED;
		found = true;
	}
	return found;
}

/* Parents come first. */
static void count_frames(struct on_path *paths, const struct profile *p, const uint8_t *of_frame)
{
	for (uint32_t i = 0; i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		uint8_t marks = s->frame == PROFILE_NONE ? 0 : of_frame[s->frame];
		struct on_path path = {0};

		if (s->parent != PROFILE_NONE)
			path = paths[s->parent];
		path.frames += marks & IS_PYTHON ? 1 : 0;
		path.named += marks & IS_NAMED ? 1 : 0;
		path.freed += marks & IS_FREED ? 1 : 0;
		paths[i] = path;
	}
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
	uint8_t *of_frame = calloc((size_t)p->frame_count + 1, sizeof(*of_frame));
	struct on_path *paths = NULL;
	bool found = of_frame && mark_frames(of_frame, p);

	if (found)
		paths = malloc(((size_t)p->stack_count + 1) * sizeof(*paths));
	if (paths)
		count_frames(paths, p, of_frame);
	free(of_frame);
	if (!of_frame || (found && !paths))
		return -ENOMEM;
	*ret = (struct python_share){0};
	for (uint32_t i = 0; i < p->sum_count; i++)
		if (p->sums[i].event == event)
			add(ret, &p->sums[i], paths);
	free(paths);
	return 0;
}
