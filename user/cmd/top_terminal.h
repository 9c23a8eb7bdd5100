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

/*
 * Write the escape sequences that restore the terminal without ncurses to buf, as far as they fit;
 * return their size in bytes. Call this after newterm(), which loads the terminfo entry.
 */
size_t top_terminal_restore(char *buf, size_t size);

#endif
