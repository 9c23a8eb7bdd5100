/* SPDX-License-Identifier: Apache-2.0 */
/* A command to be profiled: forked at once, started when the recorder is ready. */
#ifndef SKEIN_CMD_LAUNCH_H
#define SKEIN_CMD_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct launch {
	pid_t pid; /* 0: there is no command */
	int release_fd; /* a byte written here starts it */
	bool ended;
	int status; /* exit status as a shell tells it: 128 + signal; valid when ended */
};

/*
 * Whether the program can be found and executed, as execvp(3) looks for it:
 * 0, -ENOENT or -EACCES. To be asked before a file is written for nothing.
 */
int launch_find(const char *program);

/* The exit status that a shell has for a program that cannot be run: 127 or 126. */
int launch_failure_status(int code);

/*
 * Fork a child that waits for its release and then executes argv, with the
 * recorder's rights, environment and limits but the default signals.
 */
int launch_command(struct launch *ret, char **argv, struct error *err);
/* Look whether it has ended. */
void launch_poll(struct launch *l);
/*
 * End it if it still runs (or was never released), and wait for it. told: it
 * has been told to end (Ctrl-C reaches all of the terminal's foreground), so
 * it gets a moment to do so. Returns whether it ended by itself.
 */
bool launch_finish(struct launch *l, bool told);

#endif
