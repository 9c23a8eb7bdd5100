/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as cells of a terminal. What text_clean() lets through may still harm a screen of rows and
 * columns: characters of no width, marks that join others, and letters that are written from right
 * to left, which make a terminal turn a whole row around. They become U+FFFD here.
 */
#ifndef SKEIN_CMD_TOP_TEXT_H
#define SKEIN_CMD_TOP_TEXT_H

#include <stdbool.h>
#include <wchar.h>

#define TOP_TEXT_CELLS 1024 /* characters of a name that are looked at, at most */

/* Where text is cut that is too long. */
enum top_cut { TOP_CUT_END, TOP_CUT_MIDDLE, TOP_CUT_FRONT };

struct top_text {
	wchar_t cells[TOP_TEXT_CELLS + 1]; /* ends with 0 */
	unsigned int columns; /* that they take */
	bool cut;
};

/*
 * Any text, in so many columns at most. utf8: the terminal shows more than ASCII. Needs a locale
 * with Unicode.
 */
void top_text(struct top_text *ret, const char *text, unsigned int columns, enum top_cut cut,
	      bool utf8);

#endif
