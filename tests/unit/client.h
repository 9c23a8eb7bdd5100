/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helpers for tests of the symbolizer's client: drive the client, and kill or replace its worker.
 */
#ifndef SKEIN_TESTS_CLIENT_H
#define SKEIN_TESTS_CLIENT_H

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "files.h"
#include "symbolizers/client.h"
#include "symbolizers/client_private.h"

static inline void poll_once(struct symbolizer *s, int ms)
{
	struct pollfd p = {.fd = symbolizer_fd(s), .events = POLLIN};
	struct error err = {0};

	poll(&p, 1, ms);
	ck_assert_msg(symbolizer_poll(s, clock_ns(CLOCK_MONOTONIC), &err) == 0, "%s", err.text);
}

/* Return the pid of the worker that reads the memory of processes. */
static inline pid_t memory_worker_pid(const struct symbolizer *s)
{
	ck_assert_ptr_nonnull(s->others[OTHER_MEMORY]);
	return s->others[OTHER_MEMORY]->worker.pid;
}

/*
 * Poll until nothing is pending, with a deadline by the clock: a poll may end at once when a worker
 * starts or exits.
 */
static inline void finish(struct symbolizer *s)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + 60 * 1000000000ULL;

	ck_assert_int_eq(symbolizer_flush(s), 0);
	while (symbolizer_pending(s) && clock_ns(CLOCK_MONOTONIC) < until)
		poll_once(s, 100);
	ck_assert_uint_eq(symbolizer_pending(s), 0);
}

/* Send the pending requests to the stopped worker, then kill it, so that it dies over them. */
static inline void strike(struct symbolizer *s)
{
	uint64_t generation = s->worker.generation;
	pid_t pid = symbolizer_worker_pid(s);

	if (pid)
		kill(pid, SIGSTOP);
	poll_once(s, 0);
	if (pid)
		kill(pid, SIGKILL);
	for (int i = 0; i < 100 && s->worker.generation == generation; i++)
		poll_once(s, 10);
}

/* Replace the worker's socket by a new one, and return the other end. */
static inline int usurp(struct symbolizer *s)
{
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	kill(s->worker.pid, SIGKILL);
	ck_assert_int_eq(waitpid(s->worker.pid, NULL, 0), s->worker.pid);
	/* A process that helper_kill() may kill. */
	s->worker.pid = fork();
	if (!s->worker.pid) {
		close_range(3, ~0u, 0);
		pause();
	}
	ck_assert_int_eq(epoll_ctl(s->worker.poll, EPOLL_CTL_DEL, s->worker.socket, NULL), 0);
	ck_assert_int_eq(dup2(pair[0], s->worker.socket), s->worker.socket);
	ck_assert_int_eq(epoll_ctl(s->worker.poll, EPOLL_CTL_ADD, s->worker.socket,
				   &(struct epoll_event){.events = EPOLLIN}),
			 0);
	close(pair[0]);
	return pair[1];
}

#endif
