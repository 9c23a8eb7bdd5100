/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold Python's import system in a call tree: between a module that is imported and the one that
 * imports it, some eight frames say nothing more.
 */
#ifndef SKEIN_ANALYZE_PYTHON_IMPORTS_H
#define SKEIN_ANALYZE_PYTHON_IMPORTS_H

#include "analyze/functions.h"

/* First characters of the name of a folded node. */
#define PYTHON_IMPORTS_FOLDED "[importlib: "

/*
 * Make one node of the frames of importlib that follow each other, with the C functions of the
 * interpreter that lead to them or from one to the next, named "[importlib: 8 frames]"; their self
 * weights are added up. The number is that of the path on which most samples leave the node. Labels
 * are symbols; names of the new nodes are added to s. Return 0, or -ENOMEM or -EOVERFLOW with the
 * tree unchanged.
 */
int python_fold_imports(struct tree *t, struct symbols *s);

#endif
