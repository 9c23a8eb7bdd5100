/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of the terminal of `skein top` (terminfo). */
#ifndef SKEIN_CMD_TOP_TERMINAL_H
#define SKEIN_CMD_TOP_TERMINAL_H

#include <stddef.h>

#include "base/error.h"

/*
 * Check whether stdin and stdout are a terminal that can show the screen. Return 0, or -ENOTTY
 * with advice in *err.
 */
int top_terminal_check(struct error *err);

/* Get the sequences that restore the terminal without ncurses; return their size in bytes. */
size_t top_terminal_restore(char *buf, size_t size);

#endif
