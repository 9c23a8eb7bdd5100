/* SPDX-License-Identifier: Apache-2.0 */
/* The commands: one file each in this folder, one line each in commands.c. */
#ifndef SKEIN_CMD_COMMANDS_H
#define SKEIN_CMD_COMMANDS_H

#include "base/options.h"

/* Ends with NULL. */
extern const struct command *const commands[];

extern const struct command record_command;
extern const struct command top_command;
extern const struct command report_command;
extern const struct command diff_command;
extern const struct command export_command;
extern const struct command query_command;
extern const struct command merge_command;
extern const struct command doctor_command;
extern const struct command completions_command;
extern const struct command help_command;
extern const struct command version_command;

/* NULL: there is none of that name. */
const struct command *command_named(const char *name);

/* Say so, and which one may be meant. Returns the exit status. */
int no_such_command(const char *name);

/* What 'skein --help' shows. */
void help_overview(FILE *out);

#endif
