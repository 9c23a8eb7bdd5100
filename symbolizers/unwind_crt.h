/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for the pieces of programs that come with the compiler and that nobody describes. */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_CRT_H
#define SKEIN_SYMBOLIZERS_UNWIND_CRT_H

#include "symbolizers/unwind_rows.h"
#include "symbolizers/unwind_source.h"

/* 0, also if there are none or their code is another than is known; -ENOMEM or -E2BIG. */
int unwind_crt_add(struct unwind_rows *rows, const struct unwind_source *s);

#endif
