/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describe x86-64 code that nothing describes (musl, assembly language), by following every path
 * from the beginning of a function and counting what is on the stack.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_PATHS_H
#define SKEIN_SYMBOLIZERS_UNWIND_PATHS_H

#include "symbolizers/unwind/rows.h"
#include "symbolizers/unwind/source.h"

/*
 * Mean bytes of code for each described function from which on a file counts as one that describes
 * almost nothing. musl has 100 KiB; programs have about 200 bytes.
 */
#define UNWIND_PATHS_SPARSE 16384

/* Return whether a file with so many described functions describes almost none of its code. */
bool unwind_is_sparse(const struct unwind_source *s, uint64_t functions);

/*
 * Add rules for the undescribed code of a file that describes less than half of its code, into the
 * lowest layer. Call this after all other descriptions were added. Adds nothing if there is more
 * than 1 MiB of such code, or if only parts of the file are read. Return 0, -ENOMEM or -E2BIG.
 */
int unwind_paths_add(struct unwind_rows *rows, const struct unwind_source *s);

#endif
