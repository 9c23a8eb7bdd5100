/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for stubs of the procedure linkage table that the linker did not describe. */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_PLT_H
#define SKEIN_SYMBOLIZERS_UNWIND_PLT_H

#include "symbolizers/unwind/rows.h"
#include "symbolizers/unwind/source.h"

/*
 * Add the rows. Return 0, also if there are no such stubs or their code has an unknown form; or a
 * negative errno.
 */
int unwind_plt_add(struct unwind_rows *rows, const struct unwind_source *s);

#endif
