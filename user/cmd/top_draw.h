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
	const char *waiting; /* why there is nothing to show yet; NULL if there is */
};

/* Draw everything; the rows must be up to date. Sets ui->page to the number of rows that fit. */
void top_draw(struct top_ui *ui, const struct top_head *head);

/*
 * Format the numbers in front of a row, or their titles if row is NULL; plain lists use them,
 * too.
 */
char *top_numbers(const struct top_ui *ui, const struct top_row *row, bool utf8, char *buf,
		  size_t size);
/* Return the title of the column of names. */
const char *top_name_title(enum top_view view);

#endif
