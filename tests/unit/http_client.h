/* SPDX-License-Identifier: Apache-2.0 */
/* A server with routes of every kind, and a client of bare sockets, for test_http*.c. */
#ifndef SKEIN_TESTS_HTTP_CLIENT_H
#define SKEIN_TESTS_HTTP_CLIENT_H

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "http/server.h"
#include "suite.h"

#define LARGE (32 << 20) /* bytes: more than two sockets hold */

static struct http_server *server;
static atomic_uint holding, expired; /* handlers that wait, and those that have given up */
static atomic_bool released;

static int answer_page(void *context, const struct http_request *q, struct http_answer *a)
{
	(void)q;
	a->type = "text/html; charset=utf-8";
	a->policy = "default-src 'self'";
	a->body = strdup(context);
	a->size = strlen(context);
	return 0;
}

static int answer_echo(void *context, const struct http_request *q, struct http_answer *a)
{
	const char *text = http_request_text(q, "text");
	uint64_t number = 7;
	int ret = http_request_number(q, "number", &number);

	(void)context;
	if (ret == -EINVAL || ret == -ERANGE)
		return http_answer_text(a, 400, "number=? is no number");
	return http_answer_text(a, 200, "%s|%" PRIu64, text ? text : "-", number);
}

static int answer_spin(void *context, const struct http_request *q, struct http_answer *a)
{
	(void)context;
	(void)a;
	while (!http_request_expired(q))
		;
	return -ETIMEDOUT;
}

static void nap(void)
{
	usleep(1000);
}

static int answer_hold(void *context, const struct http_request *q, struct http_answer *a)
{
	(void)context;
	holding++;
	while (!released && !http_request_expired(q))
		nap();
	if (released)
		return http_answer_text(a, 200, "held");
	expired++;
	return -ECANCELED;
}

static int answer_large(void *context, const struct http_request *q, struct http_answer *a)
{
	(void)context;
	(void)q;
	a->body = calloc(1, LARGE);
	a->size = LARGE;
	return a->body ? 0 : -ENOMEM;
}

static int answer_failure(void *context, const struct http_request *q, struct http_answer *a)
{
	(void)context;
	(void)q;
	a->body = strdup("must not be seen");
	a->size = 4;
	return -ENOENT;
}

static int answer_later(void *context, const struct http_request *q, struct http_answer *a)
{
	(void)context;
	(void)q;
	return http_answer_text(a, 429, "later");
}

static const struct http_route routes[] = {
	{.path = "/", .open = true, .answer = answer_page},
	{.path = "/echo", .answer = answer_echo},
	{.path = "/spin", .answer = answer_spin},
	{.path = "/hold", .answer = answer_hold},
	{.path = "/large", .answer = answer_large},
	{.path = "/failure", .answer = answer_failure},
	{.path = "/later", .answer = answer_later},
};

static void start(unsigned int header_ms, unsigned int cpu_ms)
{
	struct http_config c = {.routes = routes,
				.route_count = sizeof(routes) / sizeof(routes[0])};
	struct error err = {0};

	c.context = "<p>page</p>";
	c.header_ms = header_ms;
	c.cpu_ms = cpu_ms;
	ck_assert_msg(http_server_start(&server, &c, &err) == 0, "%s", err.text);
}

static void start_patient(void)
{
	start(SUITE_TIMEOUT * 1000, SUITE_TIMEOUT * 1000);
}

static void stop(void)
{
	http_server_stop(server);
	server = NULL;
}

static int dial(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons(http_server_port(server)),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* A server that has refused a request may have closed the connection meanwhile. */
static void put(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t n = send(fd, at, size, MSG_NOSIGNAL);

		if (n < 0)
			return;
		at += n;
		size -= (size_t)n;
	}
}

static void put_text(int fd, const char *text)
{
	put(fd, text, strlen(text));
}

/* Send a request with everything that a good one has, and more lines of a header. */
static void put_request(int fd, const char *line, const char *more)
{
	char text[8192];

	snprintf(text, sizeof(text), "%s HTTP/1.1\r\nHost: localhost\r\n%s: %s\r\n%s\r\n", line,
		 HTTP_TOKEN_HEADER, http_server_token(server), more);
	put_text(fd, text);
}

struct reply {
	int status; /* 0 if the connection ended before an answer */
	char head[4096], body[4096];
};

static bool get(int fd, void *buffer, size_t size)
{
	return recv(fd, buffer, size, MSG_WAITALL) == (ssize_t)size;
}

/* Read one answer, and nothing of what follows it. */
static struct reply read_reply(int fd, bool has_body)
{
	struct reply r = {0};
	size_t used = 0, size = 0;
	const char *length;

	while (used < sizeof(r.head) - 1 && !strstr(r.head, "\r\n\r\n"))
		if (!get(fd, &r.head[used++], 1))
			return r;
	sscanf(r.head, "HTTP/1.1 %d", &r.status);
	length = strstr(r.head, "Content-Length: ");
	if (length)
		sscanf(length, "Content-Length: %zu", &size);
	if (has_body && size)
		ck_assert(size < sizeof(r.body) && get(fd, r.body, size));
	return r;
}

static inline struct reply request_bytes(const void *bytes, size_t size)
{
	struct reply r;
	int fd = dial();

	put(fd, bytes, size);
	r = read_reply(fd, true);
	close(fd);
	return r;
}

static inline struct reply request(const char *line, const char *more)
{
	struct reply r;
	int fd = dial();

	put_request(fd, line, more);
	r = read_reply(fd, true);
	close(fd);
	return r;
}

/* Whether the server ends the connection; waits for it. */
static inline bool is_ended(int fd)
{
	char c;

	return recv(fd, &c, 1, 0) <= 0;
}

static inline bool is_open(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static inline uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

#endif
