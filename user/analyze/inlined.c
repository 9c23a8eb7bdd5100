// SPDX-License-Identifier: Apache-2.0
/*
 * Turn inlined functions into frames. A stack node becomes one node per function at its address.
 * The innermost of these replaces the original node, because samples and callees refer to the
 * original; the nodes of the functions around the innermost one are its callers.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/inlined.h"

/* Maximum number of functions at one address; the rows of a frame with more are ignored. */
#define INLINED_MAX 64

static int compare_inlined(const void *a, const void *b)
{
	const struct profile_inlined *x = a, *y = b;

	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	return x->i.depth < y->i.depth ? -1 : x->i.depth > y->i.depth;
}

/*
 * Return the number of rows of the frame whose first row is first. Set *whole to whether each depth
 * from 0 on is present once, and there are at most INLINED_MAX.
 */
static uint32_t count_inlined_rows(const struct profile *p, uint32_t first, bool *whole)
{
	uint32_t n = 0;

	*whole = true;
	for (; first + n < p->count.inlined; n++) {
		const struct profile_inlined *i = &p->inlined[first + n];

		if (i->frame != p->inlined[first].frame)
			break;
		*whole = *whole && i->i.depth == n && n < INLINED_MAX;
	}
	return n;
}

/* Return whether source lines are known by address: frames of Java, and native ones. */
static bool has_places(const struct profile_frame *f)
{
	return f->f.kind == FRAME_NATIVE || f->f.kind == FRAME_JAVA;
}

void inlined_attach(struct profile *p, bool functions)
{
	uint32_t count;
	bool whole;

	if (p->count.inlined)
		qsort(p->inlined, p->count.inlined, sizeof(*p->inlined), compare_inlined);
	for (uint32_t first = 0; first < p->count.inlined; first += count) {
		uint32_t frame = p->inlined[first].frame;

		count = count_inlined_rows(p, first, &whole);
		if (frame == PROFILE_NONE || !whole || !has_places(&p->frames[frame]))
			continue;
		p->frames[frame].first_place = first;
		p->frames[frame].place_count = functions ? (uint16_t)count : 0;
		/* The last row is the frame's own function. */
		p->frames[frame].file = p->inlined[first + count - 1].i.file;
	}
}

/* Return the number of inlined functions of a frame. */
static uint32_t inlined_in(const struct profile_frame *f)
{
	return f->place_count ? f->place_count - 1 : 0;
}

struct expansion {
	struct profile *profile;
	struct profile_frame *frames;
	struct profile_stack *stacks;
	uint8_t *ends;
	uint32_t *roots;
	uint32_t *first; /* by frame: the new frame of its innermost inlined function */
	uint32_t *place; /* by stack: its new index */
	uint32_t frame_count, stack_count;
};

static uint64_t count_expanded_frames(const struct profile *p)
{
	uint64_t count = p->count.frames;

	for (uint32_t i = 0; i < p->count.frames; i++)
		count += inlined_in(&p->frames[i]);
	return count;
}

static uint64_t count_expanded_stacks(const struct profile *p)
{
	uint64_t count = p->count.stacks;

	for (uint32_t i = 0; i < p->count.stacks; i++)
		if (p->stacks[i].frame != PROFILE_NONE)
			count += inlined_in(&p->frames[p->stacks[i].frame]);
	return count;
}

/* Make the frame of an inlined function, within the frame of the function around it. */
static struct profile_frame make_inlined_frame(const struct profile_frame *around,
					       const struct profile_inlined *place)
{
	struct profile_frame f = *around;

	f.f.line = place->i.line;
	f.f.flags &= ~(uint32_t)(FRAME_FLAG_START | FRAME_FLAG_INTERPRETER);
	f.function = place->function;
	f.file = place->i.file;
	f.shown = NULL;
	f.inlined = true;
	f.place_count = 0;
	return f;
}

static void expand_frames(struct expansion *e)
{
	const struct profile *p = e->profile;

	memcpy(e->frames, p->frames, p->count.frames * sizeof(*e->frames));
	e->frame_count = p->count.frames;
	for (uint32_t i = 0; i < p->count.frames; i++) {
		const struct profile_frame *f = &p->frames[i];

		e->first[i] = e->frame_count;
		for (uint32_t n = 0; n < inlined_in(f); n++)
			e->frames[e->frame_count++] =
				make_inlined_frame(f, &p->inlined[f->first_place + n]);
	}
}

static void expand_stacks(struct expansion *e)
{
	const struct profile *p = e->profile;

	for (uint32_t i = 0; i < p->count.stacks; i++) {
		struct profile_stack s = p->stacks[i];
		uint32_t frame = s.frame;
		uint32_t more = frame == PROFILE_NONE ? 0 : inlined_in(&p->frames[frame]);

		s.parent = s.parent == PROFILE_NONE ? PROFILE_NONE : e->place[s.parent];
		/* Begin with the outermost function, which is the frame's own. */
		for (uint32_t n = 0; n <= more; n++) {
			s.frame = n ? e->first[frame] + more - n : frame;
			e->place[i] = e->stack_count;
			e->ends[e->stack_count] = p->ends[i];
			e->roots[e->stack_count] = p->roots[i];
			e->stacks[e->stack_count++] = s;
			s.parent = e->place[i];
		}
	}
}

static void replace_by_expansion(struct expansion *e)
{
	struct profile *p = e->profile;

	for (uint32_t i = 0; i < p->count.sums; i++)
		if (p->sums[i].stack != PROFILE_NONE)
			p->sums[i].stack = e->place[p->sums[i].stack];
	free(p->frames);
	free(p->stacks);
	free(p->ends);
	free(p->roots);
	p->frames = e->frames;
	p->count.frames = e->frame_count;
	p->stacks = e->stacks;
	p->ends = e->ends;
	p->roots = e->roots;
	p->count.stacks = e->stack_count;
	p->moved_stacks = e->place;
	*e = (struct expansion){.first = e->first};
}

int inlined_expand(struct profile *p)
{
	struct expansion e = {.profile = p};
	uint64_t frames = p->count.inlined ? count_expanded_frames(p) : p->count.frames, stacks;
	int ret = -ENOMEM;

	if (frames == p->count.frames)
		return 0;
	stacks = count_expanded_stacks(p);
	if (frames >= PROFILE_NONE || stacks >= PROFILE_NONE)
		return -EOVERFLOW;
	e.frames = malloc(frames * sizeof(*e.frames));
	e.stacks = malloc((stacks + 1) * sizeof(*e.stacks));
	e.ends = malloc(stacks + 1);
	e.roots = malloc((stacks + 1) * sizeof(*e.roots));
	e.first = malloc(frames * sizeof(*e.first));
	e.place = malloc((stacks + 1) * sizeof(*e.place));
	if (e.frames && e.stacks && e.ends && e.roots && e.first && e.place) {
		expand_frames(&e);
		expand_stacks(&e);
		replace_by_expansion(&e);
		ret = 0;
	}
	free(e.frames);
	free(e.stacks);
	free(e.ends);
	free(e.roots);
	free(e.first);
	free(e.place);
	return ret;
}

static int name_frame_by_line(struct profile *p, struct names *texts, uint32_t frame)
{
	struct profile_frame *f = &p->frames[frame];
	const char *name = profile_function_name(p, frame);
	const char *file = f->file && *f->file ? f->file : p->functions[f->function].f.file;
	size_t size;
	uint32_t kept;
	char *text;
	int ret;

	if (!*file)
		return 0;
	file = module_short_name(file);
	size = strlen(name) + strlen(file) + 32;
	text = malloc(size);
	if (!text)
		return -ENOMEM;
	snprintf(text, size, "%s (%s:%" PRIu64 ")", name, file, f->f.line);
	ret = names_intern_text(texts, text, &kept);
	free(text);
	if (!ret)
		f->shown = names_text(texts, kept);
	return ret;
}

int inlined_name_lines(struct profile *p, struct names *texts)
{
	int ret = 0;

	for (uint32_t i = 0; i < p->count.frames && !ret; i++)
		if (has_places(&p->frames[i]) && p->frames[i].f.line && profile_function_name(p, i))
			ret = name_frame_by_line(p, texts, i);
	return ret;
}
