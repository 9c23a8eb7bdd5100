/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merge samples into one tree by labels. Folded stacks, call trees and the totals of functions are
 * made from such trees. Labels are numbers that the caller gives to frames (one per name, or per
 * name and module, or per location); the tree does not use their texts.
 */
#ifndef SKEIN_ANALYZE_TREE_H
#define SKEIN_ANALYZE_TREE_H

#include "analyze/index.h"
#include "analyze/profile.h"
#include "base/vector.h"

#define TREE_NONE UINT32_MAX
#define TREE_MAX_PREFIX 8

/* Children have higher indexes than their parents. Node 0 is the root and has no label. */
struct tree_node {
	uint32_t label;
	uint32_t parent, first_child, next_sibling; /* TREE_NONE: none */
	uint64_t self_count, self_weight; /* sums over the samples that end at this node */
	uint64_t count, weight; /* sums over this node and all nodes below */
};

struct tree {
	VECTOR(struct tree_node) nodes;
};

struct tree_view {
	const uint32_t *frame_labels; /* by index of frame; frames of kind END are left out */
	uint32_t unknown_label; /* for frames missing in the trace */
	/*
	 * Store the labels between the root and the stack of a sum, outermost first, at most
	 * TREE_MAX_PREFIX. Return their number. May be NULL.
	 */
	unsigned int (*prefix)(const void *context, const struct profile_sum *s, uint32_t *labels);
	/* Return whether a sum belongs to the tree. NULL: all do. */
	bool (*counts)(const void *context, const struct profile_sum *s);
	const void *context;
	/*
	 * Called with the node of each sum in turn; returns 0, or a negative errno that ends the
	 * building. May be NULL.
	 */
	int (*placed)(void *receiver, const struct profile_sum *s, uint32_t node);
	void *receiver;
};

#define TREE_ALL_EVENTS PROFILE_NONE

/*
 * Make the tree of the sums of one event, or of all. Return 0, -ENOMEM, -EOVERFLOW or the error of
 * placed(). Free the tree with tree_free().
 */
int tree_build(struct tree *out, const struct profile *p, uint32_t event,
	       const struct tree_view *view);
void tree_free(struct tree *t);

/* A tree under construction, for paths that are not stacks. Pass zeroed memory to tree_begin(). */
struct tree_maker {
	struct tree tree; /* the nodes have only their own weights until tree_end() */
	struct index children; /* (parent node, label) -> node */
};

/* Create the root. Return 0 or -ENOMEM. */
int tree_begin(struct tree_maker *m);
/*
 * Move *node to its child of that label, which is created if needed. Return 0, -ENOMEM or
 * -EOVERFLOW.
 */
int tree_descend(struct tree_maker *m, uint32_t *node, uint32_t label);
/*
 * Add the weights up and store the tree in *out. ret is the result of the construction, which is
 * returned; if it is negative, the tree is freed and *out is unchanged.
 */
int tree_end(struct tree_maker *m, int ret, struct tree *out);

#endif
