/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables and paragraphs. A column is as wide as its widest cell, or narrower where a terminal is
 * too narrow.
 */
#ifndef SKEIN_CMD_TABLE_H
#define SKEIN_CMD_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/options.h"
#include "base/vector.h"

/* Where and how text is printed. */
struct screen {
	FILE *out;
	unsigned int width; /* columns, into which text is filled and tables are laid out */
	bool color;
	bool uncut; /* not a terminal: no cell is cut, however wide the table becomes */
	bool full_names; /* functions have their full names (base/name.h) */
};

/* Styles, as SGR parameters. */
#define STYLE_PLAIN ""
#define STYLE_BOLD "1"
#define STYLE_DIM "2"
#define STYLE_GOOD "32"
#define STYLE_HOT "31"
#define STYLE_WARM "33"

/*
 * Set up a screen. mode is auto, always or never (NULL means auto); return -EINVAL for another
 * word.
 */
int screen_open(struct screen *s, FILE *out, const char *mode);
/* Return these modes by index; NULL after the last. */
const char *screen_color_word(unsigned int index);
/* A row of a table of options. in is the type of the options, member a bool. */
#define FULL_NAMES_OPTION(in, member) \
	{.name = "full-names", .type = OPTION_FLAG, \
	 .help = "Names of C++ and Rust in full. Usually return types and default template " \
		 "arguments are left out, and where room is short also parameters and the middle " \
		 "of a name; and in trees of Python, the frames of importlib are one line. " \
		 "Exports and --json always have all.", \
	 .offset = offsetof(in, member)}

/*
 * Write the name of a function to buf, clean, short unless the screen has full names, and made to
 * fit into columns. Return buf.
 */
char *screen_name(const struct screen *s, const char *name, unsigned int columns, char *buf,
		  size_t size);
/* Print text in a style, or plain if colours are off. */
void screen_put(const struct screen *s, const char *style, const char *text);

/* Where the text of a cell is cut that is too wide. */
enum column_cut {
	CUT_END,
	CUT_FRONT, /* for paths */
	CUT_NAME, /* names of functions: shortened as base/name.h does */
};

struct column {
	const char *title;
	const char *style;
	bool right; /* align right, for numbers */
	enum column_cut cut;
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
