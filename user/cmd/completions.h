/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completions that a shell may offer for each word of a command line. One function for each shell
 * writes a script of completions, made from the tables of commands.
 */
#ifndef SKEIN_CMD_COMPLETIONS_H
#define SKEIN_CMD_COMPLETIONS_H

#include "base/options.h"

/* The kind of an argument or operand. */
enum completion_kind {
	COMPLETE_NOTHING, /* no argument or operand */
	COMPLETE_TEXT, /* text that only the user knows */
	COMPLETE_WORDS, /* the words of values() */
	COMPLETE_FILES,
	COMPLETE_FOLDERS,
	COMPLETE_TRACES, /* files *.skein */
	COMPLETE_PIDS,
	COMPLETE_COMMAND, /* a program to run, with arguments of its own */
};

/*
 * Return the kind of an option's argument, from values() or the argument's name in the help, or
 * the kind of a command's operands, from values() or the usage.
 */
enum completion_kind completions_option_kind(const struct option_spec *o);
enum completion_kind completions_operand_kind(const struct command *c);

#define COMPLETION_SUMMARY 72 /* columns of completions_summary() at most */

/*
 * Write a short description of an option into buf and return buf: the first sentence of its help.
 * A longer sentence than COMPLETION_SUMMARY is cut at its first colon, and then at that width.
 */
char *completions_summary(const struct option_spec *o, char buf[static 4 * COMPLETION_SUMMARY]);

/* Print the words separated by blanks. */
void completions_put_words(FILE *out, const char *(*values)(unsigned int index));

/*
 * Return the option after o in the table of a command (for NULL the first), without the headings.
 * --help comes last, then NULL.
 */
const struct option_spec *completions_next_option(const struct command *c,
						  const struct option_spec *o);

/* Each function writes the script for its shell. Write errors are left in the state of out. */
void completions_bash(FILE *out);
void completions_zsh(FILE *out);
void completions_fish(FILE *out);

#endif
