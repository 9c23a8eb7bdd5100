// SPDX-License-Identifier: Apache-2.0
/* Test children that a fork server forks: whose they are, what they get, and how large they are. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fork_server.h"
#include "base/helper.h"
#include "base/process_memory.h"
#include "suite.h"

#define BALLAST (64u << 20)

struct greeting {
	char text[32];
};

/* Return how many descriptors beyond the standard ones are open. */
static int count_files(void)
{
	int count = 0;

	for (int fd = 3; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Send the text of the context, and end when the other end closes. */
static __attribute__((noreturn)) void greet(void *context, int socket, pid_t parent)
{
	struct greeting g = *(const struct greeting *)context;
	char word;

	if (getppid() != parent || send(socket, &g, sizeof(g), MSG_NOSIGNAL) != sizeof(g))
		_exit(1);
	(void)recv(socket, &word, 1, 0);
	_exit(count_files() == 1 ? 0 : 2); /* neither the owner's files nor the server's socket */
}

static struct greeting greeting = {"first"};

static void open_greeter(struct helper *h, struct fork_server *forks)
{
	const struct helper_kind kind = {
		.name = "the test's helper",
		.run = greet,
		.context = &greeting,
		.context_size = sizeof(greeting),
		.forks = forks,
	};

	ck_assert_int_eq(helper_open(h, &kind, NULL), 0);
}

/* Check what the child sends first. */
static void await_greeting(struct helper *h, const char *text)
{
	struct pollfd p = {.fd = h->socket, .events = POLLIN};
	struct greeting g;

	ck_assert_int_eq(poll(&p, 1, 60000), 1);
	ck_assert_int_eq(recv(h->socket, &g, sizeof(g), 0), sizeof(g));
	ck_assert_str_eq(g.text, text);
}

START_TEST(a_child_is_its_owners_and_small)
{
	struct fork_server *forks;
	struct helper h;
	char *ballast;
	int status, other = dup(0);

	ck_assert_int_gt(other, 2);
	ck_assert_int_eq(fork_server_open(&forks, NULL), 0);
	ballast = malloc(BALLAST);
	explicit_bzero(ballast, BALLAST); /* a compiler may leave out a memset() here */
	strcpy(greeting.text, "second"); /* the server's own copy still is "first" */
	open_greeter(&h, forks);
	await_greeting(&h, "second");
	ck_assert_uint_gt(process_memory(getpid()), BALLAST);
	ck_assert_uint_lt(process_memory(h.pid), BALLAST / 4);
	/* The server may end; the child goes on. */
	fork_server_close(forks);
	ck_assert_int_eq(waitpid(h.pid, &status, WNOHANG), 0);
	shutdown(h.socket, SHUT_RDWR);
	ck_assert_int_eq(waitpid(h.pid, &status, 0), h.pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	helper_close(&h);
	free(ballast);
	close(other);
}
END_TEST

START_TEST(without_the_server_the_owner_is_forked)
{
	struct fork_server *forks;
	struct helper first, second;

	ck_assert_int_eq(fork_server_open(&forks, NULL), 0);
	open_greeter(&first, forks);
	await_greeting(&first, greeting.text);
	kill(fork_server_pid(forks), SIGKILL);
	open_greeter(&second, forks);
	await_greeting(&second, greeting.text);
	ck_assert_int_eq(fork_server_pid(forks), -1);
	helper_close(&first);
	helper_close(&second);
	fork_server_close(forks);
}
END_TEST

/* A server that was stopped is given up: the owner must not wait for ever. */
START_TEST(a_server_that_hangs_is_given_up)
{
	struct fork_server *forks;
	struct helper h;

	ck_assert_int_eq(fork_server_open(&forks, NULL), 0);
	kill(fork_server_pid(forks), SIGSTOP);
	ck_assert_int_eq(waitpid(fork_server_pid(forks), NULL, WUNTRACED), fork_server_pid(forks));
	open_greeter(&h, forks);
	await_greeting(&h, greeting.text);
	ck_assert_int_eq(fork_server_pid(forks), -1);
	helper_close(&h);
	fork_server_close(forks);
}
END_TEST

START_TEST(a_large_context_is_refused)
{
	static char large[FORK_CONTEXT_MAX + 1];
	const struct helper_kind kind = {
		.run = greet, .context = large, .context_size = sizeof(large)};
	struct fork_server *forks;

	ck_assert_int_eq(fork_server_open(&forks, NULL), 0);
	ck_assert_int_eq(fork_server_fork(forks, &kind, 0), -E2BIG);
	ck_assert_int_gt(fork_server_pid(forks), 0);
	fork_server_close(forks);
}
END_TEST

SUITE("fork_server", a_child_is_its_owners_and_small, without_the_server_the_owner_is_forked,
      a_server_that_hangs_is_given_up, a_large_context_is_refused)
