// SPDX-License-Identifier: Apache-2.0
/* Make the trees of callers and callees of one function (callers.h). */
#include <errno.h>
#include <stdlib.h>

#include "analyze/callers.h"

static const struct tree_node *caller_tree_node(const struct tree *t, uint32_t node)
{
	return &t->nodes.items[node];
}

static void add_caller_self(struct tree_maker *m, uint32_t node, uint64_t count, uint64_t weight)
{
	m->tree.nodes.items[node].self_count += count;
	m->tree.nodes.items[node].self_weight += weight;
}

/*
 * Add the nodes of t that have the label, and all nodes below them, to the tree of callees. For
 * every node of t, to[node] is set to its node in the tree of callees, or to TREE_NONE if neither
 * the node nor an ancestor has the label.
 */
static int add_callees(struct tree_maker *m, const struct tree *t, uint32_t label, uint32_t *to)
{
	for (uint32_t i = 0; i < t->nodes.count; i++) {
		const struct tree_node *n = caller_tree_node(t, i);
		int ret;

		to[i] = i ? to[n->parent] : TREE_NONE; /* Parents precede their children. */
		ret = to[i] == TREE_NONE ? 0 : tree_descend(m, &to[i], n->label);
		if (ret < 0)
			return ret;
		if (to[i] == TREE_NONE && n->label == label)
			to[i] = 0;
		if (to[i] != TREE_NONE)
			add_caller_self(m, to[i], n->self_count, n->self_weight);
	}
	return 0;
}

int callees_of(struct tree *out, const struct tree *t, uint32_t label)
{
	uint32_t *to = calloc(t->nodes.count + 1, sizeof(*to));
	struct tree_maker m = {0};
	int ret = to ? tree_begin(&m) : -ENOMEM;

	if (!ret)
		ret = add_callees(&m, t, label, to);
	free(to);
	return tree_end(&m, ret, out);
}

/*
 * Add the callers of a node of the function: the path from the parent of the node up to the root of
 * t (excluded) becomes a path from the root of m down. The end of the new path gets the total of
 * the node.
 */
static int add_callers_above(struct tree_maker *m, const struct tree *t, uint32_t from)
{
	const struct tree_node *n = caller_tree_node(t, from);
	uint32_t to = 0;
	int ret = 0;

	for (uint32_t at = n->parent; at && ret >= 0; at = caller_tree_node(t, at)->parent)
		ret = tree_descend(m, &to, caller_tree_node(t, at)->label);
	if (ret < 0)
		return ret;
	add_caller_self(m, to, n->count, n->weight);
	return 0;
}

int callers_of(struct tree *out, const struct tree *t, uint32_t label)
{
	/* by node: whether the node or one of its ancestors has the label */
	bool *within = calloc(t->nodes.count + 1, sizeof(*within));
	struct tree_maker m = {0};
	int ret = within ? tree_begin(&m) : -ENOMEM;

	for (uint32_t i = 1; i < t->nodes.count && !ret; i++) {
		const struct tree_node *n = caller_tree_node(t, i);

		within[i] = within[n->parent] || n->label == label;
		if (within[i] && !within[n->parent])
			ret = add_callers_above(&m, t, i);
	}
	free(within);
	return tree_end(&m, ret, out);
}
