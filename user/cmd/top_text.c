// SPDX-License-Identifier: Apache-2.0
/* Convert names to terminal cells (top_text.h). */
#include "cmd/top_text.h"

#include <stdint.h>

#include "base/text.h"

#define REPLACEMENT 0xfffd
#define ELLIPSIS 0x2026

/*
 * Return whether a character belongs to a script written from right to left: Hebrew, Arabic and
 * neighbouring Unicode blocks.
 */
static bool is_right_to_left(uint32_t c)
{
	return (c >= 0x590 && c <= 0x8ff) || (c >= 0xfb1d && c <= 0xfdff) ||
	       (c >= 0xfe70 && c <= 0xfeff) || (c >= 0x10800 && c <= 0x10fff) ||
	       (c >= 0x1e800 && c <= 0x1efff);
}

static wchar_t safe_character(uint32_t c, bool utf8)
{
	int width = wcwidth((wchar_t)c);

	if (!utf8)
		return c == ELLIPSIS ? L'~' : c < 0x7f ? (wchar_t)c : L'?';
	return width < 1 || width > 2 || is_right_to_left(c) ? REPLACEMENT : (wchar_t)c;
}

/* Return the columns of a harmless character: 1 or 2. */
static unsigned int cell_columns(wchar_t c)
{
	int width = wcwidth(c);

	return width == 2 ? 2 : 1;
}

/* Convert the text, up to TOP_TEXT_CELLS characters; return the number of characters. */
static size_t read_cells(struct top_text *t, const char *text, bool utf8)
{
	char clean[4 * TOP_TEXT_CELLS];
	const char *at = text_clean(text, clean, sizeof(clean));
	size_t count = 0;
	uint32_t c;

	t->columns = 0;
	while (count < TOP_TEXT_CELLS && (c = text_next(&at))) {
		t->cells[count] = safe_character(c, utf8);
		t->columns += cell_columns(t->cells[count++]);
	}
	t->cells[count] = 0;
	return count;
}

/* Return how many characters at the front fit into columns. */
static size_t fitting_front(const wchar_t *cells, size_t count, unsigned int columns)
{
	size_t fit = 0;

	while (fit < count && cell_columns(cells[fit]) <= columns)
		columns -= cell_columns(cells[fit++]);
	return fit;
}

/* Return how many characters at the back fit into columns. */
static size_t fitting_back(const wchar_t *cells, size_t count, unsigned int columns)
{
	size_t fit = 0;

	while (fit < count && cell_columns(cells[count - fit - 1]) <= columns)
		columns -= cell_columns(cells[count - ++fit]);
	return fit;
}

static unsigned int columns_before(enum top_cut cut, unsigned int columns)
{
	return cut == TOP_CUT_END ? columns : cut == TOP_CUT_FRONT ? 0 : columns * 2 / 3;
}

void top_text(struct top_text *out, const char *text, unsigned int columns, enum top_cut cut,
	      bool utf8)
{
	size_t count = read_cells(out, text, utf8), head, tail;
	unsigned int before = columns ? columns_before(cut, columns - 1) : 0;

	out->cut = out->columns > columns;
	if (!out->cut)
		return;
	head = fitting_front(out->cells, count, before);
	tail = columns ? fitting_back(out->cells + head, count - head, columns - 1 - before) : 0;
	wmemmove(out->cells + head + 1, out->cells + count - tail, tail);
	out->cells[head] = utf8 ? ELLIPSIS : L'~';
	out->cells[columns ? head + 1 + tail : 0] = 0;
	out->columns = 0;
	for (const wchar_t *c = out->cells; *c; c++)
		out->columns += cell_columns(*c);
}
