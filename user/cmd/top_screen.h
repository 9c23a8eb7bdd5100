/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control the terminal of `skein top`: take over the whole terminal, and restore it in all cases.
 * The state is global, because there is one terminal and signal handlers must find the state.
 */
#ifndef SKEIN_CMD_TOP_SCREEN_H
#define SKEIN_CMD_TOP_SCREEN_H

#include <stdbool.h>

#include "base/error.h"
#include "cmd/top_text.h"

/* X(NAME, colour of 8 (-1 for the terminal's default), attributes) */
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

/*
 * Take over the terminal. Output to stderr is collected until the terminal is restored. Return 0,
 * or -ENOTTY with the cause in *err.
 */
int top_screen_open(struct error *err);
/* Restore the terminal, then print the collected stderr. Allowed also if the screen is not open. */
void top_screen_close(void);

/* Handle a change of the terminal's size. */
void top_screen_resize(void);
/*
 * Restore the terminal, stop the process as Ctrl-Z does, and take over the terminal again when
 * continued.
 */
void top_screen_suspend(void);

unsigned int top_screen_rows(void);
unsigned int top_screen_columns(void);
bool top_screen_utf8(void);

/* The position of the next text in a line. */
struct top_pen {
	unsigned int row, column;
	bool reversed; /* in the cursor's row */
};

/*
 * Put text at the pen, in at most the given number of columns and never over the edge, and move
 * the pen after the text. Return whether the text was cut; false if the pen is outside of the
 * screen, where nothing is put.
 */
bool top_screen_put(struct top_pen *p, enum top_style style, const char *text, unsigned int columns,
		    enum top_cut where);

/* Get the next key; false if there is none. *code is set if the key is one of ncurses' KEY_*. */
bool top_screen_key(unsigned int *key, bool *code);

#endif
