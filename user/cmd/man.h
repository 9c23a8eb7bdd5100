/* SPDX-License-Identifier: Apache-2.0 */
/* Manual pages from the tables of commands, and what the help has beside them. */
#ifndef SKEIN_CMD_MAN_H
#define SKEIN_CMD_MAN_H

#include "base/options.h"

struct group_title {
	enum command_group group;
	const char *title;
};

/* In the order of the help; ends with a NULL title. */
extern const struct group_title group_titles[];

/* What commands are good for together. */
struct task {
	const char *title; /* NULL: behind the last */
	const char *lines; /* "command\tfor what\n" */
};

extern const struct task tasks[];

/* skein(1) and skein-COMMAND(1), as roff with the man macros. Errors stay in out. */
void man_overview(FILE *out);
void man_command(const struct command *c, FILE *out);

#endif
