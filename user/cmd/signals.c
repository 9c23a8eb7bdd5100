// SPDX-License-Identifier: Apache-2.0
/* Signals that a command reads between its rounds, so that they interrupt no operation. */
#include "cmd/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

int signals_catch(const int *list, size_t count)
{
	struct sigaction hangup;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < count; i++)
		sigaddset(&set, list[i]);
	if (sigaction(SIGHUP, NULL, &hangup) < 0 || hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
