// SPDX-License-Identifier: Apache-2.0
/*
 * Make rows from trees: the call tree below each program, or the callers and callees of one
 * function. The children of a row are shown if the user has opened the row. As long as the user has
 * neither opened nor closed the row, they are shown if the filter matches below the row, or if the
 * row has a large share. Rows are indented only where a path branches, so that deep stacks stay on
 * screen.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyze/python_imports.h"
#include "cmd/top_model.h"

/* A node that is to become a row. */
struct pending_row {
	uint32_t node;
	unsigned int depth;
	uint64_t key;
};

struct branch_builder {
	struct top_model *model;
	const struct top_request *request;
	const struct tree *tree;
	bool callers; /* this is the callers tree, in which a row's self weight is meaningless */
	bool *found; /* by node: the filter matches the node or something below it */
	bool *found_below; /* by node: the filter matches something below the node */
	VECTOR(struct pending_row) pending; /* the last element becomes a row next */
	VECTOR(uint32_t) children; /* children of one node */
};

static const struct tree_node *branch_node(const struct branch_builder *g, uint32_t node)
{
	return &g->tree->nodes.items[node];
}

static const char *branch_name(const struct branch_builder *g, uint32_t node)
{
	return symbol_name(&g->model->symbols, branch_node(g, node)->label);
}

/* Apply the filter to all nodes; children have higher indexes than their parents. */
static int filter_branches(struct branch_builder *g)
{
	const struct symbols *s = &g->model->symbols;
	size_t count = g->tree->nodes.count;

	g->found = calloc(count + 1, sizeof(bool));
	g->found_below = calloc(count + 1, sizeof(bool));
	if (!g->found || !g->found_below)
		return -ENOMEM;
	for (size_t i = count; g->request->filter && i-- > 1;) {
		uint32_t label = branch_node(g, (uint32_t)i)->label, parent;

		parent = branch_node(g, (uint32_t)i)->parent;
		g->found[i] =
			g->found_below[i] || top_model_matches(g->request, symbol_name(s, label),
							       symbol_module(s, label));
		g->found_below[parent] |= g->found[i];
	}
	return 0;
}

static int compare_branches(const void *a, const void *b, void *context)
{
	const struct branch_builder *g = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct tree_node *m = branch_node(g, x), *n = branch_node(g, y);
	int order = 0;

	if (top_view_sort(g->request->view, g->request->sort) != TOP_BY_NAME)
		order = (m->weight < n->weight) - (m->weight > n->weight);
	if (!order)
		order = strcmp(branch_name(g, x), branch_name(g, y));
	if (!order)
		order = (m->label > n->label) - (m->label < n->label);
	return g->request->reverse ? -order : order;
}

/* List the shown children of a node in order. */
static int list_branches(struct branch_builder *g, uint32_t node)
{
	g->children.count = 0;
	for (uint32_t at = branch_node(g, node)->first_child; at != TREE_NONE;
	     at = branch_node(g, at)->next_sibling)
		if ((!g->request->filter || g->found[at]) && vector_push(&g->children, at) < 0)
			return -ENOMEM;
	if (g->children.count)
		qsort_r(g->children.items, g->children.count, sizeof(uint32_t), compare_branches,
			g);
	return 0;
}

static bool is_branch_open(const struct branch_builder *g, const struct pending_row *w)
{
	const struct tree_node *n = branch_node(g, w->node);
	uint32_t toggled = index_get(g->request->toggled, w->key);

	if (toggled != INDEX_NONE)
		return toggled;
	if (g->found_below[w->node])
		return true;
	return g->request->open_part &&
	       n->weight >= branch_node(g, 0)->weight / g->request->open_part;
}

static int push_branch_row(struct branch_builder *g, const struct pending_row *w)
{
	const struct top_model *m = g->model;
	const struct tree_node *n = branch_node(g, w->node);
	struct top_row row = {
		.key = w->key,
		.name = symbol_name(&m->symbols, n->label),
		.module = symbol_module(&m->symbols, n->label),
		.self = g->callers ? 0 : n->self_weight,
		.total = n->weight,
		.kind = n->label < m->kinds.count ? m->kinds.items[n->label] : TOP_HEADING,
		.symbol = n->label,
		.depth = w->depth,
		.branch = n->first_child != TREE_NONE,
	};

	row.open = row.branch && is_branch_open(g, w);
	return vector_push(&g->model->rows, row);
}

/*
 * Push the shown children of a node, to become rows. They are indented more than the node, except
 * an only child and the children of the root.
 */
static int push_pending_rows(struct branch_builder *g, const struct pending_row *w)
{
	int ret = list_branches(g, w->node);

	for (size_t i = g->children.count; i-- > 0 && !ret;) {
		uint32_t child = g->children.items[i];
		struct pending_row next = {child, w->depth, 0};

		next.key = XXH3_64bits_withSeed(
			&w->key, sizeof(w->key),
			top_model_symbol_key(&g->model->symbols, branch_node(g, child)->label));
		next.depth += w->node && g->children.count > 1;
		ret = vector_push(&g->pending, next);
	}
	return ret;
}

/*
 * Make rows of all nodes of a tree except its root. seed keeps the row keys of different trees
 * apart.
 */
static int push_tree_rows(struct top_model *m, const struct top_request *request,
			  const struct tree *t, bool callers, uint64_t seed)
{
	struct branch_builder g = {.model = m, .request = request, .tree = t, .callers = callers};
	const struct pending_row root = {0, 1, seed};
	int ret = filter_branches(&g);

	if (!ret)
		ret = push_pending_rows(&g, &root);
	while (!ret && g.pending.count) {
		struct pending_row w = g.pending.items[--g.pending.count];

		ret = push_branch_row(&g, &w);
		if (!ret && m->rows.items[m->rows.count - 1].open)
			ret = push_pending_rows(&g, &w);
	}
	free(g.found);
	free(g.found_below);
	vector_free(&g.pending);
	vector_free(&g.children);
	return ret;
}

/* Call tree */

struct branch_programs {
	const struct profile *profile;
	VECTOR(uint32_t) labels; /* by thread */
};

static unsigned int branch_program_label(const void *context, const struct profile_sum *s,
					 uint32_t *labels)
{
	const struct branch_programs *p = context;

	if (s->thread == PROFILE_NONE)
		return 0;
	labels[0] = p->labels.items[s->thread];
	return 1;
}

/*
 * Add the programs as symbols after those of the functions. Programs have no entry in
 * top_model.kinds, which distinguishes them from functions.
 */
static int add_branch_programs(struct top_model *m, struct branch_programs *out)
{
	const struct profile *p = &m->part;

	for (uint32_t i = 0; i < p->count.threads; i++) {
		uint32_t process = p->threads[i].process, label;
		char name[80];

		snprintf(name, sizeof(name), "program %s",
			 process == PROFILE_NONE ? "[unknown]"
						 : process_name(&p->processes[process].p));
		if (symbols_add(&m->symbols, name, &label) < 0 ||
		    vector_push(&out->labels, label) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int make_tree_rows(struct top_model *m, const struct top_request *request)
{
	struct branch_programs programs = {.profile = &m->part};
	const struct tree_view view = {
		.frame_labels = m->symbols.of_frame,
		.unknown_label = m->symbols.unknown,
		.prefix = branch_program_label,
		.context = &programs,
	};
	int ret = add_branch_programs(m, &programs);

	tree_free(&m->tree);
	if (!ret)
		ret = tree_build(&m->tree, &m->part, m->event, &view);
	if (!ret)
		ret = request->full_names ? 0 : python_fold_imports(&m->tree, &m->symbols);
	if (!ret)
		ret = push_tree_rows(m, request, &m->tree, false, TOP_TREE);
	vector_free(&programs.labels);
	return ret;
}

/* Callers and callees */

static int push_heading_row(struct top_model *m, const char *text)
{
	const struct top_row row = {
		.key = XXH3_64bits(text, strlen(text)),
		.name = text,
		.module = "",
		.kind = TOP_HEADING,
		.symbol = TREE_NONE,
	};

	return vector_push(&m->rows, row);
}

/* Push the row of the function itself, between its callers and its callees. */
static int push_focus_row(struct top_model *m, uint32_t symbol, const struct tree *callees)
{
	const struct tree_node *root = &callees->nodes.items[0];
	const struct top_row row = {
		.key = top_model_symbol_key(&m->symbols, symbol),
		.name = symbol_name(&m->symbols, symbol),
		.module = symbol_module(&m->symbols, symbol),
		.self = root->self_weight,
		.total = root->weight,
		.kind = m->kinds.items[symbol],
		.symbol = symbol,
	};

	return vector_push(&m->rows, row);
}

static int make_neighbour_rows(struct top_model *m, const struct top_request *request,
			       uint32_t symbol)
{
	struct tree up = {.nodes = {0}}, down = {.nodes = {0}};
	int ret = callers_of(&up, &m->tree, symbol);

	if (!ret)
		ret = callees_of(&down, &m->tree, symbol);
	if (!ret)
		ret = push_heading_row(m, up.nodes.count > 1 ? "called by" : "called by nobody");
	if (!ret)
		ret = push_tree_rows(m, request, &up, true, TOP_CALLERS);
	if (!ret)
		ret = push_heading_row(m, down.nodes.count > 1 ? "itself, and what it calls"
							       : "itself");
	if (!ret)
		ret = push_focus_row(m, symbol, &down);
	if (!ret)
		ret = push_tree_rows(m, request, &down, false, TOP_CALLERS + 1);
	tree_free(&up);
	tree_free(&down);
	return ret;
}

static const struct top_focus *last_function_focus(const struct top_request *request)
{
	for (size_t i = request->focus_count; i-- > 0;)
		if (request->foci[i].function)
			return &request->foci[i];
	return NULL;
}

int top_rows_branches(struct top_model *m, const struct top_request *request)
{
	const struct top_focus *f = last_function_focus(request);
	uint32_t symbol;

	if (request->view == TOP_TREE)
		return make_tree_rows(m, request);
	symbol = f ? top_model_find_symbol(m, f) : TREE_NONE;
	return symbol == TREE_NONE ? 0 : make_neighbour_rows(m, request, symbol);
}
