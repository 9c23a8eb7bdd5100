// SPDX-License-Identifier: Apache-2.0
/* The table of commands, in the order in which the help lists them within each group. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/nearest.h"
#include "cmd/commands.h"

const struct command *const commands[] = {
	&record_command,
	&top_command,
	&serve_command,
	&ls_command,
	&report_command,
	&diff_command,
	&view_command,
	&open_command,
	&export_command,
	&query_command,
	&merge_command,
	&symbolize_command,
	&doctor_command,
	&completions_command,
	&help_command,
	&version_command,
	NULL,
};

int command_parse(const struct command *c, int argc, char **argv, void *options)
{
	struct error err = {""};
	int ret = options_parse(c, argc, argv, options, &err);

	if (ret == -ECANCELED)
		return ~0;
	return ret < 0 ? ~log_failure(ret == -EINVAL ? 2 : 1, &err) : ret;
}

const struct command *commands_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

int commands_report_unknown(const char *name)
{
	struct nearest near = {.word = name, .length = strlen(name)};

	for (size_t i = 0; commands[i]; i++)
		nearest_try(&near, commands[i]->name);
	if (near.best)
		return log_error(2, "there is no command '%s'; is '%s' meant?", name, near.best);
	return log_error(2, "there is no command '%s'; 'skein --help' lists them", name);
}

int command_finish(const char *what)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	/* stdio keeps that an earlier write failed, but not why */
	return log_error(1, "cannot write %s%s%s", what, errno ? ": " : "",
			 errno ? strerror(errno) : "");
}
