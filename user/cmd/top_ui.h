/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the user interface of `skein top`: the cursor, foci, filters, open rows, and whether
 * the display is paused.
 */
#ifndef SKEIN_CMD_TOP_UI_H
#define SKEIN_CMD_TOP_UI_H

#include "cmd/top_model.h"

#define TOP_TYPED_MAX 128

/* One level of navigation; each level after the first has one focus more than the level before. */
struct top_level {
	enum top_view view;
	uint64_t key; /* of the row under the cursor */
	size_t cursor, first; /* index of that row, and of the first row on screen */
	bool moved; /* the cursor follows its row; otherwise it stays at the top */
	bool centre; /* show the cursor's row in the middle of the screen */
	char pattern[TOP_TYPED_MAX]; /* of the filter; "" if there is none */
	regex_t filter; /* compiled, if there is a pattern */
	struct index toggled; /* tree rows that the user has opened or closed */
	unsigned int open_part; /* see struct top_request */
};

/* The user interface; must be zeroed, then passed to top_ui_begin(). */
struct top_ui {
	struct top_model model;
	VECTOR(struct top_level) levels; /* at least one */
	VECTOR(struct top_focus) foci; /* one less than levels */
	enum top_sort sort;
	bool reverse;
	bool paused; /* the shown window stays while sampling continues */
	bool help;
	bool full_names; /* of functions (base/name.h) */
	bool utf8; /* the screen has more than ASCII */
	bool typing; /* a filter is being typed */
	/* the typed text is no valid regular expression yet; the last valid filter stays */
	bool bad_pattern;
	char typed[TOP_TYPED_MAX];
	bool quit;
	bool stale; /* the rows must be made again */
	size_t page; /* rows by which PgUp and PgDn move; set by top_draw() */
};

int top_ui_begin(struct top_ui *ui, enum top_view view, enum top_sort sort);
void top_ui_free(struct top_ui *ui);

struct top_level *top_ui_level(const struct top_ui *ui);
/* Return the row under the cursor; NULL if there are no rows. */
const struct top_row *top_ui_row(const struct top_ui *ui);

/* Make the rows again if they are stale. Return 0 or -ENOMEM. */
int top_ui_update(struct top_ui *ui);

/*
 * Handle a key: an ncurses code (KEY_*) if code is set, otherwise a character. Return 0 or
 * -ENOMEM.
 */
int top_ui_key(struct top_ui *ui, unsigned int key, bool code);

/* Lines of the help, "keys\taction", ending with NULL. */
extern const char *const top_help[];

/*
 * What is on the screen, for its help and that of the command: X("word", "meaning in at most 68
 * columns").
 */
#define TOP_LEGEND(X) \
	X("%CPU", "CPU time in the window; 100 is one CPU, as in top") \
	X("SHARE", "part of the samples of all rows; of waits, of their time") \
	X("RES", "memory in RAM, with what is shared; -: the process has ended") \
	X("SELF", "samples in the function itself; of waits, in the program's innermost") \
	X("TOTAL", "those, and samples in what it called") \
	X("MS/S", "ms of waiting per second; 1000: one thread that always waits") \
	X("complete", "stacks known to the start of their thread; why most others are not") \
	X("lost", "samples due but missing; stolen: the host had the CPU") \
	X("skein", "CPU use of skein itself; 100 % is one CPU")

/* The following functions are for top_keys.c. Those that return int return 0 or -ENOMEM. */
int top_ui_enter(struct top_ui *ui, const struct top_row *row);
void top_ui_leave(struct top_ui *ui);
void top_ui_view(struct top_ui *ui, enum top_view view);
void top_ui_filter(struct top_ui *ui, const char *pattern);
int top_ui_toggle(struct top_ui *ui, const struct top_row *row, bool open);

#endif
