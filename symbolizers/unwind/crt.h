/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for undescribed start-up code that the compiler links into each file. */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_CRT_H
#define SKEIN_SYMBOLIZERS_UNWIND_CRT_H

#include "symbolizers/unwind/rows.h"
#include "symbolizers/unwind/source.h"

/*
 * Add the rules. Return 0, also if there is no such code or the code has an unknown form; -ENOMEM
 * or -E2BIG.
 */
int unwind_crt_add(struct unwind_rows *rows, const struct unwind_source *s);

#endif
