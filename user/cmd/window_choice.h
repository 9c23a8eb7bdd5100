/* SPDX-License-Identifier: Apache-2.0 */
/* Options that choose windows of 'skein serve' instead of a trace. */
#ifndef SKEIN_CMD_WINDOW_CHOICE_H
#define SKEIN_CMD_WINDOW_CHOICE_H

#include "base/options.h"
#include "serve/window_files.h"

struct window_choice {
	uint64_t last; /* ns before now; 0: not given */
	const char *at; /* a moment; NULL: not given */
	const char *folder; /* NULL: the service's */
	/*
	 * of a comparison: how much earlier the other windows are (24h), or the moment of their
	 * end, with at of their window (14:30); NULL: directly before
	 */
	const char *against;
};

/* Rows of a table of options. in is the type of the options, member its struct window_choice. */
#define WINDOW_OPTIONS(in, member) \
	{.name = "Windows of 'skein serve' instead of a file", .type = OPTION_HEADING}, \
	WINDOW_OPTION_ROWS(in, member)

#define WINDOW_OPTION_ROWS(in, member) \
	{.name = "last", .type = OPTION_DURATION, .arg = "TIME", \
	 .help = "Those that ended in the last TIME, added up: 5m, 1h, 24h. The window that is " \
		 "being written is not among them.", \
	 .offset = offsetof(in, member.last)}, \
	{.name = "at", .type = OPTION_TEXT, .arg = "TIME", \
	 .help = "That of a moment: 14:30, 14:30:10, '2026-11-27 14:30', in the time zone " \
		 "of this terminal; with a Z at the end, in UTC.", \
	 .offset = offsetof(in, member.at)}, \
	{.name = "folder", .type = OPTION_TEXT, .arg = "DIR", \
	 .help = "The folder of the windows. Default: " WINDOW_FOLDER ".", \
	 .offset = offsetof(in, member.folder)}

/* Return whether windows are chosen. */
bool window_choice_given(const struct window_choice *c);

/* Keep of a list what is chosen; all if nothing is. Return 0, or -ENOENT if nothing is left. */
int window_choice_filter(const struct window_choice *c, struct window_files *list,
			 struct error *err);

/* Parts of windows on each side of a comparison, so that what they differ by is measured. */
#define WINDOW_PARTS 6

/*
 * For a comparison: add up what is chosen, and what is compared with it, each in up to parts (at
 * most WINDOW_PARTS) traces of equal numbers of windows, which are removed when the program ends.
 * Store the paths, and their numbers in count, the earlier ones first. Return 0 or a negative
 * errno.
 */
int window_choice_pair(const struct window_choice *c, size_t parts,
		       const char *paths[2][WINDOW_PARTS], size_t count[2], struct error *err);

const char *window_choice_folder(const struct window_choice *c);

/*
 * Set *path to the trace that a command reads: of the windows that are chosen, added up in a file
 * that is removed when the program ends; else operand, or DEFAULT_TRACE if that is NULL. Return 0
 * or an exit status, after a message.
 */
int window_choice_path(const struct window_choice *c, const char *command, const char *operand,
		       const char **path);

#endif
