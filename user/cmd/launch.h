/* SPDX-License-Identifier: Apache-2.0 */
/* Run the command to be profiled: forked at once, started when the recorder is ready. */
#ifndef SKEIN_CMD_LAUNCH_H
#define SKEIN_CMD_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct launch {
	pid_t pid; /* 0 if there is no command */
	int release_fd; /* writing a byte here starts the command */
	bool ended;
	/* exit status as in a shell: 128 + signal number if killed; valid once ended is set */
	int status;
};

/*
 * Check whether the program can be found and executed, with the search of execvp(3). Return 0,
 * -ENOENT or -EACCES. Call this before creating files, to leave none if the command cannot run.
 */
int launch_find(const char *program);

/* Return a shell's exit status for a program that cannot be run: 127 (-ENOENT) or 126. */
int launch_failure_status(int code);

/*
 * Fork a child that waits for its release and then executes argv with the recorder's privileges,
 * environment and limits, but the default signal actions.
 */
int launch_command(struct launch *out, char **argv, struct error *err);
/* Check whether the command has ended. */
void launch_poll(struct launch *l);
/*
 * End the command if it still runs (or was never released), and wait for it. signaled: the command
 * has already received the signal to end (Ctrl-C reaches the terminal's whole foreground process
 * group), so give it a moment to end. Return whether the command ended by itself.
 */
bool launch_finish(struct launch *l, bool signaled);

#endif
