/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that are left in another way than call frame information can say. */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_STARTS_H
#define SKEIN_SYMBOLIZERS_UNWIND_STARTS_H

#include "symbolizers/unwind_rows.h"
#include "symbolizers/unwind_source.h"

/*
 * Add to rows, which hold everything else, what they leave out: the entry point, where threads
 * begin in clone(), and where signal handlers return to. 0 or a negative errno.
 */
int unwind_starts_add(struct unwind_rows *rows, const struct unwind_source *s);

#endif
