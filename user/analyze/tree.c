// SPDX-License-Identifier: Apache-2.0
/*
 * Merge stacks into a tree by label. The tree node where the path of a stack ends is stored: for
 * every stack under the last prefix of labels (struct tree_view) with which the stack came, and for
 * some stacks under every prefix. So a path, however deep, is usually not walked from its root
 * again.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/tree.h"

struct last_node {
	uint32_t prefix, node; /* TREE_NONE: no node yet */
};

struct tree_builder {
	struct tree_maker made;
	const struct profile *profile;
	const struct tree_view *view;
	struct index ends; /* (prefix node, stack) -> node, for landmarks */
	struct last_node *last; /* by stack: its node under the last prefix it had */
	VECTOR(uint32_t) path; /* stacks on the way to a known node, leaf first */
};

static uint64_t pair_key(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

int tree_descend(struct tree_maker *m, uint32_t *node, uint32_t label)
{
	uint64_t key = pair_key(*node, label);
	uint32_t child = m->tree.nodes.items[*node].first_child;
	struct tree_node fresh = {.label = label, .parent = *node, .first_child = TREE_NONE};

	/* Usually the newest child has the label; a node without children needs no lookup. */
	if (child != TREE_NONE && m->tree.nodes.items[child].label != label)
		child = index_get(&m->children, key);
	if (child == INDEX_NONE) {
		child = m->tree.nodes.count;
		if (child == TREE_NONE)
			return -EOVERFLOW;
		fresh.next_sibling = m->tree.nodes.items[*node].first_child;
		if (vector_push(&m->tree.nodes, fresh) < 0 ||
		    index_put(&m->children, key, child) < 0)
			return -ENOMEM;
		m->tree.nodes.items[*node].first_child = child;
	}
	*node = child;
	return 0;
}

/* Move *node to its child for the frame of a stack; a mark of a stack's end moves nothing. */
static int tree_descend_stack(struct tree_builder *b, uint32_t *node, uint32_t stack)
{
	uint32_t frame = b->profile->stacks[stack].frame;

	if (frame == PROFILE_NONE)
		return tree_descend(&b->made, node, b->view->unknown_label);
	if (b->profile->frames[frame].f.kind == FRAME_END)
		return 0;
	return tree_descend(&b->made, node, b->view->frame_labels[frame]);
}

/*
 * Return whether the node of a stack is stored under every prefix: every 16th stack, which takes
 * little memory and usually leaves short paths between such landmarks.
 */
static bool is_landmark(uint32_t stack)
{
	return stack % 16 == 0;
}

/* Move *node, which is the node of a prefix, to the node of a stack below that prefix. */
static int tree_descend_path(struct tree_builder *b, uint32_t *node, uint32_t stack)
{
	uint32_t prefix = *node, known = INDEX_NONE;

	b->path.count = 0;
	for (; stack != PROFILE_NONE; stack = b->profile->stacks[stack].parent) {
		if (b->last[stack].node != TREE_NONE && b->last[stack].prefix == prefix)
			known = b->last[stack].node;
		else if (is_landmark(stack))
			known = index_get(&b->ends, pair_key(prefix, stack));
		if (known != INDEX_NONE)
			break;
		if (vector_push(&b->path, stack) < 0)
			return -ENOMEM;
	}
	if (known != INDEX_NONE)
		*node = known;
	for (size_t i = b->path.count; i-- > 0;) {
		int ret = tree_descend_stack(b, node, b->path.items[i]);

		b->last[b->path.items[i]] = (struct last_node){prefix, *node};
		if (!ret && is_landmark(b->path.items[i]))
			ret = index_put(&b->ends, pair_key(prefix, b->path.items[i]), *node);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int tree_add_sum(struct tree_builder *b, const struct profile_sum *s)
{
	uint32_t labels[TREE_MAX_PREFIX];
	unsigned int count = b->view->prefix ? b->view->prefix(b->view->context, s, labels) : 0;
	uint32_t node = 0;
	int ret = 0;

	for (unsigned int i = 0; i < count && !ret; i++)
		ret = tree_descend(&b->made, &node, labels[i]);
	if (!ret)
		ret = tree_descend_path(b, &node, s->stack);
	if (ret < 0)
		return ret;
	b->made.tree.nodes.items[node].self_count += s->count;
	b->made.tree.nodes.items[node].self_weight += s->weight;
	return b->view->placed ? b->view->placed(b->view->receiver, s, node) : 0;
}

static void tree_add_up(struct tree *t)
{
	for (size_t i = 0; i < t->nodes.count; i++) {
		t->nodes.items[i].count = t->nodes.items[i].self_count;
		t->nodes.items[i].weight = t->nodes.items[i].self_weight;
	}
	for (size_t i = t->nodes.count; i-- > 1;) {
		const struct tree_node *n = &t->nodes.items[i];

		t->nodes.items[n->parent].count += n->count;
		t->nodes.items[n->parent].weight += n->weight;
	}
}

int tree_begin(struct tree_maker *m)
{
	static const struct tree_node root = {TREE_NONE, TREE_NONE, TREE_NONE, TREE_NONE,
					      0,	 0,	    0,	       0};

	return vector_push(&m->tree.nodes, root);
}

int tree_end(struct tree_maker *m, int ret, struct tree *out)
{
	index_free(&m->children);
	if (ret < 0) {
		tree_free(&m->tree);
		return ret;
	}
	tree_add_up(&m->tree);
	*out = m->tree;
	return 0;
}

int tree_build(struct tree *out, const struct profile *p, uint32_t event,
	       const struct tree_view *view)
{
	struct tree_builder b = {.profile = p, .view = view};
	size_t stacks = (size_t)p->count.stacks + 1;
	int ret = tree_begin(&b.made);

	b.last = malloc(stacks * sizeof(*b.last));
	if (b.last)
		memset(b.last, 0xff, stacks * sizeof(*b.last));
	else if (!ret)
		ret = -ENOMEM;
	for (uint32_t i = 0; i < p->count.sums && !ret; i++)
		if ((event == TREE_ALL_EVENTS || p->sums[i].event == event) &&
		    (!view->counts || view->counts(view->context, &p->sums[i])))
			ret = tree_add_sum(&b, &p->sums[i]);
	free(b.last);
	index_free(&b.ends);
	vector_free(&b.path);
	return tree_end(&b.made, ret, out);
}

void tree_free(struct tree *t)
{
	vector_free(&t->nodes);
}
