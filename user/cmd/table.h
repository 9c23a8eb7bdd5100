/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for a terminal: columns as wide as they need to be and the terminal allows. */
#ifndef SKEIN_CMD_TABLE_H
#define SKEIN_CMD_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/vector.h"

/* Where and how text is shown. */
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

/* mode: auto, always or never (NULL: auto). -EINVAL for another word. */
int screen_open(struct screen *s, FILE *out, const char *mode);
/* These modes, one by one; NULL after the last. */
const char *color_word(unsigned int index);
/* Text in a style, or as it is where there is no colour. */
void screen_put(const struct screen *s, const char *style, const char *text);

struct column {
	const char *title;
	const char *style;
	bool right; /* numbers */
	bool keep_tail; /* paths are cut at their front */
	unsigned int least; /* columns it may shrink to; 0: it is never cut */
};

#define TABLE_MAX_COLUMNS 12

struct table {
	const struct column *columns;
	unsigned int column_count; /* <= TABLE_MAX_COLUMNS */
	VECTOR(char *) cells; /* clean, row after row */
	int error;
};

/* The next cell, row by row; names of processes may be given as they are. */
void table_cell(struct table *t, const char *text);
__attribute__((format(printf, 2, 3))) void table_cellf(struct table *t, const char *format, ...);
/* Print it: 0, or -ENOMEM if a cell was lost. */
int table_print(const struct table *t, const struct screen *s);
void table_free(struct table *t);

/*
 * Clean text, filled into lines. The first of them stands behind indent columns already, the others
 * are indented.
 */
void put_wrapped(const struct screen *s, unsigned int indent, const char *style, const char *text);
/* Text, cleaned, filled into lines behind a label that stands before the first of them. */
void put_paragraph(const struct screen *s, const char *label, const char *style,
		   const char *text);

#endif
