/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for single functions of assembly language that nothing describes, in files that describe
 * their other code. libjvm has such functions: SpinPause, _Copy_*, SafeFetch*.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_BARE_H
#define SKEIN_SYMBOLIZERS_UNWIND_BARE_H

#include "symbolizers/unwind/rows.h"
#include "symbolizers/unwind/source.h"

/*
 * Add rules for functions of .symtab without a size, into the lowest layer, as far as all paths
 * through them keep to the ABI: each ret finds the return address. x86-64 only. Adds nothing to a
 * file without call frame information (Go), and if only parts of the file are read. Call this after
 * all descriptions were added. Return 0, -ENOMEM or -E2BIG.
 */
int unwind_bare_add(struct unwind_rows *rows, const struct unwind_source *s);

#endif
