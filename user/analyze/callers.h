/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function among its callers and callees: two trees made of one by cutting it at the function.
 * Where it calls itself, the outermost call counts: so both have the weight of its total.
 */
#ifndef SKEIN_ANALYZE_CALLERS_H
#define SKEIN_ANALYZE_CALLERS_H

#include "analyze/tree.h"

/*
 * From below the function to the root: the children of the root are who calls it. A path ends
 * (self) where a stack begins. 0 or -ENOMEM; free it with tree_free().
 */
int callers_of(struct tree *ret, const struct tree *t, uint32_t label);

/* From the function on: the root is the function, its children what it calls. */
int callees_of(struct tree *ret, const struct tree *t, uint32_t label);

#endif
