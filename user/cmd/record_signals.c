// SPDX-License-Identifier: Apache-2.0
/* Signals to a recording: end it, pause and resume it, copy its trace. */
#include "cmd/record_signals.h"

#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "capture/clock.h"
#include "cmd/signals.h"

#define SAME_REQUEST NSEC_PER_SEC /* signals within this time count as one */

int record_signals_catch(struct record_signals *s)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGUSR2};
	int fd = signals_catch(caught, sizeof(caught) / sizeof(caught[0]));

	if (fd < 0)
		return fd;
	s->fd = fd;
	return 0;
}

static uint64_t stopped_at; /* when the first signal was read, ns; 0: none was read */

/*
 * Ignore a second signal shortly after the first, because timeout(1) and sudo(8) may send the
 * same signal twice. Later, do what the signal does by default: end the process.
 */
static void on_second_signal(int signo)
{
	if (clock_boot_ns() - stopped_at < SAME_REQUEST)
		return;
	signal(signo, SIG_DFL);
	raise(signo);
}

void record_signals_release(void)
{
	const struct sigaction kill = {.sa_handler = on_second_signal, .sa_flags = SA_RESTART};
	static const int all[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		sigaddset(&set, all[i]);
		sigaction(all[i], &kill, NULL);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void record_signals_read(struct record_signals *s)
{
	struct signalfd_siginfo info;

	while (read(s->fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1) {
			s->paused = !s->paused;
		} else if (info.ssi_signo == SIGUSR2) {
			s->copy = true;
		} else if (info.ssi_signo != SIGCHLD && !s->stopped_by) {
			s->stopped_by = (int)info.ssi_signo;
			stopped_at = clock_boot_ns();
			record_signals_release();
		}
	}
}
