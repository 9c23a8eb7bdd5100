/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables and paragraphs for a terminal. A column is as wide as its widest cell, or narrower where
 * the terminal is too narrow.
 */
#ifndef SKEIN_CMD_TABLE_H
#define SKEIN_CMD_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/vector.h"

/* Where and how text is printed. */
struct screen {
	FILE *out;
	unsigned int width; /* columns */
	bool color;
};

/* Styles, as SGR parameters. */
#define STYLE_PLAIN ""
#define STYLE_BOLD "1"
#define STYLE_DIM "2"
#define STYLE_HOT "31"
#define STYLE_WARM "33"

/*
 * Set up a screen. mode is auto, always or never (NULL means auto); return -EINVAL for another
 * word.
 */
int screen_open(struct screen *s, FILE *out, const char *mode);
/* Return these modes by index; NULL after the last. */
const char *screen_color_word(unsigned int index);
/* Print text in a style, or plain if colours are off. */
void screen_put(const struct screen *s, const char *style, const char *text);

struct column {
	const char *title;
	const char *style;
	bool right; /* align right, for numbers */
	bool keep_tail; /* cut at the front, for paths */
	unsigned int least; /* least width if the screen is too narrow; 0: cells are never cut */
};

#define TABLE_MAX_COLUMNS 12

struct table {
	const struct column *columns;
	unsigned int column_count; /* <= TABLE_MAX_COLUMNS */
	VECTOR(char *) cells; /* cleaned texts, row by row */
	int error; /* 0, or -ENOMEM if a cell was lost */
};

/*
 * Add the next cell, row by row. The text is cleaned, so untrusted names may be passed as they
 * are.
 */
void table_cell(struct table *t, const char *text);
__attribute__((format(printf, 2, 3))) void table_cellf(struct table *t, const char *format, ...);
/*
 * Print the table, and "... and 3 more" if it shows fewer rows than there are, and free it. Return
 * 0, or -ENOMEM if a cell was lost.
 */
int table_finish(struct table *t, const struct screen *s, size_t shown, size_t all);

/*
 * Print clean text filled into lines. The first line starts at column indent, where the cursor
 * already is; the others are indented by as many columns.
 */
void screen_put_wrapped(const struct screen *s, unsigned int indent, const char *style,
			const char *text);
/* Print a label and, after it, text that is cleaned and filled into lines. */
void screen_put_paragraph(const struct screen *s, const char *label, const char *style,
			  const char *text);

#endif
