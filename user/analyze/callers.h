/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split a tree at one function into the tree of its callers and the tree of its callees. If the
 * function calls itself, the outermost call counts, so both trees have the weight of the function's
 * total.
 */
#ifndef SKEIN_ANALYZE_CALLERS_H
#define SKEIN_ANALYZE_CALLERS_H

#include "analyze/tree.h"

/*
 * Make the tree of callers of the function with this label in t: the children of the root are the
 * callers of the function, their children the callers' callers, and so on. The self cost of a path
 * is at its end, the outermost caller. Return 0 or -ENOMEM; free the tree with tree_free().
 */
int callers_of(struct tree *out, const struct tree *t, uint32_t label);

/*
 * Make the tree of callees of the function with this label in t: the root is the function, its
 * children are the functions it calls. Return 0 or -ENOMEM; free the tree with tree_free().
 */
int callees_of(struct tree *out, const struct tree *t, uint32_t label);

#endif
