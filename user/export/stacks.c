// SPDX-License-Identifier: Apache-2.0
/* Make nodes of stacks on first use, starting from the nearest caller that has a node. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/stacks.h"

int stacks_begin(struct stacks *s, const struct profile *p, bool lines)
{
	uint32_t nothing;

	*s = (struct stacks){.profile = p, .lines = lines};
	s->frame_of = malloc((p->count.frames + 1) * sizeof(uint32_t));
	s->node_of = malloc((p->count.stacks + 1) * sizeof(uint32_t));
	if (!s->frame_of || !s->node_of)
		return -ENOMEM;
	memset(s->frame_of, 0xff, (p->count.frames + 1) * sizeof(uint32_t));
	memset(s->node_of, 0xff, (p->count.stacks + 1) * sizeof(uint32_t));
	return stacks_string(s, "", &nothing); /* number 0 */
}

void stacks_free(struct stacks *s)
{
	names_free(&s->strings);
	names_free(&s->frames);
	vector_free(&s->nodes);
	vector_free(&s->path);
	index_free(&s->children);
	free(s->frame_of);
	free(s->node_of);
}

int stacks_string(struct stacks *s, const char *text, uint32_t *out)
{
	return names_intern_clean(&s->strings, text, out);
}

const char *stacks_text(const struct stacks *s, uint32_t string)
{
	return names_text(&s->strings, string);
}

struct shown_frame stacks_frame(const struct stacks *s, uint32_t number)
{
	struct shown_frame f;

	memcpy(&f, names_text(&s->frames, number), sizeof(f));
	return f;
}

/* Move *node to its child with the frame; create the child if there is none. */
static int stacks_descend(struct stacks *s, uint32_t *node, uint32_t frame)
{
	const struct stack_node fresh = {*node, frame};
	uint64_t key = (uint64_t)*node << 32 | frame;
	uint32_t child = index_get(&s->children, key);

	if (child == INDEX_NONE) {
		child = (uint32_t)s->nodes.count;
		if (child == STACKS_NONE)
			return -EOVERFLOW;
		if (vector_push(&s->nodes, fresh) < 0 || index_put(&s->children, key, child) < 0)
			return -ENOMEM;
	}
	*node = child;
	return 0;
}

/* Get the node of a mark such as "[no stack]", which is not a function, below parent. */
static int stacks_mark(struct stacks *s, uint32_t parent, const char *name, uint32_t *out)
{
	struct shown_frame f = {.kind = FRAME_END};
	uint32_t frame, node = parent;
	int ret = stacks_string(s, name, &f.name);

	if (!ret)
		ret = names_intern(&s->frames, &f, sizeof(f), &frame);
	if (!ret)
		ret = stacks_descend(s, &node, frame);
	if (!ret)
		*out = node;
	return ret;
}

static uint32_t line_number(uint64_t line)
{
	return line < UINT32_MAX ? (uint32_t)line : 0;
}

static int stacks_intern_frame(struct stacks *s, uint32_t index, uint32_t *out)
{
	const struct profile *p = s->profile;
	const struct profile_frame *f = &p->frames[index];
	const struct function *named =
		f->function == PROFILE_NONE ? NULL : &p->functions[f->function].f;
	struct shown_frame shown = {.kind = (uint32_t)f->f.kind};
	char buf[512];
	int ret = stacks_string(s, profile_frame_name(p, index, buf, sizeof(buf)), &shown.name);

	if (!ret && named)
		ret = stacks_string(s, named->file, &shown.file);
	if (!ret)
		ret = stacks_string(s, profile_module_path(p, f->mapping), &shown.module);
	shown.line = named ? line_number(named->line) : 0;
	shown.at = s->lines ? line_number(f->f.line) : 0;
	return ret ? ret : names_intern(&s->frames, &shown, sizeof(shown), out);
}

/*
 * Get the number of a shown frame by its index in the profile; PROFILE_NONE stands for a frame that
 * the trace has lost.
 */
static int stacks_frame_number(struct stacks *s, uint32_t index, uint32_t *out)
{
	struct shown_frame lost = {0};
	int ret = 0;

	if (index == PROFILE_NONE) {
		ret = stacks_string(s, "[unknown]", &lost.name);
		return ret ? ret : names_intern(&s->frames, &lost, sizeof(lost), out);
	}
	if (s->frame_of[index] == STACKS_NONE)
		ret = stacks_intern_frame(s, index, &s->frame_of[index]);
	*out = s->frame_of[index];
	return ret;
}

static bool is_end_frame(const struct profile *p, uint32_t stack)
{
	uint32_t frame = p->stacks[stack].frame;

	return frame != PROFILE_NONE && p->frames[frame].f.kind == FRAME_END;
}

/*
 * Set the node at which the frames of a stack begin: STACKS_NONE for a complete stack, otherwise
 * the mark that shows how the stack ended.
 */
static int stacks_begin_path(struct stacks *s, uint32_t stack, uint32_t *node)
{
	enum stack_end end = profile_stack_end(s->profile, stack);
	char text[PROFILE_END_SIZE];

	*node = STACKS_NONE;
	return end == END_WALKED ? 0 : stacks_mark(s, *node, profile_end_name(end, text), node);
}

/*
 * Make nodes for all stacks in path, outermost first, below *node, and set *node to the last one.
 */
static int stacks_descend_path(struct stacks *s, uint32_t *node)
{
	const struct profile *p = s->profile;
	int ret = 0;

	for (size_t i = s->path.count; i-- > 0 && !ret;) {
		uint32_t stack = s->path.items[i], frame;

		if (is_end_frame(p, stack))
			continue;
		if (*node == STACKS_NONE)
			ret = stacks_begin_path(s, stack, node);
		if (!ret)
			ret = stacks_frame_number(s, p->stacks[stack].frame, &frame);
		if (!ret)
			ret = stacks_descend(s, node, frame);
		if (!ret)
			s->node_of[stack] = *node;
	}
	return ret;
}

int stacks_node(struct stacks *s, uint32_t stack, uint32_t *out)
{
	uint32_t node = STACKS_NONE, at = stack;
	int ret = 0;

	if (stack == PROFILE_NONE)
		return stacks_mark(s, STACKS_NONE, "[no stack]", out);
	s->path.count = 0;
	for (; at != PROFILE_NONE && s->node_of[at] == STACKS_NONE;
	     at = s->profile->stacks[at].parent)
		if (vector_push(&s->path, at) < 0)
			return -ENOMEM;
	if (at != PROFILE_NONE)
		node = s->node_of[at];
	ret = stacks_descend_path(s, &node);
	if (!ret && node == STACKS_NONE) /* the stack consists of a mark only */
		ret = stacks_begin_path(s, stack, &node);
	if (!ret)
		*out = node;
	return ret;
}
