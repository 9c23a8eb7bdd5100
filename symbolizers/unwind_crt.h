/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for _init() and _fini(), which crti.o and crtn.o make of pieces and nobody describes. */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_CRT_H
#define SKEIN_SYMBOLIZERS_UNWIND_CRT_H

#include "symbolizers/unwind_rows.h"
#include "symbolizers/unwind_source.h"

/* 0, also if there are none or their code is another than is known; -ENOMEM or -E2BIG. */
int unwind_crt_add(struct unwind_rows *rows, const struct unwind_source *s);

#endif
