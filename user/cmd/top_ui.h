/* SPDX-License-Identifier: Apache-2.0 */
/* What the user of `skein top` does: where the cursor is, what is chosen, typed, open, paused. */
#ifndef SKEIN_CMD_TOP_UI_H
#define SKEIN_CMD_TOP_UI_H

#include "cmd/top_model.h"

#define TOP_TYPED_MAX 128

/* One step on the way in; each but the first is narrowed by one focus more than that before. */
struct top_level {
	enum top_view view;
	uint64_t key; /* of the row under the cursor */
	size_t cursor, first; /* that row, and the first one on screen */
	bool moved; /* the cursor stays with its row; else at the top */
	bool centre; /* its row is to be shown among those around it */
	char pattern[TOP_TYPED_MAX]; /* of the filter; "": none */
	regex_t filter; /* compiled, if there is a pattern */
	struct index toggled; /* rows of trees that the user has opened or closed */
	unsigned int open_part; /* see struct top_wish */
};

/* Zeroed and given to top_ui_begin(). */
struct top_ui {
	struct top_model model;
	VECTOR(struct top_level) levels; /* at least one */
	VECTOR(struct top_focus) foci; /* one less */
	enum top_sort sort;
	bool reverse;
	bool paused; /* what is shown stays; sampling goes on */
	bool help;
	bool typing; /* a filter */
	bool bad_pattern; /* what is typed is no regular expression (yet): the last one holds */
	char typed[TOP_TYPED_MAX];
	bool quit;
	bool stale; /* rows are to be made anew */
	size_t page; /* rows on screen, as drawn last */
};

int top_ui_begin(struct top_ui *ui, enum top_view view, enum top_sort sort);
void top_ui_free(struct top_ui *ui);

struct top_level *top_ui_level(const struct top_ui *ui);
/* NULL: there are no rows. */
const struct top_row *top_ui_row(const struct top_ui *ui);

/* Make the rows anew if anything has changed: 0 or -ENOMEM. */
int top_ui_update(struct top_ui *ui);

/*
 * A key was pressed: a code of ncurses (KEY_*) if code is set, else a character. 0 or -ENOMEM.
 */
int top_ui_key(struct top_ui *ui, unsigned int key, bool code);

/* Lines of the help, "keys\twhat they do", until NULL. */
extern const char *const top_help[];

/* For top_keys.c. Each 0 or -ENOMEM. */
int top_ui_enter(struct top_ui *ui, const struct top_row *row);
void top_ui_leave(struct top_ui *ui);
void top_ui_view(struct top_ui *ui, enum top_view view);
void top_ui_filter(struct top_ui *ui, const char *pattern);
int top_ui_toggle(struct top_ui *ui, const struct top_row *row, bool open);

#endif
