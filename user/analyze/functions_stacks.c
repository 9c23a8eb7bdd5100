// SPDX-License-Identifier: Apache-2.0
/*
 * The cost of functions straight from the stacks of a profile, where no tree merged by function is
 * needed. A trace may have millions of stacks, so that all depends on how few bytes are touched:
 * one pass backwards makes lists of callees, one walk depth first adds up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/functions.h"

#define NONE PROFILE_NONE

struct node {
	uint32_t parent, first_child, next_sibling; /* NONE: none */
	uint32_t symbol; /* NONE: a mark */
	uint64_t count, weight; /* of samples that end here */
};

struct above {
	uint32_t times; /* that the function stands on the path to the current node */
	uint64_t count, weight; /* of all samples met when the first of them was entered */
};

struct walk {
	const struct profile *profile;
	uint32_t unknown; /* the symbol of frames that the trace has lost */
	struct node *nodes; /* by index of stack, and of what is above all roots */
	struct function_cost *costs; /* by symbol */
	struct above *above; /* by symbol */
	uint64_t count, weight; /* of all samples met */
};

static void place_sums(struct walk *w, uint32_t event)
{
	const struct profile *p = w->profile;

	for (uint32_t i = 0; i < p->sum_count; i++) {
		const struct profile_sum *s = &p->sums[i];
		struct node *n = &w->nodes[s->stack == PROFILE_NONE ? p->stack_count : s->stack];

		if (s->event != event)
			continue;
		n->count += s->count;
		n->weight += s->weight;
	}
}

/* Children come before their parents here. A mark is no function: its samples are its caller's. */
static void link_nodes(struct walk *w, const uint32_t *symbols)
{
	const struct profile *p = w->profile;

	for (uint32_t i = p->stack_count; i-- > 0;) {
		const struct profile_stack *s = &p->stacks[i];
		struct node *n = &w->nodes[i], *above;

		n->parent = s->parent == PROFILE_NONE ? p->stack_count : s->parent;
		n->symbol = s->frame == PROFILE_NONE ? w->unknown : symbols[s->frame];
		above = &w->nodes[n->parent];
		n->next_sibling = above->first_child;
		above->first_child = i;
		if (n->symbol != NONE)
			continue;
		above->count += n->count;
		above->weight += n->weight;
		n->count = n->weight = 0;
	}
}

static void enter(struct walk *w, const struct node *n)
{
	if (n->symbol != NONE) {
		struct function_cost *cost = &w->costs[n->symbol];
		struct above *above = &w->above[n->symbol];

		if (!above->times++) {
			above->count = w->count;
			above->weight = w->weight;
		}
		cost->self_count += n->count;
		cost->self_weight += n->weight;
	}
	w->count += n->count;
	w->weight += n->weight;
}

static void leave(struct walk *w, const struct node *n)
{
	struct above *above = n->symbol == NONE ? NULL : &w->above[n->symbol];

	if (!above || --above->times)
		return;
	w->costs[n->symbol].total_count += w->count - above->count;
	w->costs[n->symbol].total_weight += w->weight - above->weight;
}

static void walk(struct walk *w)
{
	const struct node *root = &w->nodes[w->profile->stack_count], *at = root;
	uint32_t next = root->first_child;

	while (next != NONE) {
		at = &w->nodes[next];
		enter(w, at);
		next = at->first_child;
		while (next == NONE && at != root) {
			leave(w, at);
			next = at->next_sibling;
			if (next == NONE)
				at = &w->nodes[at->parent];
		}
	}
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
	static const struct node alone = {NONE, NONE, NONE, NONE, 0, 0};
	size_t nodes = (size_t)p->stack_count + 1, symbols = s->names.texts.count;

	*w = (struct walk){
		.profile = p,
		.unknown = s->unknown,
		.nodes = malloc(nodes * sizeof(*w->nodes)),
		.costs = calloc(symbols, sizeof(*w->costs)),
		.above = calloc(symbols, sizeof(*w->above)),
	};
	if (!w->nodes || !w->costs || !w->above)
		return -ENOMEM;
	for (size_t i = 0; i < nodes; i++)
		w->nodes[i] = alone;
	return 0;
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
		place_sums(&w, event);
		link_nodes(&w, symbols);
		walk(&w);
		rc = functions_sort(ret, w.costs, s);
	}
	free(symbols);
	free(w.nodes);
	free(w.costs);
	free(w.above);
	return rc;
}
