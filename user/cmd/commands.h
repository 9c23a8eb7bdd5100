/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of skein: each has a file of its name in this folder and an entry in commands.c. */
#ifndef SKEIN_CMD_COMMANDS_H
#define SKEIN_CMD_COMMANDS_H

#include "base/options.h"

/* The table ends with NULL. */
extern const struct command *const commands[];

extern const struct command record_command;
extern const struct command top_command;
extern const struct command serve_command;
extern const struct command ls_command;
extern const struct command report_command;
extern const struct command diff_command;
extern const struct command view_command;
extern const struct command open_command;
extern const struct command export_command;
extern const struct command query_command;
extern const struct command merge_command;
extern const struct command symbolize_command;
extern const struct command doctor_command;
extern const struct command completions_command;
extern const struct command help_command;
extern const struct command version_command;

/*
 * Parse the options of a command with options_parse(). Return the index of the first operand in
 * argv. If the command ends here, return the complement (~) of its exit status, a negative number:
 * ~0 if its help was printed, ~2 if parsing failed and the error was printed.
 */
int command_parse(const struct command *c, int argc, char **argv, void *options);

/* Return the command of that name; NULL if there is none. */
const struct command *commands_find(const char *name);

/* Report that there is no such command, and suggest the nearest name. Return the exit status. */
int commands_report_unknown(const char *name);

/*
 * Write out what was printed to stdout. Return the exit status: 0, or 1 after an error message that
 * names what could not be written, also if an earlier write failed.
 */
int command_finish(const char *what);

/* Print the text of 'skein --help'. */
void help_overview(FILE *out);

#endif
