// SPDX-License-Identifier: Apache-2.0
/* Start, watch, kill and restart helper processes (helper.h). */
#include "base/helper.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fork_server.h"

#define SECOND 1000000000ULL
#define SILENCE_TIMEOUT (2 * SECOND) /* ns of silence allowed for a child that does not run */
#define SILENCE_TIMEOUT_CPU (4 * SECOND) /* ns of CPU time in a silence, for a child that runs */
#define SILENCE_TIMEOUT_MAX (30 * SECOND) /* ns of silence allowed, whatever the child does */
/* Time (ns) between two polls that counts as silence; more is the owner's pause. */
#define STEP_MAX SECOND
#define RESTART_DELAY_LEAST (SECOND >> 11)
#define RESTART_DELAY_MOST SECOND
#define CLOSE_TRIES 100 /* a millisecond each */
/* Number of children that are tried although one was refused what it needs. */
#define REFUSED_DEATHS 3

static uint64_t to_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec;
}

uint64_t process_cpu_time(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
		return 0;
	return to_ns(&t);
}

uint64_t process_peak_memory(pid_t pid)
{
	char path[64], line[128];
	unsigned long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (!kib && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %lu kB", &kib) == 1)
			break;
	fclose(f);
	return kib * 1024;
}

/* Return whether the process uses a CPU or waits for one. */
static bool process_is_running(pid_t pid)
{
	char path[64], state = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	fclose(f);
	return state == 'R';
}

static uint64_t larger_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_dead_cost(struct helper *h, const struct rusage *u)
{
	h->killed.cost.cpu += (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * SECOND +
			      (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
	h->killed.cost.memory = larger_of(h->killed.cost.memory, (uint64_t)u->ru_maxrss * 1024);
}

/* Return whether a child ended because it was not allowed what it needs to confine itself. */
static bool was_refused(int status)
{
	return (WIFEXITED(status) && WEXITSTATUS(status) == HELPER_EXIT_UNCONFINED) ||
	       (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

/* Reap the killed children that have ended, without blocking, and add up their cost. */
static void reap_children(struct helper *h)
{
	unsigned int i = 0;

	while (i < h->killed.count) {
		struct rusage usage;
		int status = 0;
		pid_t pid = wait4(h->killed.pids[i], &status, WNOHANG, &usage);

		if (!pid) {
			i++;
			continue;
		}
		if (pid > 0)
			add_dead_cost(h, &usage);
		h->killed.refused |= pid > 0 && was_refused(status);
		h->killed.pids[i] = h->killed.pids[--h->killed.count];
	}
}

void helper_add_cost(struct helper *h, struct helper_cost *out)
{
	uint64_t memory;

	reap_children(h);
	memory = h->killed.cost.memory;
	out->cpu += h->killed.cost.cpu;
	for (unsigned int i = 0; i < h->killed.count; i++)
		out->cpu += process_cpu_time(h->killed.pids[i]);
	if (h->pid) {
		out->cpu += process_cpu_time(h->pid);
		if (!out->time_only)
			memory = larger_of(memory, process_peak_memory(h->pid));
	}
	out->memory += memory;
}

/*
 * Kill the child without waiting for its end: a child that waits for the reply of a FUSE server
 * cannot die before the server replies or ends.
 */
static void kill_child(struct helper *h)
{
	if (h->socket < 0)
		return;
	(void)epoll_ctl(h->poll, EPOLL_CTL_DEL, h->socket, NULL);
	close(h->socket);
	h->socket = -1;
	kill(h->pid, SIGKILL);
	h->killed.pids[h->killed.count++] = h->pid;
	h->pid = 0;
	reap_children(h);
}

/* Fork the child, by the fork server if there is one. Return its pid or a negative errno. */
static pid_t fork_child(const struct helper_kind *kind, int socket)
{
	pid_t parent = getpid(), pid;

	pid = kind->forks ? fork_server_fork(kind->forks, kind, socket) : -ESRCH;
	if (pid > 0)
		return pid;
	pid = fork();
	if (pid == 0)
		kind->run(kind->context, socket, parent);
	return pid < 0 ? -errno : pid;
}

static int start_child(struct helper *h, struct error *err)
{
	struct epoll_event event = {.events = EPOLLIN};
	int pair[2], ret;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_errno(err, -errno, "cannot start %s", h->kind.name);
	if (epoll_ctl(h->poll, EPOLL_CTL_ADD, pair[0], &event) < 0)
		pid = -errno;
	else
		pid = fork_child(&h->kind, pair[1]);
	ret = pid < 0 ? (int)pid : 0;
	close(pair[1]);
	if (ret < 0) {
		close(pair[0]);
		return error_errno(err, ret, "cannot start %s", h->kind.name);
	}
	(void)setpriority(PRIO_PROCESS, (id_t)pid, h->priority);
	h->socket = pair[0];
	h->pid = pid;
	h->wants_room = h->expecting = h->cpu_known = false;
	h->silence = 0;
	h->generation++;
	return 0;
}

int helper_open(struct helper *h, const struct helper_kind *kind, struct error *err)
{
	struct epoll_event event = {.events = EPOLLIN};
	int ret;

	*h = (struct helper){.kind = *kind, .socket = -1};
	h->priority = getpriority(PRIO_PROCESS, 0) + kind->niceness;
	h->poll = epoll_create1(EPOLL_CLOEXEC);
	h->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	h->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (h->poll < 0 || h->wake < 0 || h->timer < 0 ||
	    epoll_ctl(h->poll, EPOLL_CTL_ADD, h->wake, &event) < 0 ||
	    epoll_ctl(h->poll, EPOLL_CTL_ADD, h->timer, &event) < 0)
		ret = error_errno(err, -errno, "cannot start %s", kind->name);
	else
		ret = start_child(h, err);
	if (ret < 0)
		helper_close(h);
	return ret;
}

void helper_follow_priority(struct helper *h, const struct helper *other)
{
	h->priority = other->priority;
	(void)setpriority(PRIO_PROCESS, (id_t)h->pid, h->priority);
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

void helper_close(struct helper *h)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	if (!h->kind.run)
		return;
	kill_child(h);
	/*
	 * As a rule the killed children end at once; a child that the kernel cannot end is left to
	 * init.
	 */
	for (int i = 0; reap_children(h), h->killed.count && i < CLOSE_TRIES; i++)
		nanosleep(&moment, NULL);
	close_if_open(h->poll);
	close_if_open(h->wake);
	close_if_open(h->timer);
	*h = (struct helper){.socket = -1, .poll = -1, .wake = -1, .timer = -1};
}

void helper_wake(struct helper *h)
{
	const uint64_t one = 1;

	/* If the write fails, the next call of helper_wake() tries again. */
	if (!h->woken)
		h->woken = write(h->wake, &one, sizeof(one)) == sizeof(one);
}

/* Read the counter of an eventfd or timerfd; return whether there was something to read. */
static bool read_event_counter(int fd)
{
	uint64_t count;
	ssize_t bytes;

	do
		bytes = read(fd, &count, sizeof(count));
	while (bytes < 0 && errno == EINTR);
	return bytes > 0;
}

void helper_begin_poll(struct helper *h, uint64_t now)
{
	uint64_t step = now > h->now ? now - h->now : 0;

	/* Read only when needed: polls are many, and each read costs as much as a message. */
	if (h->woken)
		h->woken = !read_event_counter(h->wake);
	if (h->timed)
		h->timed = !read_event_counter(h->timer);
	reap_children(h);
	if (h->expecting)
		h->silence += step < STEP_MAX ? step : STEP_MAX;
	else
		helper_received(h, false);
	h->now = now;
}

void helper_received(struct helper *h, bool useful)
{
	h->silence = 0;
	h->cpu_known = false;
	h->killed.served |= useful;
	if (useful)
		h->deaths = 0;
}

/*
 * The child's CPU time is read only during a silence, because reading it costs as much as a
 * message.
 */
bool helper_is_stuck(struct helper *h)
{
	if (h->socket < 0 || h->silence < SILENCE_TIMEOUT / 2)
		return false;
	if (!h->cpu_known)
		h->silent_cpu = process_cpu_time(h->pid);
	h->cpu_known = true;
	if (h->silence < SILENCE_TIMEOUT)
		return false;
	return h->silence >= SILENCE_TIMEOUT_MAX || !process_is_running(h->pid) ||
	       process_cpu_time(h->pid) - h->silent_cpu >= SILENCE_TIMEOUT_CPU;
}

static void schedule_restart(struct helper *h, uint64_t delay)
{
	/* Set at least 1 ns, because 0 would disarm the timer. */
	struct itimerspec at = {.it_value = {.tv_sec = (time_t)(delay / SECOND),
					     .tv_nsec = (long)(delay % SECOND + 1)}};

	h->restart_at = h->now + delay;
	h->timed = true;
	/* If setting the timer fails, the owner's next poll starts the child. */
	(void)timerfd_settime(h->timer, 0, &at, NULL);
}

void helper_kill(struct helper *h)
{
	kill_child(h);
	h->restarts++;
	schedule_restart(h, h->deaths < 10 ? RESTART_DELAY_LEAST << h->deaths : RESTART_DELAY_MOST);
	h->deaths++;
}

int helper_restart(struct helper *h, struct error *err)
{
	int ret;

	if (h->killed.refused && !h->killed.served && h->deaths >= REFUSED_DEATHS)
		return error_set(err, -EPERM, "%s could not give up its privileges", h->kind.name);
	if (h->kind.attempts && h->deaths > h->kind.attempts)
		return error_set(err, -EIO, "%s died %u times in a row", h->kind.name, h->deaths);
	if (h->socket >= 0 || h->now < h->restart_at || helper_is_exhausted(h))
		return 0;
	ret = start_child(h, err);
	if (ret < 0)
		schedule_restart(h, RESTART_DELAY_MOST);
	return ret;
}

void helper_expect(struct helper *h, bool reply, bool room)
{
	struct epoll_event event = {.events = EPOLLIN | (room ? EPOLLOUT : 0U)};

	h->expecting = reply && h->socket >= 0;
	if (h->socket < 0 || room == h->wants_room)
		return;
	if (epoll_ctl(h->poll, EPOLL_CTL_MOD, h->socket, &event) == 0)
		h->wants_room = room;
}

int helper_received_fd(struct msghdr *packet)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(packet);
	size_t count;
	int first, other;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len < CMSG_LEN(sizeof(int)))
		return -1;
	count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(&first, CMSG_DATA(c), sizeof(first));
	for (size_t i = 1; i < count; i++) {
		memcpy(&other, CMSG_DATA(c) + i * sizeof(other), sizeof(other));
		close(other);
	}
	return first;
}

void helper_attach_fd(struct msghdr *packet, union helper_descriptor *room, int fd)
{
	if (fd < 0)
		return;
	*room = (union helper_descriptor){.head = {.cmsg_len = CMSG_LEN(sizeof(int)),
						   .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS}};
	memcpy(CMSG_DATA(&room->head), &fd, sizeof(fd));
	packet->msg_control = room;
	packet->msg_controllen = sizeof(*room);
}

void helper_reset_signals(void)
{
	static const int ignored[] = {SIGHUP,  SIGINT,	SIGQUIT, SIGTERM,
				      SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2};
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		(void)signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
