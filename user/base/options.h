/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands and their options as tables: one table feeds getopt, --help, the
 * man page and the completion, so that they cannot drift.
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
	OPTION_COUNT, /* uint64_t: decimal, with k, M or G (powers of 1000) */
	OPTION_BYTES, /* uint64_t: decimal, with K, M or G (powers of 1024) */
	OPTION_DURATION, /* uint64_t ns: 10, 1.5s, 200ms, 5m, 1h; seconds without a unit */
	OPTION_CALL, /* the option's own set() */
	OPTION_HEADING, /* no option: name is a heading in the help */
};

struct option_spec {
	const char *name; /* long name without dashes */
	char letter; /* 0: none */
	enum option_type type;
	const char *arg; /* name of the argument as shown, NULL for flags */
	const char *help; /* one or more sentences; wrapped when shown */
	size_t offset; /* of the member in the command's option struct */
	/* for OPTION_CALL: take value (NULL for a flag) into options */
	int (*set)(void *options, const char *value, struct error *err);
	/* the words that the argument may be, one by one until NULL; no function: free text */
	const char *(*values)(unsigned int index);
	bool list; /* several of them, with commas */
};

/* Under which heading the help lists a command. */
enum command_group {
	COMMANDS_READING, /* of traces */
	COMMANDS_RECORDING,
	COMMANDS_OTHER,
	COMMAND_GROUPS, /* how many */
};

struct command {
	const char *name;
	const char *summary; /* one line, for the list of commands */
	const char *usage; /* what follows the name, such as "[OPTIONS] FILE" */
	const char *description; /* paragraphs for --help and the man page */
	const char *examples; /* lines "command\tfor what", or NULL */
	const struct option_spec *options; /* ends with a NULL name */
	size_t options_size; /* of the struct that the options are parsed into */
	enum command_group group;
	/* the words that the first operand may be, as in option_spec; none: what usage names */
	const char *(*values)(unsigned int index);
	/* for the man page, beside what holds for all commands: lines "name\ttext", or NULL */
	const char *exits, *environment, *files;
	/* argv[0] is the command's name; returns the exit status */
	int (*run)(int argc, char **argv);
};

/*
 * Parse argv[1..] into *options (which the caller has filled with defaults).
 * Options may stand after operands; "--" ends them. Returns the index of the
 * first operand in argv (permuted as getopt_long does), -ECANCELED when the
 * help was asked for (--help or -h, which every command has) and has been
 * printed to stdout, or -EINVAL with one line in *err that names the option at
 * fault. stop_at_operand: the first operand ends the options (record -- CMD).
 */
int options_parse(const struct command *c, int argc, char **argv, void *options,
		  bool stop_at_operand, struct error *err);

/* The help text, wrapped at width columns; 0: at those of the terminal. */
void options_help(const struct command *c, FILE *out, unsigned int width);

bool option_takes_argument(const struct option_spec *o);

/*
 * The option --help (-h) that every command has beside those of its table;
 * without the letter, if the table has it.
 */
const struct option_spec *option_of_help(const struct option_spec *options);

/* How its argument may be: "One of a, b, c.", cut if buf is too small. "" if the help says it. */
char *option_words(const struct option_spec *o, char *buf, size_t size);

/* Each: 0 or -EINVAL with a line in *err that names what; *ret untouched on failure. */
int parse_count(const char *text, uint64_t *ret, struct error *err);
int parse_bytes(const char *text, uint64_t *ret, struct error *err);
int parse_duration(const char *text, uint64_t *ret, struct error *err);

#endif
