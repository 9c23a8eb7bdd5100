// SPDX-License-Identifier: Apache-2.0
/* Fork children from a small process (fork_server.h). */
#include "base/fork_server.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/helper.h"

#define REPLY_TIMEOUT 2 /* seconds */

struct fork_server {
	int socket; /* -1: the server is gone */
	pid_t pid;
};

/* What the owner sends, with the child's socket. */
struct fork_order {
	void (*run)(void *context, int socket, pid_t parent) __attribute__((noreturn));
	char context[FORK_CONTEXT_MAX] __attribute__((aligned(16)));
};

/* The functions below run in the server. */

/*
 * Keep the socket, and stderr for AddressSanitizer's report; /dev/null takes the place of the other
 * standard files, since nobody must wait for the server to close them.
 */
static int prepare_server(int socket, pid_t owner)
{
	int fd = fcntl(socket, F_DUPFD_CLOEXEC, 3), none = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0 || none < 0 || dup2(none, 0) < 0 || dup2(none, 1) < 0)
		return -1;
	if (fd > 3)
		(void)syscall(SYS_close_range, 3, fd - 1, 0);
	(void)syscall(SYS_close_range, fd + 1, ~0U, 0);
	helper_reset_signals();
	(void)prctl(PR_SET_NAME, "skein-fork");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != owner)
		return -1;
	return fd;
}

/*
 * Fork a child of the server's parent. glibc has no function for that; the server has one thread
 * and holds no lock, so that glibc's preparations for a fork are not needed.
 */
static pid_t fork_sibling(void)
{
	return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
}

static __attribute__((noreturn)) void serve_orders(int socket, pid_t owner)
{
	struct fork_order order;
	struct iovec part = {&order, sizeof(order)};

	for (;;) {
		union helper_descriptor room = {.room = ""};
		struct msghdr packet = {.msg_iov = &part,
					.msg_iovlen = 1,
					.msg_control = &room,
					.msg_controllen = sizeof(room)};
		ssize_t size = recvmsg(socket, &packet, MSG_CMSG_CLOEXEC);
		int fd = size == sizeof(order) ? helper_received_fd(&packet) : -1;
		pid_t pid;

		if (size < 0 && errno == EINTR)
			continue;
		if (fd < 0)
			_exit(0); /* the owner has ended */
		pid = fork_sibling();
		if (!pid) {
			close(socket);
			order.run(order.context, fd, owner);
		}
		pid = pid < 0 ? -errno : pid;
		close(fd);
		if (send(socket, &pid, sizeof(pid), MSG_NOSIGNAL) != sizeof(pid))
			_exit(0);
	}
}

static __attribute__((noreturn)) void run_fork_server(int socket, pid_t owner)
{
	int fd = prepare_server(socket, owner);

	if (fd < 0)
		_exit(1);
	serve_orders(fd, owner);
}

/* The functions below run in the owner. */

int fork_server_open(struct fork_server **out, struct error *err)
{
	const struct timeval timeout = {.tv_sec = REPLY_TIMEOUT};
	struct fork_server *s = malloc(sizeof(*s));
	pid_t owner = getpid();
	int pair[2], ret;

	if (!s)
		return error_errno(err, -ENOMEM, "cannot start helpers");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		ret = -errno;
		free(s);
		return error_errno(err, ret, "cannot start helpers");
	}
	s->socket = pair[0];
	s->pid = fork();
	if (!s->pid)
		run_fork_server(pair[1], owner);
	ret = s->pid < 0 ? -errno : 0;
	close(pair[1]);
	if (!ret && setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) < 0)
		ret = -errno;
	if (ret < 0) {
		fork_server_close(s);
		return error_errno(err, ret, "cannot start helpers");
	}
	*out = s;
	return 0;
}

static void end_server(struct fork_server *s)
{
	if (s->socket < 0)
		return;
	close(s->socket);
	s->socket = -1;
	if (s->pid < 0)
		return;
	kill(s->pid, SIGKILL);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	s->pid = -1;
}

void fork_server_close(struct fork_server *s)
{
	if (!s)
		return;
	end_server(s);
	free(s);
}

static int send_order(int to, const struct fork_order *order, int fd)
{
	struct iovec part = {(void *)order, sizeof(*order)};
	struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
	union helper_descriptor room;

	helper_attach_fd(&packet, &room, fd);
	return sendmsg(to, &packet, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

pid_t fork_server_fork(struct fork_server *s, const struct helper_kind *kind, int socket)
{
	struct fork_order order = {.run = kind->run};
	pid_t pid = -ESRCH;
	ssize_t size;
	int ret;

	if (s->socket < 0)
		return -ESRCH;
	if (kind->context_size > sizeof(order.context))
		return -E2BIG;
	if (kind->context_size)
		memcpy(order.context, kind->context, kind->context_size);
	ret = send_order(s->socket, &order, socket);
	do
		size = ret < 0 ? ret : recv(s->socket, &pid, sizeof(pid), 0);
	while (size < 0 && !ret && errno == EINTR);
	if (size == sizeof(pid))
		return pid;
	end_server(s);
	return -ESRCH;
}

void fork_server_add_cost(const struct fork_server *s, struct helper_cost *out)
{
	if (!s || s->pid < 0)
		return;
	out->cpu += process_cpu_time(s->pid);
	if (!out->time_only)
		out->memory += process_peak_memory(s->pid);
}

pid_t fork_server_pid(const struct fork_server *s)
{
	return s ? s->pid : -1;
}
