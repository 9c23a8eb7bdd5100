/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of commands and their options. getopt_long(), --help, the man page and the completion all
 * use the same table, so that they always agree.
 */
#ifndef SKEIN_BASE_OPTIONS_H
#define SKEIN_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum option_type {
	OPTION_FLAG, /* bool set to true */
	OPTION_TEXT, /* const char *, points into argv */
	OPTION_OPTIONAL, /* the same, with --name=VALUE; "" for --name alone */
	OPTION_COUNT, /* uint64_t: decimal, with k, M or G (powers of 1000) */
	OPTION_BYTES, /* uint64_t: decimal, with K, M or G (powers of 1024) */
	OPTION_DURATION, /* uint64_t ns: such as 10, 1.5s, 200ms, 5m, 1h; seconds without a unit */
	OPTION_PERCENT, /* uint64_t, in units of 10^-9: such as 1%, 0.5% or 0 */
	OPTION_CALL, /* handled by the option's set() */
	OPTION_HEADING, /* not an option: name is a heading in the help */
};

struct option_spec {
	const char *name; /* long name without dashes */
	char letter; /* 0 if there is none */
	enum option_type type;
	const char *arg; /* name of the argument as shown; NULL for flags */
	const char *help; /* one or more sentences; wrapped when shown */
	size_t offset; /* of the member in the command's option struct */
	/* Parse value (NULL for a flag) into options; for OPTION_CALL only. */
	int (*set)(void *options, const char *value, struct error *err);
	/*
	 * Return the valid words of the argument one by one, then NULL. A NULL function means free
	 * text.
	 */
	const char *(*values)(unsigned int index);
	bool list; /* the argument is a list of such words, separated by commas */
};

/* The heading under which the overview lists a command. */
enum command_group {
	COMMANDS_READING, /* commands that read traces */
	COMMANDS_RECORDING,
	COMMANDS_OTHER,
	COMMAND_GROUPS, /* number of groups */
};

struct command {
	const char *name;
	const char *summary; /* one line, for the list of commands */
	const char *usage; /* text after the name, such as "[OPTIONS] FILE" */
	const char *description; /* paragraphs for --help and the man page */
	const char *examples; /* lines "command\tpurpose", or NULL */
	const char *legend; /* words of the output: lines "word\tmeaning", or NULL */
	const struct option_spec *options; /* ends with a NULL name */
	size_t options_size; /* of the struct that the options are parsed into */
	bool stop_at_operand; /* the first operand ends the options (record -- CMD) */
	enum command_group group;
	/* Return the valid words of the first operand, as in option_spec. NULL: see usage. */
	const char *(*values)(unsigned int index);
	/*
	 * Additions to the sections of the man page that hold for all commands: lines "name\ttext",
	 * or NULL.
	 */
	const char *exits, *environment, *files;
	/* Run the command; argv[0] is its name. Return the exit status. */
	int (*run)(int argc, char **argv);
};

/*
 * Parse argv[1..] into *options (which the caller has filled with defaults). "--" ends the options,
 * which may follow operands unless stop_at_operand is set. Return the index of the first operand in
 * argv (permuted as getopt_long() does); -ECANCELED when help was requested (--help or -h, which
 * every command has) and has been printed to stdout; the negative errno of stdout if that failed;
 * -EINVAL with one line in *err that names the option at fault; or -ENOMEM.
 */
int options_parse(const struct command *c, int argc, char **argv, void *options, struct error *err);

/*
 * Print the help text, wrapped at width columns; 0 means the width of the terminal, but at most
 * 100, or 80 if there is no terminal.
 */
void options_help(const struct command *c, FILE *out, unsigned int width);

/* Return whether the option needs an argument, which may be the next word. */
bool option_takes_argument(const struct option_spec *o);

/*
 * Return the option --help (-h) that every command has in addition to the options of its table. The
 * option has no letter if the table uses -h.
 */
const struct option_spec *option_of_help(const struct option_spec *options);

/*
 * Write the valid words of the argument to buf: "One of a, b, c.", cut if buf is too small; "" if
 * there are none or the help mentions them all. Return buf.
 */
char *option_words(const struct option_spec *o, char *buf, size_t size);

/*
 * Set the member of an option in *options from its value (of a flag: to true). Return 0, or a
 * negative errno with one line in *err that names the value at fault.
 */
int option_set(const struct option_spec *o, void *options, const char *value, struct error *err);

/* Return the index of a word in a list (option_spec.values); -EINVAL with all words in *err. */
int option_find_word(const char *word, const char *(*words)(unsigned int), struct error *err);

/*
 * Parse a number with a unit (see enum option_type). Each returns 0, or -EINVAL with a line in *err
 * that names the text at fault; *out is not changed then.
 */
int parse_count(const char *text, uint64_t *out, struct error *err);
int parse_bytes(const char *text, uint64_t *out, struct error *err);
int parse_duration(const char *text, uint64_t *out, struct error *err);
int parse_percent(const char *text, uint64_t *out, struct error *err);

#endif
