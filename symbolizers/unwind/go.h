/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows for Go programs, which have no call frame information. The source is the stack pointer
 * deltas in Go's own table of functions, which survives stripping.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_GO_H
#define SKEIN_SYMBOLIZERS_UNWIND_GO_H

#include "symbolizers/unwind/rows.h"
#include "symbolizers/unwind/source.h"

/*
 * Add the functions of a file if it is a Go program. Return 0, also if it is none or if its table
 * is invalid, which is counted in b->refused; -ENOMEM, -E2BIG or a negative errno of reading.
 */
int unwind_go_add(struct unwind_rows *b, const struct unwind_source *s);

#endif
