/* SPDX-License-Identifier: Apache-2.0 */
/* What a shell may offer behind each word, from the tables of commands; a writer per shell. */
#ifndef SKEIN_CMD_COMPLETIONS_H
#define SKEIN_CMD_COMPLETIONS_H

#include "base/options.h"

/* What an argument or operand is. */
enum completion_kind {
	COMPLETE_NOTHING, /* there is none */
	COMPLETE_TEXT, /* that only the user knows */
	COMPLETE_WORDS, /* of values() */
	COMPLETE_FILES,
	COMPLETE_FOLDERS,
	COMPLETE_TRACES, /* files *.skein */
	COMPLETE_PIDS,
	COMPLETE_COMMAND, /* any, with its own options */
};

/* Known from values(), or from the name that stands for it in the help. */
enum completion_kind completion_of_option(const struct option_spec *o);
enum completion_kind completion_of_operands(const struct command *c);

#define COMPLETION_SUMMARY 72 /* columns at most */

/* What an option does, in few words: the first sentence of its help. */
char *completion_summary(const struct option_spec *o, char buf[static 4 * COMPLETION_SUMMARY]);

/* The words with a blank between them. */
void put_words(FILE *out, const char *(*values)(unsigned int index));

/* The option behind o in the table (the first for NULL), with --help as the last; NULL: none. */
const struct option_spec *next_option(const struct command *c, const struct option_spec *o);

/* Each writes a script for its shell. Errors stay in out. */
void completions_bash(FILE *out);
void completions_zsh(FILE *out);
void completions_fish(FILE *out);

#endif
