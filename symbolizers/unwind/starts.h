/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add rules for functions in which threads begin, and for the code to which signal handlers return,
 * where call frame information is missing or incomplete.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_STARTS_H
#define SKEIN_SYMBOLIZERS_UNWIND_STARTS_H

#include "symbolizers/unwind/rows.h"
#include "symbolizers/unwind/source.h"

/*
 * Add the missing rules to rows, which hold all other descriptions: the entry point, the start of
 * threads in clone(), and the code to which signal handlers return. Return 0 or a negative errno.
 */
int unwind_starts_add(struct unwind_rows *rows, const struct unwind_source *s);

#endif
