/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows for Go programs, which have no .eh_frame. The source is the stack pointer deltas in Go's own
 * table of functions, which survives stripping.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_GO_H
#define SKEIN_SYMBOLIZERS_UNWIND_GO_H

#include "symbolizers/unwind/rows.h"
#include "symbolizers/unwind/source.h"

/*
 * Add the functions of a file if the file is a Go program. Invalid functions, and an invalid table,
 * are counted in b->refused. Return 0, also if the file is no Go program or its table is invalid;
 * -ENOMEM, -E2BIG or a negative errno of reading.
 */
int unwind_go_add(struct unwind_rows *b, const struct unwind_source *s);

#endif
