// SPDX-License-Identifier: Apache-2.0
/*
 * Count how many samples of an event are of threads that run Python, and how many of the Python
 * frames on their stacks have names.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyze/python.h"
#include "base/large.h"
#include "base/vector.h"

/* The numbers of Python frames on the path from the root to a stack. */
struct python_path {
	uint32_t frames, named, freed;
};

/* The properties of a frame in one byte, because the many stacks look them up. */
enum frame_mark { IS_PYTHON = 1, IS_NAMED = 2, IS_FREED = 4 };

/* Fill of_frame, which is zeroed. Return whether there are Python frames. */
static bool mark_python_frames(uint8_t *of_frame, const struct profile *p)
{
	bool found = false;

	for (uint32_t i = 0; i < p->count.frames; i++) {
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

struct python_paths {
	/* Item 0 is for paths without Python frames; each stack with a Python frame has an item. */
	VECTOR(struct python_path) list;
	/*
	 * Index in list, by index of stack; other stacks have the item of their parent. NULL: there
	 * are no Python frames.
	 */
	uint32_t *of_stack;
};

static int add_python_path(struct python_paths *paths, uint32_t stack,
			   const struct python_path *above, uint8_t marks)
{
	struct python_path path = *above;

	path.frames++;
	path.named += marks & IS_NAMED ? 1 : 0;
	path.freed += marks & IS_FREED ? 1 : 0;
	paths->of_stack[stack] = (uint32_t)paths->list.count;
	return vector_push(&paths->list, path);
}

/* Count the Python frames of all paths; parents precede their children. */
static int count_python_frames(struct python_paths *paths, const struct profile *p,
			       const uint8_t *of_frame)
{
	struct python_path none = {0};
	int ret = vector_push(&paths->list, none);

	paths->of_stack = large_alloc(((size_t)p->count.stacks + 1) * sizeof(*paths->of_stack));
	if (!paths->of_stack)
		ret = -ENOMEM;
	for (uint32_t i = 0; i < p->count.stacks && !ret; i++) {
		const struct profile_stack *s = &p->stacks[i];
		uint8_t marks = s->frame == PROFILE_NONE ? 0 : of_frame[s->frame];
		uint32_t above = s->parent == PROFILE_NONE ? 0 : paths->of_stack[s->parent];

		paths->of_stack[i] = above;
		if (marks)
			ret = add_python_path(paths, i, &paths->list.items[above], marks);
	}
	return ret;
}

static void add_python_frames(struct python_share *share, const struct profile_sum *s,
			      const struct python_path *path)
{
	share->frames += s->count * path->frames;
	share->named += s->count * path->named;
	share->freed += s->count * path->freed;
}

static void add_python_sum(struct python_share *share, const struct profile_sum *s,
			   const struct python_paths *paths)
{
	if (s->flags & (SAMPLE_FLAG_PYTHON | SAMPLE_FLAG_UNREAD))
		share->samples += s->count;
	if (s->flags & SAMPLE_FLAG_GIL)
		share->gil += s->count;
	else if (s->flags & SAMPLE_FLAG_PYTHON)
		share->no_gil += s->count;
	if (s->flags & SAMPLE_FLAG_PYTHON && s->flags & SAMPLE_FLAG_COLLECTING)
		share->collecting += s->count;
	if (s->flags & SAMPLE_FLAG_UNREAD)
		share->unread += s->count;
	if (paths->of_stack && s->stack != PROFILE_NONE)
		add_python_frames(share, s, &paths->list.items[paths->of_stack[s->stack]]);
}

int python_share_of(struct python_share *out, const struct profile *p, uint32_t event)
{
	uint8_t *of_frame = calloc((size_t)p->count.frames + 1, sizeof(*of_frame));
	struct python_paths paths = {.of_stack = NULL};
	int ret = of_frame ? 0 : -ENOMEM;

	if (!ret && mark_python_frames(of_frame, p))
		ret = count_python_frames(&paths, p, of_frame);
	if (!ret)
		*out = (struct python_share){0};
	for (uint32_t i = 0; i < p->count.sums && !ret; i++)
		if (p->sums[i].event == event)
			add_python_sum(out, &p->sums[i], &paths);
	free(of_frame);
	free(paths.of_stack);
	vector_free(&paths.list);
	return ret;
}
