// SPDX-License-Identifier: Apache-2.0
/* Number the functions of a profile, and compute their self and total cost from a tree. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyze/diff_names.h"
#include "analyze/functions.h"
#include "base/large.h"

static int intern_symbol(struct symbols *s, const char *name, const char *module, uint32_t *out)
{
	size_t name_size = strlen(name) + 1, module_size = strlen(module);
	char *both = malloc(name_size + module_size);
	int ret;

	if (!both)
		return -ENOMEM;
	memcpy(both, name, name_size);
	memcpy(both + name_size, module, module_size);
	ret = names_intern(&s->names, both, name_size + module_size, out);
	free(both);
	return ret;
}

static int symbol_of(struct symbols *s, const struct profile *p, uint32_t frame, uint32_t *out)
{
	uint32_t mapping = p->frames[frame].mapping;
	char buf[512];

	return intern_symbol(s, profile_frame_name(p, frame, buf, sizeof(buf)),
			     profile_module_path(p, mapping), out);
}

static int common_symbol_of(struct symbols *s, const struct profile *p, uint32_t frame,
			    uint32_t *out)
{
	char *name = diff_frame_name(p, frame);
	int ret =
		name ? intern_symbol(s, name, profile_module_name(p, p->frames[frame].mapping), out)
		     : -ENOMEM;

	free(name);
	return ret;
}

/*
 * The kind, mapping and symbol of the last frame of one function, or of one mapping without a
 * function. The frames of a function usually have the same kind and mapping, and then the same
 * symbol; the same holds for frames of a mapping of which no function is known.
 */
struct last_symbol {
	uint64_t kind;
	uint32_t mapping, symbol;
};

/*
 * Return a position in the array of struct last_symbol: first the functions by index, then the
 * mappings by index, then one for frames that have neither.
 */
static size_t last_symbol_index(const struct profile *p, const struct profile_frame *f)
{
	if (f->function != PROFILE_NONE)
		return f->function;
	return (size_t)p->count.functions +
	       (f->mapping == PROFILE_NONE ? p->count.mappings : f->mapping);
}

/* Return whether the name of a frame depends on more than kind, mapping and function. */
static bool has_own_name(const struct profile_frame *f)
{
	return f->shown || f->f.kind == FRAME_END || f->f.flags & FRAME_FLAG_FREED;
}

static int number_frames(struct symbols *s, const struct profile *p, struct last_symbol *last,
			 int (*number)(struct symbols *s, const struct profile *p, uint32_t frame,
				       uint32_t *out))
{
	int ret = 0;

	for (uint32_t i = 0; i < p->count.frames && !ret; i++) {
		const struct profile_frame *f = &p->frames[i];
		struct last_symbol *same = has_own_name(f) ? NULL : &last[last_symbol_index(p, f)];

		if (same && same->symbol != INDEX_NONE && same->kind == f->f.kind &&
		    same->mapping == f->mapping) {
			s->of_frame[i] = same->symbol;
			continue;
		}
		ret = number(s, p, i, &s->of_frame[i]);
		if (!ret && same)
			*same = (struct last_symbol){f->f.kind, f->mapping, s->of_frame[i]};
	}
	return ret;
}

static int make_symbols(struct symbols *out, const struct profile *p,
			int (*number)(struct symbols *s, const struct profile *p, uint32_t frame,
				      uint32_t *out))
{
	struct symbols s = {.of_frame =
				    large_zeroed((size_t)p->count.frames + 1, sizeof(uint32_t))};
	size_t size =
		((size_t)p->count.functions + p->count.mappings + 1) * sizeof(struct last_symbol);
	struct last_symbol *last = malloc(size);
	int ret = s.of_frame && last ? intern_symbol(&s, "[unknown]", "", &s.unknown) : -ENOMEM;

	if (!ret) {
		memset(last, 0xff, size);
		ret = number_frames(&s, p, last, number);
	}
	free(last);
	if (ret < 0)
		symbols_free(&s);
	else
		*out = s;
	return ret;
}

int symbols_of(struct symbols *out, const struct profile *p)
{
	return make_symbols(out, p, symbol_of);
}

int symbols_in_common(struct symbols *out, const struct profile *p)
{
	return make_symbols(out, p, common_symbol_of);
}

static int intern_inlined_symbol(struct symbols *s, uint32_t symbol, uint32_t *out)
{
	size_t size = s->names.sizes.items[symbol] + 1;
	char *marked = malloc(size);
	int ret;

	if (!marked)
		return -ENOMEM;
	memcpy(marked, names_text(&s->names, symbol), size);
	ret = names_intern(&s->names, marked, size, out);
	free(marked);
	return ret;
}

uint32_t *symbols_with_inlined(struct symbols *s, const struct profile *p)
{
	uint32_t *labels = malloc((p->count.frames + 1) * sizeof(*labels));
	int ret = labels ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < p->count.frames && !ret; i++) {
		labels[i] = s->of_frame[i];
		if (p->frames[i].inlined)
			ret = intern_inlined_symbol(s, s->of_frame[i], &labels[i]);
	}
	if (ret < 0) {
		free(labels);
		return NULL;
	}
	return labels;
}

bool symbol_is_inlined(const struct symbols *s, uint32_t symbol)
{
	size_t length = strlen(symbol_name(s, symbol)) + 1 + strlen(symbol_module(s, symbol));

	return s->names.sizes.items[symbol] > length;
}

int symbols_add(struct symbols *s, const char *name, uint32_t *out)
{
	return intern_symbol(s, name, "", out);
}

void symbols_free(struct symbols *s)
{
	names_free(&s->names);
	free(s->of_frame);
	s->of_frame = NULL;
}

const char *symbol_name(const struct symbols *s, uint32_t symbol)
{
	return names_text(&s->names, symbol);
}

const char *symbol_module(const struct symbols *s, uint32_t symbol)
{
	const char *name = names_text(&s->names, symbol);

	return name + strlen(name) + 1;
}

int symbols_find_alike(const struct symbols *s, const uint32_t *list, size_t count, bool *alike)
{
	struct index first = {0}; /* of the symbols with a name and a short name of the module */
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++) {
		const char *name = symbol_name(s, list[i]);
		const char *module = module_short_name(symbol_module(s, list[i]));
		uint64_t key = XXH3_64bits_withSeed(name, strlen(name),
						    XXH3_64bits(module, strlen(module)));
		uint32_t other = index_get(&first, key);

		if (other == INDEX_NONE)
			ret = index_put(&first, key, (uint32_t)i);
		else
			alike[i] = alike[other] = true;
	}
	index_free(&first);
	return ret;
}

/*
 * Add the costs of all nodes to their functions, in a depth-first walk of the tree. above[] counts
 * how often each function is on the path from the root to the current node.
 */
static void add_tree_totals(struct function_cost *costs, const struct tree *t, uint32_t *above)
{
	const struct tree_node *nodes = t->nodes.items;
	uint32_t at = nodes[0].first_child;

	while (at != TREE_NONE && at != 0) {
		struct function_cost *cost = &costs[nodes[at].label];

		cost->self_count += nodes[at].self_count;
		cost->self_weight += nodes[at].self_weight;
		if (!above[nodes[at].label]++) {
			cost->total_count += nodes[at].count;
			cost->total_weight += nodes[at].weight;
		}
		if (nodes[at].first_child != TREE_NONE) {
			at = nodes[at].first_child;
			continue;
		}
		while (at != 0 && nodes[at].next_sibling == TREE_NONE) {
			above[nodes[at].label]--;
			at = nodes[at].parent;
		}
		if (at != 0) {
			above[nodes[at].label]--;
			at = nodes[at].next_sibling;
		}
	}
}

static int compare_function_costs(const void *a, const void *b, void *symbols)
{
	const struct function_cost *x = a, *y = b;
	int order;

	if (x->self_weight != y->self_weight)
		return x->self_weight < y->self_weight ? 1 : -1;
	if (x->total_weight != y->total_weight)
		return x->total_weight < y->total_weight ? 1 : -1;
	order = strcmp(symbol_name(symbols, x->symbol), symbol_name(symbols, y->symbol));
	return order ? order
		     : strcmp(symbol_module(symbols, x->symbol), symbol_module(symbols, y->symbol));
}

int functions_sort(struct functions *out, const struct function_cost *costs,
		   const struct symbols *s)
{
	struct functions f = {0};

	for (size_t i = 0; i < s->names.texts.count; i++) {
		struct function_cost cost = costs[i];

		cost.symbol = (uint32_t)i;
		if (!cost.total_count)
			continue;
		if (vector_push(&f.list, cost) < 0) {
			functions_free(&f);
			return -ENOMEM;
		}
	}
	if (f.list.count)
		qsort_r(f.list.items, f.list.count, sizeof(*f.list.items), compare_function_costs,
			(void *)s);
	*out = f;
	return 0;
}

int functions_of(struct functions *out, const struct tree *t, const struct symbols *s)
{
	size_t count = s->names.texts.count;
	struct function_cost *costs = calloc(count, sizeof(*costs));
	uint32_t *above = calloc(count, sizeof(*above));
	int ret = costs && above ? 0 : -ENOMEM;

	if (!ret) {
		add_tree_totals(costs, t, above);
		ret = functions_sort(out, costs, s);
	}
	free(costs);
	free(above);
	return ret;
}

void functions_free(struct functions *f)
{
	vector_free(&f->list);
}
