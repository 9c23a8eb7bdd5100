/* SPDX-License-Identifier: Apache-2.0 */
/* Run the command to be profiled: forked at once, started when the recorder is ready. */
#ifndef SKEIN_CMD_LAUNCH_H
#define SKEIN_CMD_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct launch {
	pid_t pid; /* 0 if there is no command */
	int release_fd; /* write a byte to start the command; -1 after launch_finish() */
	bool ended;
	/* exit status as in a shell: 128 + signal number if killed; valid once ended is set */
	int status;
	const char *program; /* name of its file, in argv of launch_command() */
	unsigned int arguments; /* number of them */
};

/* Return the program and its arguments with blanks between them; the caller frees it. */
char *launch_line(char **argv);

/*
 * Check whether the program can be found and executed, with the search of execvp(3). Return 0,
 * -ENOENT or -EACCES. Call this before creating files, to leave none if the command cannot run.
 */
int launch_find(const char *program);

/*
 * Return the exit status of a shell for a program that cannot be run: 127 for -ENOENT, 126 for any
 * other code.
 */
int launch_failure_status(int code);

/*
 * Fork a child that waits for a byte in release_fd and then executes argv, with the privileges,
 * environment and limits that this process has at the fork, no blocked signals, and the default
 * action of SIGPIPE and SIGXFSZ. Return 0, or a negative errno with the cause in *err.
 */
int launch_command(struct launch *out, char **argv, struct error *err);
/* Set ended and status if the command has ended. Does not wait. */
void launch_poll(struct launch *l);
/*
 * End the command with SIGTERM if it still runs (or was never released), and wait for it, however
 * long that takes. signaled: the command has already received the signal to end (Ctrl-C reaches the
 * terminal's whole foreground process group), so give it 2 s before the SIGTERM. Return whether the
 * command ended without the SIGTERM; false if there is no command.
 */
bool launch_finish(struct launch *l, bool signaled);

#endif
