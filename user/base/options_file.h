/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read the options of a command from a file, with the same table as the command line:
 *
 *	# a comment
 *	window = 60s
 *	user-stacks = yes
 *
 * A line is a long option without its dashes, and its argument; a flag is yes or no.
 */
#ifndef SKEIN_BASE_OPTIONS_FILE_H
#define SKEIN_BASE_OPTIONS_FILE_H

#include "base/options.h"

/* Largest size of such a file, bytes. */
#define OPTIONS_FILE_MAX 65536

struct options_file {
	const struct command *command;
	const char *path;
	const char *const *except; /* names of options that a file cannot set, then NULL */
	/* memory to which options of type OPTION_TEXT point; the caller frees it */
	char *text;
};

/*
 * Read a file into *options, and set f->text. Return 0, or a negative errno with a message that
 * names the line, what was expected, and what is there; some options may be set then.
 */
int options_read_file(struct options_file *f, void *options, struct error *err);

#endif
