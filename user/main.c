// SPDX-License-Identifier: Apache-2.0
/* Find the command and run it. */
#include <signal.h>
#include <string.h>

#include "cmd/commands.h"

int main(int argc, char **argv)
{
	static char *help[] = {"help", NULL}, *version[] = {"version", "--verbose", NULL};
	const struct command *c;

	signal(SIGXFSZ, SIG_IGN); /* so that a write beyond RLIMIT_FSIZE fails with EFBIG */
	if (argc < 2) {
		help_overview(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help_command.run(1, help);
	if (!strcmp(argv[1], "--version"))
		return version_command.run(2, version);
	c = commands_find(argv[1]);
	return c ? c->run(argc - 1, argv + 1) : commands_report_unknown(argv[1]);
}
