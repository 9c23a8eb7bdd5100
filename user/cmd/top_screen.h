/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal of `skein top`: taken over as a whole, and given back as it was, whatever happens.
 * There is one, and signal handlers must find it: its state is global.
 */
#ifndef SKEIN_CMD_TOP_SCREEN_H
#define SKEIN_CMD_TOP_SCREEN_H

#include <stdbool.h>

#include "base/error.h"
#include "cmd/top_text.h"

/* X(NAME, colour of 8 (-1: the terminal's own), attributes) */
#define TOP_STYLES(X) \
	X(PLAIN, -1, A_NORMAL) \
	X(DIM, -1, A_DIM) \
	X(BOLD, -1, A_BOLD) \
	X(TITLE, COLOR_CYAN, A_BOLD) \
	X(TAB, -1, A_REVERSE) \
	X(COLUMNS, COLOR_CYAN, A_UNDERLINE) \
	X(HOT, COLOR_RED, A_BOLD) \
	X(WARM, COLOR_YELLOW, A_NORMAL) \
	X(KERNEL, COLOR_MAGENTA, A_NORMAL) \
	X(JIT, COLOR_BLUE, A_NORMAL) \
	X(PYTHON, COLOR_GREEN, A_NORMAL) \
	X(WARNING, COLOR_RED, A_BOLD)

#define TOP_STYLE_ENUM(NAME, color, attributes) TOP_STYLE_##NAME,
enum top_style { TOP_STYLES(TOP_STYLE_ENUM) TOP_STYLE_COUNT };
#undef TOP_STYLE_ENUM

/* Take the terminal over. What is written to stderr from now on is kept until it is given back. */
int top_screen_open(struct error *err);
/* Give it back; then what stderr got meanwhile follows. Also if it is not open. */
void top_screen_close(void);

/* The terminal has another size. */
void top_screen_resize(void);
/* Give the terminal back, stop as Ctrl-Z does, and take it over again when continued. */
void top_screen_suspend(void);

unsigned int top_screen_rows(void);
unsigned int top_screen_columns(void);
bool top_screen_utf8(void);

/*
 * Text at a place, in so many columns at most and never over the edge; the cursor's row is shown
 * reversed. Returns the columns that it took. *cut (may be NULL) is set if it was cut.
 */
unsigned int top_put(unsigned int row, unsigned int column, enum top_style style, bool reversed,
		     const char *text, unsigned int columns, enum top_cut where, bool *cut);

/* The next key: false if there is none. code: it is one of KEY_*. */
bool top_screen_key(unsigned int *key, bool *code);

#endif
