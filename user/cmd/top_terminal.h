/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the terminal of `skein top` (terminfo). */
#ifndef SKEIN_CMD_TOP_TERMINAL_H
#define SKEIN_CMD_TOP_TERMINAL_H

#include <stddef.h>

#include "base/error.h"

/* Whether stdin and stdout are a terminal that can show it: 0, or -ENOTTY with what to do. */
int top_terminal_check(struct error *err);

/* What to write to give the terminal back, without ncurses; returns its bytes. */
size_t top_terminal_restore(char *buf, size_t size);

#endif
