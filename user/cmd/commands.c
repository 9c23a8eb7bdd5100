// SPDX-License-Identifier: Apache-2.0
/* The table of commands, in the order in which the help lists them. */
#include "cmd/commands.h"

const struct command *const commands[] = {
	&record_command,
	&report_command,
	&export_command,
	&query_command,
	NULL,
};
