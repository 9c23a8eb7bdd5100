// SPDX-License-Identifier: Apache-2.0
/* Start and stop the server, and the loop of its thread (server.h). */
#include "http/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/server_private.h"

#define HEADER_MS 8000
#define CPU_MS 2000
/* For a request's header and the answer's; what does not fit gets 431. */
#define CONNECTION_BYTES 32768

static int make_token(struct http_server *s, struct error *err)
{
	unsigned char bytes[HTTP_TOKEN_LENGTH / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return error_set(err, -EIO, "the kernel gives no random numbers");
	for (size_t i = 0; i < HTTP_TOKEN_LENGTH; i++)
		s->token[i] = "0123456789abcdef"[bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
	return 0;
}

/*
 * A port that was just in use is free again for the next server. The queue is long, because a
 * client whose connection does not fit into it tries again after a second only. Return the socket.
 */
static int listen_on(uint16_t port, struct sockaddr_in *address, struct error *err)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), ret, on = 1;
	socklen_t size = sizeof(*address);

	*address = (struct sockaddr_in){.sin_family = AF_INET,
					.sin_port = htons(port),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	    bind(fd, (struct sockaddr *)address, size) == 0 && listen(fd, SOMAXCONN) == 0 &&
	    getsockname(fd, (struct sockaddr *)address, &size) == 0)
		return fd;
	ret = error_errno(err, -errno, "cannot listen on port %u of 127.0.0.1", port);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The library gets its thread from here (MHD_run()), and closes the socket if it fails, too. */
static int start_daemon(struct http_server *s, struct error *err)
{
	struct sockaddr_in address;
	int fd = s->config.listener;

	if (!fd) {
		fd = listen_on(s->config.port, &address, err);
		if (fd < 0)
			return fd;
		s->port = ntohs(address.sin_port);
	}
	s->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, http_continue_request, s,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)HTTP_CONNECTIONS_SLOTS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_BYTES, MHD_OPTION_NOTIFY_CONNECTION, http_notice_connection, s,
		MHD_OPTION_URI_LOG_CALLBACK, http_begin_request, s, MHD_OPTION_UNESCAPE_CALLBACK,
		http_leave_escaped, s, MHD_OPTION_NOTIFY_COMPLETED, http_end_request, s,
		MHD_OPTION_END);
	return s->daemon ? 0 : error_set(err, -ENOMEM, "libmicrohttpd does not start");
}

static void resume_answered(struct http_server *s)
{
	struct http_request *next;

	for (struct http_request *q = http_workers_take(&s->workers); q; q = next) {
		next = q->next;
		MHD_resume_connection(q->mhd);
	}
}

/* Wait until a client or a worker has something, or ms have passed (-1: for ever). */
static void wait_for_clients(struct http_server *s, int ms)
{
	struct pollfd fds[] = {
		{.fd = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
		 .events = POLLIN},
		{.fd = s->wake, .events = POLLIN},
	};
	eventfd_t count;
	MHD_UNSIGNED_LONG_LONG library_ms;

	/* Without idle limits of its own, the library has work at once or none. */
	if (MHD_get_timeout(s->daemon, &library_ms) == MHD_YES && library_ms == 0)
		ms = 0;
	poll(fds, 2, ms);
	/* The counter only wakes; what there is to do is in other places. */
	if (fds[1].revents)
		eventfd_read(s->wake, &count);
}

static void *run_server(void *context)
{
	struct http_server *s = context;

	while (!atomic_load(&s->stopping)) {
		resume_answered(s);
		MHD_run(s->daemon);
		wait_for_clients(s, http_connections_close_late(&s->connections));
	}
	return NULL;
}

static int start_threads(struct http_server *s, struct error *err)
{
	int ret;

	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake < 0)
		return error_errno(err, -errno, "eventfd() failed");
	ret = http_workers_start(&s->workers, s->config.workers, s->wake);
	s->working = true;
	if (ret == 0)
		ret = http_thread_start(&s->thread, run_server, s);
	s->looping = ret == 0;
	return ret < 0 ? error_errno(err, ret, "cannot start the server's threads") : 0;
}

int http_server_start(struct http_server **out, const struct http_config *c, struct error *err)
{
	struct http_server *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return error_errno(err, -ENOMEM, "cannot start the server");
	s->wake = -1;
	s->config = *c;
	s->config.header_ms = c->header_ms ? c->header_ms : HEADER_MS;
	s->config.cpu_ms = c->cpu_ms ? c->cpu_ms : CPU_MS;
	s->config.workers = c->workers ? c->workers : HTTP_WORKERS;
	s->connections.header_ms = s->config.header_ms;
	ret = make_token(s, err);
	if (ret == 0)
		ret = start_daemon(s, err);
	if (ret == 0)
		ret = start_threads(s, err);
	if (ret < 0) {
		http_server_stop(s);
		return ret;
	}
	*out = s;
	return 0;
}

/* The library must not be stopped while a connection is suspended, so workers end first. */
void http_server_stop(struct http_server *s)
{
	if (!s)
		return;
	atomic_store(&s->stopping, true);
	if (s->looping) {
		eventfd_write(s->wake, 1);
		pthread_join(s->thread, NULL);
	}
	if (s->working) {
		http_workers_stop(&s->workers);
		resume_answered(s);
	}
	if (s->daemon)
		MHD_stop_daemon(s->daemon);
	if (s->wake >= 0)
		close(s->wake);
	free(s);
}

uint16_t http_server_port(const struct http_server *s)
{
	return s->port;
}

void http_server_counts(const struct http_server *s, struct http_counts *out)
{
	*out = (struct http_counts){
		.answered = atomic_load(&s->answered),
		.refused = atomic_load(&s->refused),
		.shut = atomic_load(&s->connections.shut),
	};
}

const char *http_server_token(const struct http_server *s)
{
	return s->token;
}
