// SPDX-License-Identifier: Apache-2.0
/*
 * Compute the cost of Python functions including the native functions that they call, as if
 * python_alone() had reduced the stacks to Python frames. Only self time differs from that of the
 * complete stacks, because the total of a function includes everything it calls in both cases.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/functions.h"

#define NONE PROFILE_NONE
/* Symbol of frames that are not Python's, and whose samples count for their caller. */
#define INHERITED (PROFILE_NONE - 1)

/*
 * Return symbols by index of frame: INHERITED for native and kernel frames, NONE for the mark of a
 * stack's end. The last item is for frames missing in the trace, whose samples also count for the
 * caller. NULL without memory.
 */
static uint32_t *python_symbols_of_frames(const struct profile *p, const struct symbols *s)
{
	uint32_t *symbols = malloc(((size_t)p->count.frames + 1) * sizeof(*symbols));

	if (!symbols)
		return NULL;
	for (uint32_t i = 0; i < p->count.frames; i++) {
		uint64_t kind = p->frames[i].f.kind;

		symbols[i] = kind == FRAME_PYTHON ? s->of_frame[i]
			     : kind == FRAME_END  ? NONE
						  : INHERITED;
	}
	symbols[p->count.frames] = INHERITED;
	return symbols;
}

/*
 * Set of_stack[stack] to the symbol of the Python function for which the samples of each stack
 * count; NONE: no Python function.
 */
static void find_python_functions(uint32_t *of_stack, const struct profile *p,
				  const uint32_t *symbols)
{
	for (uint32_t i = 0; i < p->count.stacks; i++) { /* callers precede their callees */
		uint32_t frame = p->stacks[i].frame, parent = p->stacks[i].parent;
		uint32_t symbol = symbols[frame == PROFILE_NONE ? p->count.frames : frame];

		if (symbol == INHERITED)
			symbol = parent == PROFILE_NONE ? NONE : of_stack[parent];
		of_stack[i] = symbol;
	}
}

static void add_python_self(struct function_cost *costs, const struct profile *p, uint32_t event,
			    const uint32_t *of_stack)
{
	for (uint32_t i = 0; i < p->count.sums; i++) {
		const struct profile_sum *s = &p->sums[i];
		uint32_t symbol = s->stack == PROFILE_NONE ? NONE : of_stack[s->stack];

		if (s->event != event || symbol == NONE)
			continue;
		costs[symbol].self_count += s->count;
		costs[symbol].self_weight += s->weight;
	}
}

/* Copy the totals of the functions that have a Python frame. */
static int copy_python_totals(struct function_cost *costs, const struct functions *all,
			      const struct profile *p, const struct symbols *s)
{
	bool *python = calloc(s->names.texts.count, sizeof(*python));

	if (!python)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->count.frames; i++)
		if (p->frames[i].f.kind == FRAME_PYTHON)
			python[s->of_frame[i]] = true;
	for (size_t i = 0; i < all->list.count; i++) {
		const struct function_cost *cost = &all->list.items[i];

		if (!python[cost->symbol])
			continue;
		costs[cost->symbol].total_count = cost->total_count;
		costs[cost->symbol].total_weight = cost->total_weight;
	}
	free(python);
	return 0;
}

int functions_of_python(struct functions *out, const struct functions *all, const struct profile *p,
			uint32_t event, const struct symbols *s)
{
	struct function_cost *costs = calloc(s->names.texts.count, sizeof(*costs));
	uint32_t *of_stack = malloc(((size_t)p->count.stacks + 1) * sizeof(*of_stack));
	uint32_t *symbols = python_symbols_of_frames(p, s);
	int ret = costs && of_stack && symbols ? copy_python_totals(costs, all, p, s) : -ENOMEM;

	if (!ret) {
		find_python_functions(of_stack, p, symbols);
		add_python_self(costs, p, event, of_stack);
		ret = functions_sort(out, costs, s);
	}
	free(costs);
	free(of_stack);
	free(symbols);
	return ret;
}
