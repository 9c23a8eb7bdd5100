// SPDX-License-Identifier: Apache-2.0
/*
 * Reduce stacks to Python. The node of every other frame becomes another node of the Python
 * function that called it, so that samples and callees keep their nodes.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/python.h"

static bool stack_is_of_kind(const struct profile *p, uint32_t stack, enum frame_kind kind)
{
	uint32_t frame = stack == PROFILE_NONE ? PROFILE_NONE : p->stacks[stack].frame;

	return frame != PROFILE_NONE && p->frames[frame].f.kind == kind;
}

int python_alone(struct profile *p)
{
	/*
	 * by index of stack: the nearest node with a Python frame, which is the node itself or an
	 * ancestor; if there is none, the node with the mark of the stack's end, or PROFILE_NONE
	 */
	uint32_t *nearest = malloc(((size_t)p->count.stacks + 1) * sizeof(*nearest));

	if (!nearest)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->count.stacks; i++) { /* parents precede their children */
		struct profile_stack *s = &p->stacks[i];
		uint32_t above = s->parent == PROFILE_NONE ? PROFILE_NONE : nearest[s->parent];

		nearest[i] = above;
		if (stack_is_of_kind(p, i, FRAME_END)) {
			nearest[i] = i;
		} else if (stack_is_of_kind(p, i, FRAME_PYTHON)) {
			nearest[i] = i;
			s->parent = above;
		} else if (stack_is_of_kind(p, above, FRAME_PYTHON)) {
			s->frame = p->stacks[above].frame;
			s->parent = p->stacks[above].parent;
		}
	}
	free(nearest);
	return 0;
}
