/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convert names to terminal cells. Some characters that text_clean() allows still break a screen
 * of rows and columns: characters without width, marks that join others, and letters written from
 * right to left, which make a terminal reverse a whole row. U+FFFD replaces these; on a terminal
 * without UTF-8, "?" replaces all characters that are not ASCII.
 */
#ifndef SKEIN_CMD_TOP_TEXT_H
#define SKEIN_CMD_TOP_TEXT_H

#include <stdbool.h>
#include <wchar.h>

#define TOP_TEXT_CELLS 1024 /* largest number of characters of a name that are read */

/* Where too long a text is cut. */
enum top_cut { TOP_CUT_END, TOP_CUT_MIDDLE, TOP_CUT_FRONT };

struct top_text {
	wchar_t cells[TOP_TEXT_CELLS + 1]; /* ends with 0 */
	unsigned int columns; /* columns that the cells take */
	bool cut;
};

/*
 * Convert any text to cells of at most the given number of columns. utf8: the terminal shows UTF-8,
 * else only ASCII. Needs a locale with Unicode.
 */
void top_text(struct top_text *out, const char *text, unsigned int columns, enum top_cut cut,
	      bool utf8);

#endif
