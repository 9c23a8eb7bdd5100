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

/* Of Python or not, by index of frame: stacks are many more, and what they ask for is small then. */
enum share_kind { NOT_PYTHON, NAMELESS, NAMED };

/* of_frame: zeroed. Whether there are frames of Python. */
static bool find_kinds(uint8_t *of_frame, const struct profile *p)
{
	bool found = false;

	for (uint32_t i = 0; i < p->frame_count; i++) {
		const struct profile_frame *f = &p->frames[i];

		if (f->f.kind != FRAME_PYTHON)
			continue;
		of_frame[i] = f->function != PROFILE_NONE && *p->functions[f->function].f.name
				   ? NAMED
				   : NAMELESS;
		found = true;
	}
	return found;
}

/* Parents come first. */
static void count_frames(struct on_path *paths, const struct profile *p, const uint8_t *of_frame)
{
	for (uint32_t i = 0; i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		uint8_t kind = s->frame == PROFILE_NONE ? NOT_PYTHON : of_frame[s->frame];
		struct on_path path = {0};

		if (s->parent != PROFILE_NONE)
<<<<<<< HEAD
			paths[i] = paths[s->parent];
		if (!f || f->f.kind != FRAME_PYTHON)
			continue;
		paths[i].frames++;
		paths[i].named += f->function != PROFILE_NONE &&
				  *p->functions[f->function].f.name;
		paths[i].freed += f->f.flags & FRAME_FLAG_FREED ? 1 : 0;
=======
			path = paths[s->parent];
		path.frames += kind != NOT_PYTHON;
		path.named += kind == NAMED;
		paths[i] = path;
>>>>>>> fast
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
	bool found = of_frame && find_kinds(of_frame, p);

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
