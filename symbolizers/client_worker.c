// SPDX-License-Identifier: Apache-2.0
/* The worker as a process: started, watched, killed. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "symbolizers/client_private.h"
#include "symbolizers/worker.h"

int worker_start(struct symbolizer *s, struct error *err)
{
	struct epoll_event event = {.events = EPOLLIN};
	int pair[2], self = getpid();
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_errno(err, -errno, "cannot start the symbolizer's worker");
	pid = fork();
	if (pid == 0)
		worker_main(pair[1], self, s->files_max, s->memory);
	close(pair[1]);
	if (pid < 0 || epoll_ctl(s->poll, EPOLL_CTL_ADD, pair[0], &event) < 0) {
		int rc = -errno;

		if (pid > 0) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
		close(pair[0]);
		return error_errno(err, rc, "cannot start the symbolizer's worker");
	}
	(void)setpriority(PRIO_PROCESS, (id_t)pid, s->priority);
	s->socket = pair[0];
	s->wants_room = false;
	s->pid = pid;
	s->generation++;
	s->cpu = 0;
	return 0;
}

void worker_kill(struct symbolizer *s)
{
	if (s->socket < 0)
		return;
	kill(s->pid, SIGKILL);
	close(s->socket);
	s->socket = -1;
	/* Without memory it stays a zombie until the recorder's own end. */
	(void)vector_push(&s->corpses, s->pid);
	s->pid = 0;
	worker_reap(s);
}

void worker_reap(struct symbolizer *s)
{
	size_t left = 0;

	for (size_t i = 0; i < s->corpses.count; i++) {
		pid_t pid = s->corpses.items[i];

		if (waitpid(pid, NULL, WNOHANG) == 0)
			s->corpses.items[left++] = pid;
	}
	s->corpses.count = left;
}

/* One that is stuck in the kernel cannot be waited for: not longer than a moment. */
void worker_stop(struct symbolizer *s)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	worker_kill(s);
	for (int i = 0; s->corpses.count && i < 100; i++) {
		nanosleep(&moment, NULL);
		worker_reap(s);
	}
	vector_free(&s->corpses);
}

uint64_t worker_cpu(const struct symbolizer *s)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(s->pid, &clock) != 0 || clock_gettime(clock, &ts) < 0)
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

bool worker_runs(const struct symbolizer *s)
{
	char path[64], state = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)s->pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	fclose(f);
	return state == 'R';
}
