/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of `skein top`. */
#ifndef SKEIN_CMD_TOP_DRAW_H
#define SKEIN_CMD_TOP_DRAW_H

#include "cmd/top_facts.h"
#include "cmd/top_ui.h"

#define TOP_TITLE_MAX 256

/* What is above the rows. */
struct top_head {
	char title[TOP_TITLE_MAX];
	struct top_facts facts;
	const char *waiting; /* why there is nothing to show yet; NULL: there is */
};

/* Draw all of it: the rows that are up to date. Sets how many of them fit. */
void top_draw(struct top_ui *ui, const struct top_head *head);

/* The numbers in front of a row, and for NULL their titles; plain lists print them, too. */
char *top_numbers(const struct top_ui *ui, const struct top_row *row, bool utf8, char *buf,
		  size_t size);
/* The title of the column of names. */
const char *top_name_title(enum top_view view);

#endif
