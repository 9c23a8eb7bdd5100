// SPDX-License-Identifier: Apache-2.0
/*
 * Compute the cost of functions directly from the stacks of a profile, for callers that need no
 * tree merged by function. A function counts once on a path, and finding recursion takes a walk
 * from caller to callee. A trace may have millions of stacks, far more than a CPU's cache holds,
 * and such a walk would wait for memory at every step. So stacks are first put in the order of the
 * walk, by passes in which a CPU can work on many steps at once. The walk then reads memory
 * sequentially, and adds the cost of each callee that it leaves to the callee's caller.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyze/functions.h"
#include "base/large.h"

#define NONE PROFILE_NONE
#define AHEAD 16 /* places by which the walk prefetches memory */
#define MARK (PROFILE_NONE - 1) /* symbol of frames that mark a stack's end (FRAME_END) */

/* A stack at its place in the walk: callees follow their caller and precede its next sibling. */
struct walk_node {
	uint32_t symbol; /* NONE: no function */
	uint32_t size; /* number of nodes, including all callees */
	uint32_t sum; /* head of the list (stack_walk.sums) of this stack's sums; NONE: no sum */
};

struct walk_cost {
	uint64_t count, weight;
};

/* A stack that the walk has entered and not left. */
struct walk_entry {
	uint32_t symbol; /* NONE: no function, or one that is on the path already */
	uint32_t end; /* place at which the walk leaves the stack */
	/* cost of the samples that ended at the stack, or at callees that the walk has left */
	struct walk_cost cost;
};

struct stack_walk {
	const struct profile *profile;
	/*
	 * place in the walk by index of stack, then that of the root; measure_stacks() first stores
	 * the number of nodes here
	 */
	uint32_t *places;
	struct walk_node *nodes; /* by place */
	/* by index of sum: the next sum of the same stack in a linked list; NONE ends the list */
	uint32_t *sums;
	struct function_cost *costs; /* by symbol */
	bool *on_path; /* by symbol */
	VECTOR(struct walk_entry) path;
};

static uint32_t caller_or_root(const struct profile *p, uint32_t stack)
{
	uint32_t parent = p->stacks[stack].parent;

	return parent == PROFILE_NONE ? p->count.stacks : parent;
}

/* Compute how many nodes each stack has, including all its callees. */
static void measure_stacks(struct stack_walk *w)
{
	const struct profile *p = w->profile;

	for (uint32_t i = 0; i <= p->count.stacks; i++)
		w->places[i] = 1;
	for (uint32_t i = p->count.stacks; i-- > 0;)
		w->places[caller_or_root(p, i)] += w->places[i];
}

/*
 * Return the symbol of a frame. The mark of a stack's end (MARK) counts as a recursive call of its
 * caller's function, so that its samples count for that function.
 */
static uint32_t walk_symbol_at(const struct stack_walk *w, const uint32_t *symbols, uint32_t frame,
			       uint32_t caller)
{
	return symbols[frame] == MARK ? w->nodes[w->places[caller]].symbol : symbols[frame];
}

/*
 * Put the stacks at their places. symbols is by index of frame. next is memory for as many numbers
 * as there are places; it holds the place of each stack's next callee.
 */
static void place_stacks(struct stack_walk *w, const uint32_t *symbols, uint32_t *next)
{
	const struct profile *p = w->profile;

	w->nodes[0] = (struct walk_node){NONE, w->places[p->count.stacks], NONE};
	w->places[p->count.stacks] = 0;
	next[p->count.stacks] = 1;
	for (uint32_t i = 0; i < p->count.stacks; i++) {
		uint32_t caller = caller_or_root(p, i), place = next[caller],
			 frame = p->stacks[i].frame;

		w->nodes[place] = (struct walk_node){
			.symbol = walk_symbol_at(w, symbols,
						 frame == PROFILE_NONE ? p->count.frames : frame,
						 caller),
			.size = w->places[i],
			.sum = NONE,
		};
		next[caller] += w->places[i];
		next[i] = place + 1;
		w->places[i] = place;
	}
}

/*
 * Link the sums of an event to the nodes of their stacks; a list of sums takes less memory than a
 * cost for each stack.
 */
static void place_sums(struct stack_walk *w, uint32_t event)
{
	const struct profile *p = w->profile;

	for (uint32_t i = 0; i < p->count.sums; i++) {
		const struct profile_sum *s = &p->sums[i];
		struct walk_node *n;

		if (s->event != event || s->stack == PROFILE_NONE)
			continue;
		n = &w->nodes[w->places[s->stack]];
		w->sums[i] = n->sum;
		n->sum = i;
	}
}

/* Return the cost of the samples that ended at a stack. */
static struct walk_cost walk_cost_of(const struct stack_walk *w, const struct walk_node *n)
{
	struct walk_cost cost = {0};

	for (uint32_t i = n->sum; i != NONE; i = w->sums[i]) {
		cost.count += w->profile->sums[i].count;
		cost.weight += w->profile->sums[i].weight;
	}
	return cost;
}

/*
 * Remove the innermost stack from the path. Add its cost to its caller, and to the total of its
 * function unless the function was on the path before.
 */
static void leave_stack(struct stack_walk *w)
{
	const struct walk_entry *left = &w->path.items[--w->path.count];

	if (w->path.count) {
		w->path.items[w->path.count - 1].cost.count += left->cost.count;
		w->path.items[w->path.count - 1].cost.weight += left->cost.weight;
	}
	if (left->symbol == NONE)
		return;
	w->on_path[left->symbol] = false;
	w->costs[left->symbol].total_count += left->cost.count;
	w->costs[left->symbol].total_weight += left->cost.weight;
}

static int enter_stack(struct stack_walk *w, uint32_t place)
{
	const struct walk_node *n = &w->nodes[place];
	struct walk_entry fresh = {n->symbol, place + n->size, walk_cost_of(w, n)};

	if (vector_reserve(&w->path, 1) < 0)
		return -ENOMEM;
	if (n->symbol != NONE) {
		w->costs[n->symbol].self_count += fresh.cost.count;
		w->costs[n->symbol].self_weight += fresh.cost.weight;
		if (w->on_path[n->symbol])
			fresh.symbol = NONE;
		w->on_path[n->symbol] = true;
	}
	w->path.items[w->path.count++] = fresh;
	return 0;
}

static int walk_stacks(struct stack_walk *w)
{
	uint32_t count = w->nodes[0].size;
	int ret = 0;

	for (uint32_t place = 1; place < count && !ret; place++) {
		if (place + AHEAD < count && w->nodes[place + AHEAD].sum != NONE)
			__builtin_prefetch(&w->profile->sums[w->nodes[place + AHEAD].sum]);
		while (w->path.count && w->path.items[w->path.count - 1].end <= place)
			leave_stack(w);
		ret = enter_stack(w, place);
	}
	while (w->path.count)
		leave_stack(w);
	return ret;
}

/*
 * Return symbols by index of frame; the last item is for frames missing in the trace. NULL without
 * memory.
 */
static uint32_t *stack_symbols_of_frames(const struct profile *p, const struct symbols *s)
{
	uint32_t *symbols = large_alloc(((size_t)p->count.frames + 1) * sizeof(*symbols));

	if (!symbols)
		return NULL;
	for (uint32_t i = 0; i < p->count.frames; i++)
		symbols[i] = p->frames[i].f.kind == FRAME_END ? MARK : s->of_frame[i];
	symbols[p->count.frames] = s->unknown;
	return symbols;
}

/* Put all stacks at their places, with their symbols. */
static int lay_out_stacks(struct stack_walk *w, const struct symbols *s)
{
	uint32_t *symbols = stack_symbols_of_frames(w->profile, s);
	uint32_t *next = large_alloc(((size_t)w->profile->count.stacks + 1) * sizeof(*next));
	int ret = symbols && next ? 0 : -ENOMEM;

	if (!ret) {
		measure_stacks(w);
		place_stacks(w, symbols, next);
	}
	free(symbols);
	free(next);
	return ret;
}

static int stack_walk_begin(struct stack_walk *w, const struct profile *p, const struct symbols *s)
{
	size_t nodes = (size_t)p->count.stacks + 1, symbols = s->names.texts.count;

	*w = (struct stack_walk){
		.profile = p,
		.places = large_alloc(nodes * sizeof(*w->places)),
		.nodes = large_alloc(nodes * sizeof(*w->nodes)),
		.sums = large_alloc(((size_t)p->count.sums + 1) * sizeof(*w->sums)),
		.costs = calloc(symbols, sizeof(*w->costs)),
		.on_path = calloc(symbols, sizeof(*w->on_path)),
	};
	return w->places && w->nodes && w->sums && w->costs && w->on_path ? 0 : -ENOMEM;
}

int functions_of_stacks(struct functions *out, const struct profile *p, uint32_t event,
			const struct symbols *s)
{
	struct stack_walk w;
	int ret = stack_walk_begin(&w, p, s);

	if (!ret)
		ret = lay_out_stacks(&w, s);
	if (!ret) {
		place_sums(&w, event);
		ret = walk_stacks(&w);
	}
	if (!ret)
		ret = functions_sort(out, w.costs, s);
	free(w.places);
	free(w.nodes);
	free(w.sums);
	free(w.costs);
	free(w.on_path);
	vector_free(&w.path);
	return ret;
}
