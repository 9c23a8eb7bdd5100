/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manual pages made from the tables of commands, and the texts that help.c adds to these tables:
 * titles of groups, and typical tasks.
 */
#ifndef SKEIN_CMD_MAN_H
#define SKEIN_CMD_MAN_H

#include "base/options.h"

struct group_title {
	enum command_group group;
	const char *title;
};

/* The titles of groups in the order of the help; title is NULL after the last. */
extern const struct group_title group_titles[];

/* A task and the commands that serve it. */
struct task {
	const char *title; /* NULL after the last task */
	const char *lines; /* lines of the form "command\tpurpose\n" */
};

extern const struct task tasks[];

/* Write skein(1) or skein-COMMAND(1) as roff with the man macros. Write errors stay in out. */
void man_overview(FILE *out);
void man_command(const struct command *c, FILE *out);

#endif
