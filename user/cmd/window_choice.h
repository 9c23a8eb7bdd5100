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
};

/* Rows of a table of options. in is the type of the options, member its struct window_choice. */
#define WINDOW_OPTIONS(in, member) \
	{.name = "Windows of 'skein serve' instead of a file", .type = OPTION_HEADING}, \
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

const char *window_choice_folder(const struct window_choice *c);

/*
 * Set *path to the trace that a command reads: of the windows that are chosen, added up in a file
 * that is removed when the program ends; else operand, or DEFAULT_TRACE if that is NULL. Return 0
 * or an exit status, after a message.
 */
int window_choice_path(const struct window_choice *c, const char *command, const char *operand,
		       const char **path);

#endif
