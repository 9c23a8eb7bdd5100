// SPDX-License-Identifier: Apache-2.0
/*
 * The cost of functions straight from the stacks of a profile, where no tree merged by function is
 * needed. A trace may have millions of stacks, far more than a processor's cache holds, and a walk
 * from callee to callee would wait for memory at every step. So stacks are put in the order of
 * such a walk first, by passes whose steps do not wait for each other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/functions.h"

#define NONE PROFILE_NONE

/* A stack, at its place in the walk: callees stand behind their caller, before its next sibling. */
struct node {
	uint32_t symbol; /* NONE: a mark, which is no function */
	uint32_t size; /* nodes, with all its callees */
	uint64_t count, weight; /* of samples that end here */
};

/* A function, while the walk is in it. */
struct above {
	uint32_t times; /* that it stands on the path to the current node */
	uint64_t count, weight; /* of all samples met when the first of them was entered */
};

struct walk {
	const struct profile *profile;
	uint32_t *sizes; /* by index of stack, and of what is above all roots: nodes below */
	uint32_t *next; /* by the same: the place of the next callee, at last where it ends */
	struct node *nodes; /* by place */
	struct function_cost *costs; /* by symbol */
	struct above *above; /* by symbol */
	VECTOR(uint32_t) path; /* places of the nodes that the walk is in */
	uint64_t count, weight; /* of all samples met */
};

static uint32_t caller_of(const struct profile *p, uint32_t stack)
{
	uint32_t parent = p->stacks[stack].parent;

	return parent == PROFILE_NONE ? p->stack_count : parent;
}

/* Callees have higher indexes than their callers. */
static void measure(struct walk *w)
{
	const struct profile *p = w->profile;

	for (uint32_t i = 0; i <= p->stack_count; i++)
		w->sizes[i] = 1;
	for (uint32_t i = p->stack_count; i-- > 0;)
		w->sizes[caller_of(p, i)] += w->sizes[i];
}

/* symbols: by index of frame; unknown: of frames that the trace has lost. */
static void place_stacks(struct walk *w, const uint32_t *symbols, uint32_t unknown)
{
	const struct profile *p = w->profile;

	w->nodes[0] = (struct node){.symbol = NONE, .size = w->sizes[p->stack_count]};
	w->next[p->stack_count] = 1;
	for (uint32_t i = 0; i < p->stack_count; i++) {
		uint32_t *place = &w->next[caller_of(p, i)], frame = p->stacks[i].frame;

		w->nodes[*place] = (struct node){
			.symbol = frame == PROFILE_NONE ? unknown : symbols[frame],
			.size = w->sizes[i],
		};
		w->next[i] = *place + 1;
		*place += w->sizes[i];
	}
}

static void place_sums(struct walk *w, uint32_t event)
{
	const struct profile *p = w->profile;

	for (uint32_t i = 0; i < p->sum_count; i++) {
		const struct profile_sum *s = &p->sums[i];
		uint32_t stack = s->stack == PROFILE_NONE ? p->stack_count : s->stack;
		struct node *n = &w->nodes[w->next[stack] - w->sizes[stack]];

		if (s->event != event)
			continue;
		n->count += s->count;
		n->weight += s->weight;
	}
}

static void enter(struct walk *w, const struct node *n)
{
	struct above *above = &w->above[n->symbol];

	if (above->times++)
		return;
	above->count = w->count;
	above->weight = w->weight;
}

static void leave(struct walk *w, const struct node *n)
{
	struct above *above = &w->above[n->symbol];

	if (--above->times)
		return;
	w->costs[n->symbol].total_count += w->count - above->count;
	w->costs[n->symbol].total_weight += w->weight - above->weight;
}

/* Leave what ends before a place. */
static void leave_until(struct walk *w, uint32_t place)
{
	while (w->path.count) {
		uint32_t at = w->path.items[w->path.count - 1];

		if (at + w->nodes[at].size > place)
			return;
		leave(w, &w->nodes[at]);
		w->path.count--;
	}
}

/* Marks are not on the path: the samples of one are of the function that it stands in. */
static int walk(struct walk *w)
{
	uint32_t end = w->nodes[0].size;

	for (uint32_t place = 1; place < end; place++) {
		const struct node *n = &w->nodes[place];

		leave_until(w, place);
		if (n->symbol != NONE) {
			enter(w, n);
			if (vector_push(&w->path, place) < 0)
				return -ENOMEM;
		}
		if (w->path.count) {
			uint32_t in = w->path.items[w->path.count - 1];

			w->costs[w->nodes[in].symbol].self_count += n->count;
			w->costs[w->nodes[in].symbol].self_weight += n->weight;
		}
		w->count += n->count;
		w->weight += n->weight;
	}
	leave_until(w, end);
	return 0;
}

/* By index of frame, NONE of marks. NULL without memory. */
static uint32_t *symbols_of_frames(const struct profile *p, const struct symbols *s)
{
	uint32_t *symbols = malloc(((size_t)p->frame_count + 1) * sizeof(*symbols));

	for (uint32_t i = 0; i < p->frame_count && symbols; i++)
		symbols[i] = p->frames[i].f.kind == FRAME_END ? NONE : s->of_frame[i];
	return symbols;
}

static int begin(struct walk *w, const struct profile *p, const struct symbols *s)
{
	size_t nodes = (size_t)p->stack_count + 1, symbols = s->names.texts.count;

	*w = (struct walk){
		.profile = p,
		.sizes = malloc(nodes * sizeof(*w->sizes)),
		.next = malloc(nodes * sizeof(*w->next)),
		.nodes = malloc(nodes * sizeof(*w->nodes)),
		.costs = calloc(symbols, sizeof(*w->costs)),
		.above = calloc(symbols, sizeof(*w->above)),
	};
	return w->sizes && w->next && w->nodes && w->costs && w->above ? 0 : -ENOMEM;
}

int functions_of_stacks(struct functions *ret, const struct profile *p, uint32_t event,
			const struct symbols *s)
{
	uint32_t *symbols = symbols_of_frames(p, s);
	struct walk w;
	int rc = begin(&w, p, s);

	if (!rc && !symbols)
		rc = -ENOMEM;
	if (!rc) {
		measure(&w);
		place_stacks(&w, symbols, s->unknown);
		place_sums(&w, event);
		rc = walk(&w);
	}
	if (!rc)
		rc = functions_sort(ret, w.costs, s);
	free(symbols);
	free(w.sizes);
	free(w.next);
	free(w.nodes);
	free(w.costs);
	free(w.above);
	vector_free(&w.path);
	return rc;
}
