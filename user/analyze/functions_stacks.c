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
	uint32_t first_child, next_sibling; /* by index of stack */
	uint64_t count, weight; /* of samples that end here */
};

struct above {
	uint32_t times; /* that the function stands on the path to the current node */
	uint64_t count, weight; /* of all samples met when the first of them was entered */
};

struct walk {
	const struct profile *profile;
	const struct symbols *symbols;
	struct node *nodes; /* by index of stack, and of what is above all roots */
	struct function_cost *costs; /* by symbol */
	struct above *above; /* by symbol */
	uint64_t count, weight; /* of all samples met */
};

static bool is_mark(const struct profile *p, uint32_t stack)
{
	uint32_t frame = p->stacks[stack].frame;

	return frame != PROFILE_NONE && p->frames[frame].f.kind == FRAME_END;
}

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
static void link_nodes(struct walk *w)
{
	const struct profile *p = w->profile;

	for (uint32_t i = p->stack_count; i-- > 0;) {
		uint32_t parent = p->stacks[i].parent;
		struct node *n = &w->nodes[i];
		struct node *above = &w->nodes[parent == PROFILE_NONE ? p->stack_count : parent];

		n->next_sibling = above->first_child;
		above->first_child = i;
		if (!is_mark(p, i))
			continue;
		above->count += n->count;
		above->weight += n->weight;
		n->count = n->weight = 0;
	}
}

/* The function of a stack's innermost frame; NONE of a mark. */
static uint32_t symbol_at(const struct walk *w, uint32_t stack)
{
	uint32_t frame = w->profile->stacks[stack].frame;

	if (frame == PROFILE_NONE)
		return w->symbols->unknown;
	return w->profile->frames[frame].f.kind == FRAME_END ? NONE : w->symbols->of_frame[frame];
}

static void enter(struct walk *w, uint32_t stack)
{
	const struct node *n = &w->nodes[stack];
	uint32_t symbol = symbol_at(w, stack);

	if (symbol != NONE) {
		if (!w->above[symbol].times++) {
			w->above[symbol].count = w->count;
			w->above[symbol].weight = w->weight;
		}
		w->costs[symbol].self_count += n->count;
		w->costs[symbol].self_weight += n->weight;
	}
	w->count += n->count;
	w->weight += n->weight;
}

static void leave(struct walk *w, uint32_t stack)
{
	uint32_t symbol = symbol_at(w, stack);

	if (symbol == NONE || --w->above[symbol].times)
		return;
	w->costs[symbol].total_count += w->count - w->above[symbol].count;
	w->costs[symbol].total_weight += w->weight - w->above[symbol].weight;
}

static void walk(struct walk *w)
{
	uint32_t at = w->nodes[w->profile->stack_count].first_child;

	while (at != NONE) {
		enter(w, at);
		if (w->nodes[at].first_child != NONE) {
			at = w->nodes[at].first_child;
			continue;
		}
		leave(w, at);
		while (w->nodes[at].next_sibling == NONE) {
			at = w->profile->stacks[at].parent;
			if (at == PROFILE_NONE)
				return;
			leave(w, at);
		}
		at = w->nodes[at].next_sibling;
	}
}

static int begin(struct walk *w, const struct profile *p, const struct symbols *s)
{
	static const struct node alone = {.first_child = NONE, .next_sibling = NONE};
	size_t nodes = (size_t)p->stack_count + 1, symbols = s->names.texts.count;

	*w = (struct walk){
		.profile = p,
		.symbols = s,
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
	struct walk w;
	int rc = begin(&w, p, s);

	if (!rc) {
		place_sums(&w, event);
		link_nodes(&w);
		walk(&w);
		rc = functions_sort(ret, w.costs, s);
	}
	free(w.nodes);
	free(w.costs);
	free(w.above);
	return rc;
}
