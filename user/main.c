// SPDX-License-Identifier: Apache-2.0
/* Find the command, run it. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/nearest.h"
#include "cmd/commands.h"

static int no_such_command(const char *name)
{
	struct nearest near = {.word = name, .length = strlen(name)};

	for (size_t i = 0; commands[i]; i++)
		nearest_try(&near, commands[i]->name);
	if (near.best)
		return log_error(2, "there is no command '%s'; is '%s' meant?", name, near.best);
	return log_error(2, "there is no command '%s'; 'skein --help' lists them", name);
}

int main(int argc, char **argv)
{
	static char *version[] = {"version", "--verbose", NULL};
	const struct command *c;

	if (argc < 2) {
		help_overview(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		c = &help_command;
	else if (!strcmp(argv[1], "--version"))
		return version_command.run(2, version);
	else
		c = command_named(argv[1]);
	return c ? c->run(argc - 1, argv + 1) : no_such_command(argv[1]);
}
