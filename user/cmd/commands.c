// SPDX-License-Identifier: Apache-2.0
/* The table of commands, in the order in which the help lists them. */
#include <string.h>

#include "cmd/commands.h"

const struct command *const commands[] = {
	&record_command,
	&top_command,
	&report_command,
	&diff_command,
	&export_command,
	&query_command,
	&doctor_command,
	&completions_command,
	&help_command,
	&version_command,
	NULL,
};

const struct command *command_named(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}
