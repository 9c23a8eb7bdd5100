// SPDX-License-Identifier: Apache-2.0
/* Lay out tables and paragraphs on a terminal. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/name.h"
#include "base/text.h"
#include "cmd/table.h"

#define GAP 2 /* blanks between columns */
#define CELL_BYTES 4096 /* bytes of a cell at most */
#define LABEL_COLUMNS 11
#define DEFAULT_WIDTH 80
#define WIDTH_MIN 40
/* Columns that a name of any length takes from a table that is not cut; longer ones stick out. */
#define UNCUT_COLUMNS 60

/* Set the width from $COLUMNS, or from the terminal. What goes elsewhere is not cut. */
static void screen_set_width(struct screen *s)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");

	s->uncut = false;
	if (columns && atoi(columns) >= WIDTH_MIN) {
		s->width = (unsigned int)atoi(columns);
		return;
	}
	s->width = DEFAULT_WIDTH;
	if (ioctl(fileno(s->out), TIOCGWINSZ, &size) < 0)
		s->uncut = !isatty(fileno(s->out));
	else if (size.ws_col >= WIDTH_MIN)
		s->width = size.ws_col;
}

const char *screen_color_word(unsigned int index)
{
	static const char *const words[] = {"auto", "always", "never", NULL};

	return words[index];
}

int screen_open(struct screen *s, FILE *out, const char *mode)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	bool terminal =
		isatty(fileno(out)) && !(no_color && *no_color) && !(term && !strcmp(term, "dumb"));

	if (mode && strcmp(mode, "auto") && strcmp(mode, "always") && strcmp(mode, "never"))
		return -EINVAL;
	s->out = out;
	screen_set_width(s);
	s->full_names = false;
	s->color = mode && strcmp(mode, "auto") ? !strcmp(mode, "always") : terminal;
	return 0;
}

static void screen_style_on(const struct screen *s, const char *style)
{
	if (s->color && *style)
		fprintf(s->out, "\033[%sm", style);
}

static void screen_style_off(const struct screen *s, const char *style)
{
	if (s->color && *style)
		fputs("\033[0m", s->out);
}

char *screen_name(const struct screen *s, const char *name, unsigned int columns, char *buf,
		  size_t size)
{
	char clean[CELL_BYTES], named[CELL_BYTES];

	text_clean(name, clean, sizeof(clean));
	if (s->full_names)
		text_fit(clean, columns, false, buf, size);
	else
		name_fit(name_short(clean, named, sizeof(named)), columns, buf, size);
	return buf;
}

void screen_put(const struct screen *s, const char *style, const char *text)
{
	if (!*text)
		return;
	screen_style_on(s, style);
	fputs(text, s->out);
	screen_style_off(s, style);
}

void table_cell(struct table *t, const char *text)
{
	char clean[CELL_BYTES];
	char *copy = strdup(text_clean(text, clean, sizeof(clean)));

	if (!copy || vector_push(&t->cells, copy) < 0) {
		free(copy);
		t->error = -ENOMEM;
	}
}

void table_cellf(struct table *t, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	table_cell(t, text);
}

/* Give the cells of columns of names their short names. */
static void shorten_names(struct table *t, const struct screen *s)
{
	for (size_t i = 0; i < t->cells.count; i++) {
		char *cell = t->cells.items[i], name[CELL_BYTES];
		size_t size = strlen(cell);

		if (t->columns[i % t->column_count].cut != CUT_NAME || s->full_names)
			continue;
		name_short(cell, name, sizeof(name));
		if (strlen(name) < size)
			strcpy(cell, name);
	}
}

/* Return the width of the widest cell of a column; 0 if all cells are empty. */
static unsigned int natural_width(const struct table *t, unsigned int column)
{
	unsigned int widest = 0;

	for (size_t i = column; i < t->cells.count; i += t->column_count) {
		unsigned int width = text_width(t->cells.items[i]);

		widest = width > widest ? width : widest;
	}
	return widest;
}

/*
 * Give each column the width of its widest cell or title. If the screen is too narrow, make the
 * widest columns narrower, as far as column.least allows. Columns with only empty cells get the
 * width 0 and are not shown. Return the last column that is shown.
 */
static unsigned int choose_column_widths(const struct table *t, const struct screen *s,
					 unsigned int *widths)
{
	unsigned int total = 0, last = 0;

	for (unsigned int c = 0; c < t->column_count; c++) {
		unsigned int title = text_width(t->columns[c].title);

		widths[c] = natural_width(t, c);
		if (!widths[c])
			continue;
		if (s->uncut && t->columns[c].least && widths[c] > UNCUT_COLUMNS)
			widths[c] = UNCUT_COLUMNS;
		widths[c] = title > widths[c] ? title : widths[c];
		total += widths[c] + (total ? GAP : 0);
		last = c;
	}
	while (total > s->width && !s->uncut) {
		unsigned int most = TABLE_MAX_COLUMNS;

		for (unsigned int c = 0; c < t->column_count; c++)
			if (t->columns[c].least && widths[c] > t->columns[c].least &&
			    (most == TABLE_MAX_COLUMNS || widths[c] > widths[most]))
				most = c;
		if (most == TABLE_MAX_COLUMNS)
			break;
		widths[most]--;
		total--;
	}
	return last;
}

/* Print a cell of a column, or its title. */
static void table_put_cell(const struct column *column, const struct screen *s, unsigned int width,
			   const char *text, bool last)
{
	char fitted[CELL_BYTES];
	unsigned int taken;

	if (!width)
		return;
	width = s->uncut && text_width(text) > width ? text_width(text) : width;
	if (column->cut == CUT_NAME && !s->full_names)
		name_fit(text, width, fitted, sizeof(fitted));
	else
		text_fit(text, width, column->cut == CUT_FRONT, fitted, sizeof(fitted));
	taken = text_width(fitted);
	if (column->right)
		fprintf(s->out, "%*s", (int)(width - taken), "");
	screen_put(s, text == column->title ? STYLE_DIM : column->style, fitted);
	if (last)
		fputc('\n', s->out);
	else
		fprintf(s->out, "%*s", GAP + (column->right ? 0 : (int)(width - taken)), "");
}

static int table_print(struct table *t, const struct screen *s)
{
	unsigned int widths[TABLE_MAX_COLUMNS];
	unsigned int last;

	if (t->error)
		return t->error;
	shorten_names(t, s);
	last = choose_column_widths(t, s, widths);
	for (unsigned int c = 0; c <= last; c++)
		table_put_cell(&t->columns[c], s, widths[c], t->columns[c].title, c == last);
	for (size_t i = 0; i + t->column_count <= t->cells.count; i += t->column_count)
		for (unsigned int c = 0; c <= last; c++)
			table_put_cell(&t->columns[c], s, widths[c], t->cells.items[i + c],
				       c == last);
	return 0;
}

static void table_free(struct table *t)
{
	for (size_t i = 0; i < t->cells.count; i++)
		free(t->cells.items[i]);
	vector_free(&t->cells);
}

int table_finish(struct table *t, const struct screen *s, size_t shown, size_t all)
{
	char text[128];
	int ret = table_print(t, s);

	table_free(t);
	snprintf(text, sizeof(text), "... and %zu more (--limit 0 shows all)\n", all - shown);
	if (shown < all)
		screen_put(s, STYLE_DIM, text);
	return ret;
}

/*
 * On a terminal, a word that is wider than a line is cut at its front, because such a word is
 * usually a path.
 */
void screen_put_wrapped(const struct screen *s, unsigned int indent, const char *style,
			const char *text)
{
	unsigned int column = indent;

	screen_style_on(s, style);
	while (*text) {
		char whole[CELL_BYTES], word[CELL_BYTES];
		int size = (int)strcspn(text, " ");

		snprintf(whole, sizeof(whole), "%.*s", size, text);
		text_fit(whole, s->uncut ? CELL_BYTES : s->width - indent, true, word,
			 sizeof(word));
		if (column > indent && column + 1 + text_width(word) > s->width) {
			screen_style_off(s, style);
			fprintf(s->out, "\n%*s", (int)indent, "");
			screen_style_on(s, style);
			column = indent;
		} else if (column > indent) {
			fputc(' ', s->out);
			column++;
		}
		fputs(word, s->out);
		column += text_width(word);
		text += size;
		text += strspn(text, " ");
	}
	screen_style_off(s, style);
	fputc('\n', s->out);
}

void screen_put_paragraph(const struct screen *s, const char *label, const char *style,
			  const char *text)
{
	char clean[CELL_BYTES];

	screen_put(s, STYLE_BOLD, label);
	fprintf(s->out, "%*s", LABEL_COLUMNS - (int)text_width(label), "");
	screen_put_wrapped(s, LABEL_COLUMNS, style, text_clean(text, clean, sizeof(clean)));
}
