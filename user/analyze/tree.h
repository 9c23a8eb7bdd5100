/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples as one tree, merged by labels: what a folded line,
 * a call tree and the totals of functions are made from. Labels are numbers
 * that the caller gives to frames (one per name, or per name and module, or
 * per location); the tree neither knows nor copies their texts.
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
	uint64_t self_count, self_weight; /* of samples that end here */
	uint64_t count, weight; /* with everything below */
};

struct tree {
	VECTOR(struct tree_node) nodes;
};

struct tree_view {
	const uint32_t *frame_labels; /* by index of frame; frames of kind END are left out */
	uint32_t unknown_label; /* for frames that the trace has lost */
	/*
	 * The labels between the root and the stack of a sum, outermost first,
	 * at most TREE_MAX_PREFIX; returns how many.
	 */
	unsigned int (*prefix)(const void *context, const struct profile_sum *s, uint32_t *labels);
	const void *context;
};

#define TREE_ALL_EVENTS PROFILE_NONE

/* The tree of the sums of an event, or of all: 0 or -ENOMEM. Free it with tree_free(). */
int tree_build(struct tree *ret, const struct profile *p, uint32_t event,
	       const struct tree_view *view);
/*
 * The same, and placed() is told the node of each sum in turn; what it returns, 0 or a negative
 * errno, ends the building if it is not 0.
 */
typedef int tree_placed(void *receiver, const struct profile_sum *s, uint32_t node);
int tree_build_placing(struct tree *ret, const struct profile *p, uint32_t event,
		       const struct tree_view *view, tree_placed *placed, void *receiver);
void tree_free(struct tree *t);

/* A tree in the making, for who has paths that are not stacks. Zeroed: not begun. */
struct tree_maker {
	struct tree tree; /* own weights only, until tree_end() */
	struct index children; /* (parent node, label) -> node */
};

/* With its root: 0 or -ENOMEM. */
int tree_begin(struct tree_maker *m);
/* Go from *node to its child of that label, which is made if there is none. */
int tree_descend(struct tree_maker *m, uint32_t *node, uint32_t label);
/* Add the weights up. rc: what making it came to; returned, and *ret is untouched unless 0. */
int tree_end(struct tree_maker *m, int rc, struct tree *ret);

#endif
