/* SPDX-License-Identifier: Apache-2.0 */
/* Draw the screen of `skein top`. */
#ifndef SKEIN_CMD_TOP_DRAW_H
#define SKEIN_CMD_TOP_DRAW_H

#include "cmd/top_facts.h"
#include "cmd/top_ui.h"

#define TOP_TITLE_MAX 256

/* The lines above the rows. */
struct top_head {
	char title[TOP_TITLE_MAX];
	struct top_facts facts;
	const char *waiting; /* text that is shown before the first window is there; else NULL */
};

/*
 * Draw the help if it is requested, else everything else; the rows must be up to date. With rows,
 * set ui->page, and scroll to the cursor.
 */
void top_draw(struct top_ui *ui, const struct top_head *head);

/*
 * Format the numbers in front of a row into buf, or their titles if row is NULL, for the screen and
 * for -b. Return buf.
 */
char *top_numbers(const struct top_ui *ui, const struct top_row *row, char *buf, size_t size);
/* Return the title of the column of names. */
const char *top_name_title(enum top_view view);
/* Return what distinguishes rows of one name, in buf or of the row; and its column's title. */
const char *top_more_text(enum top_view view, const struct top_row *row, char *buf, size_t size);
const char *top_more_title(enum top_view view);

#endif
