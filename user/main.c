// SPDX-License-Identifier: Apache-2.0
/* Find the command, run it. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cmd/commands.h"

static int usage(FILE *out, int status)
{
	fprintf(out, "skein: a profiler for a whole Linux machine\n\n"
		     "usage: skein COMMAND [OPTIONS]\n\n");
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(out, "\n  sudo skein record -d 10s     where does this machine's time go?\n"
		     "  skein report                 ... read the answer\n"
		     "  skein COMMAND --help         all about a command\n"
		     "  skein --version              which skein this is\n");
	return status;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return usage(stderr, 2);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return usage(stdout, 0);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version"))
		return printf("skein %s\n", SKEIN_VERSION) < 0;
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(argv[1], commands[i]->name))
			return commands[i]->run(argc - 1, argv + 1);
	return log_error(2, "there is no command '%s'; 'skein --help' lists them", argv[1]);
}
