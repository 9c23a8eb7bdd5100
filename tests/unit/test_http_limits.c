// SPDX-License-Identifier: Apache-2.0
/* The limits of the HTTP server: time, connections, handlers that run at once, and its end. */
#include "http_client.h"

#include <sys/ioctl.h>

#include "http/connections.h"

#define HEADER_MS 200

/* One byte after the other, which the library alone would accept for ever. */
START_TEST(trickled_header_is_cut_off)
{
	uint64_t begin;
	int fd;

	start(HEADER_MS, 0);
	begin = now_ms();
	fd = dial();
	put_text(fd, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ");
	while (is_open(fd)) {
		put_text(fd, "x");
		usleep(HEADER_MS * 1000 / 50);
	}
	ck_assert_uint_ge(now_ms() - begin, HEADER_MS);
	close(fd);
	stop();
}
END_TEST

/* Without a byte, with some of a first line, and after an answer. */
START_TEST(silent_connections_are_closed)
{
	uint64_t begin;
	int silent, begun, idle;

	start(HEADER_MS, 0);
	begin = now_ms();
	silent = dial();
	begun = dial();
	idle = dial();
	put_text(begun, "GE");
	ck_assert(is_ended(silent) && is_ended(begun));
	ck_assert_uint_ge(now_ms() - begin, HEADER_MS);
	close(idle);
	do { /* on a slow machine the limit may pass before the request is there */
		idle = dial();
		put_request(idle, "GET /", "");
		begin = now_ms();
	} while (read_reply(idle, true).status != 200);
	ck_assert(is_ended(idle));
	ck_assert_uint_ge(now_ms() - begin, HEADER_MS);
	close(silent);
	close(begun);
	close(idle);
	stop();
}
END_TEST

static void wait_for(atomic_uint *counter, unsigned int value)
{
	while (*counter < value)
		nap();
}

/* A handler's time does not count as its client's. */
START_TEST(handler_may_take_longer_than_a_header)
{
	uint64_t begin;
	int fd;

	start(HEADER_MS, SUITE_TIMEOUT * 1000);
	do {
		fd = dial();
		put_request(fd, "GET /hold", "");
		begin = now_ms();
		while (!holding && is_open(fd))
			nap();
	} while (!holding);
	while (now_ms() - begin < 3 * HEADER_MS)
		nap();
	released = true;
	ck_assert_str_eq(read_reply(fd, true).body, "held");
	close(fd);
	stop();
}
END_TEST

START_TEST(more_connections_than_allowed)
{
	int fds[HTTP_CONNECTIONS_MAX], last, busy;

	start_patient();
	busy = dial();
	put_request(busy, "GET /hold", "");
	wait_for(&holding, 1);
	for (int i = 0; i < HTTP_CONNECTIONS_MAX - 1; i++)
		fds[i] = dial();
	last = dial(); /* one too many: the one that has waited for the longest goes */
	put_request(last, "GET /", "");
	ck_assert_int_eq(read_reply(last, true).status, 200);
	ck_assert(is_ended(fds[0]));
	for (int i = 1; i < HTTP_CONNECTIONS_MAX - 1; i++)
		ck_assert(is_open(fds[i]));
	put_request(fds[1], "GET /", ""); /* it has begun to wait again: the next one goes */
	ck_assert_int_eq(read_reply(fds[1], true).status, 200);
	fds[0] = dial();
	ck_assert(is_ended(fds[2]));
	ck_assert(is_open(fds[1]) && is_open(fds[3]) && is_open(last));
	released = true;
	ck_assert_str_eq(read_reply(busy, true).body, "held");
	stop();
}
END_TEST

/* Hundreds at once, of which most go again: the last ones are served. */
START_TEST(flood_of_connections)
{
	int fds[400];

	start_patient();
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		fds[i] = dial();
	ck_assert_int_eq(request("GET /", "").status, 200);
	put_request(fds[sizeof(fds) / sizeof(fds[0]) - 1], "GET /", "");
	ck_assert_int_eq(read_reply(fds[sizeof(fds) / sizeof(fds[0]) - 1], true).status, 200);
	ck_assert(is_ended(fds[0]));
	stop();
}
END_TEST

START_TEST(phases_of_connections)
{
	static struct http_connections all = {.header_ms = 1000000};
	struct http_connection *c;
	int pair[2];
	char byte;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	ck_assert_int_eq(http_connections_close_late(&all), -1);
	c = http_connection_open(&all, pair[0]);
	ck_assert_int_gt(http_connections_close_late(&all), HTTP_SEND_MS);
	http_connection_begin(&all, c, HTTP_BUSY);
	ck_assert_int_eq(http_connections_close_late(&all), -1);
	http_connection_begin(&all, c, HTTP_SENDING);
	ck_assert_int_le(http_connections_close_late(&all), HTTP_SEND_MS);
	ck_assert_int_lt(recv(pair[1], &byte, 1, MSG_DONTWAIT), 0);
	c->ends = 0;
	ck_assert_int_eq(http_connections_close_late(&all), -1);
	ck_assert_int_eq(recv(pair[1], &byte, 1, 0), 0);
	http_connection_close(c);
	http_connection_close(NULL);
}
END_TEST

START_TEST(handler_expires_by_its_cpu_time)
{
	struct reply r;

	start(0, 20);
	r = request("GET /spin", "");
	ck_assert_int_eq(r.status, 503);
	ck_assert(strstr(r.head, "Retry-After: 1\r\n"));
	ck_assert_str_eq(r.body, "this took too long");
	stop();
}
END_TEST

START_TEST(handler_expires_when_its_client_goes)
{
	int fd;

	start_patient();
	fd = dial();
	put_request(fd, "GET /hold", "");
	wait_for(&holding, 1);
	close(fd);
	wait_for(&expired, 1);
	/* With bytes left unread, closing resets the connection. */
	fd = dial();
	put_request(fd, "GET /hold", "");
	put_request(fd, "GET /", "");
	wait_for(&holding, 2);
	close(fd);
	wait_for(&expired, 2);
	ck_assert_int_eq(request("GET /", "").status, 200);
	stop();
}
END_TEST

START_TEST(more_requests_than_workers)
{
	int fds[HTTP_WORKERS];
	struct reply r;

	start_patient();
	for (unsigned int i = 0; i < HTTP_WORKERS; i++) {
		fds[i] = dial();
		put_request(fds[i], "GET /hold", "");
	}
	wait_for(&holding, HTTP_WORKERS);
	r = request("GET /", "");
	ck_assert_int_eq(r.status, 503);
	ck_assert(strstr(r.head, "Retry-After: 1\r\n"));
	released = true;
	for (unsigned int i = 0; i < HTTP_WORKERS; i++)
		ck_assert_str_eq(read_reply(fds[i], true).body, "held");
	ck_assert_int_eq(request("GET /", "").status, 200);
	stop();
}
END_TEST

/* Connections in every phase: silent, in a header, in a handler, in an answer, idle. */
START_TEST(stop_with_open_connections)
{
	int silent, begun, held, large, idle, pending = 0;

	start_patient();
	silent = dial();
	begun = dial();
	put_text(begun, "GET / HTTP/1.1\r\n");
	idle = dial();
	put_request(idle, "GET /", "");
	ck_assert_int_eq(read_reply(idle, true).status, 200);
	large = dial();
	put_request(large, "GET /large", "");
	while (!pending)
		ck_assert_int_eq(ioctl(large, FIONREAD, &pending), 0);
	held = dial();
	put_request(held, "GET /hold", "");
	wait_for(&holding, 1);
	stop();
	ck_assert_uint_eq(expired, 1);
	ck_assert(is_ended(silent) && is_ended(begun) && is_ended(idle) && is_ended(held));
}
END_TEST

START_TEST(large_answer)
{
	size_t left = LARGE;
	struct reply r;
	char bytes[4096];
	int fd;

	start_patient();
	fd = dial();
	put_request(fd, "GET /large", "");
	r = read_reply(fd, false);
	ck_assert_int_eq(r.status, 200);
	ck_assert(strstr(r.head, "Content-Type: application/octet-stream\r\n"));
	for (; left; left -= sizeof(bytes))
		ck_assert(get(fd, bytes, sizeof(bytes)));
	put_request(fd, "GET /", "");
	ck_assert_int_eq(read_reply(fd, true).status, 200);
	stop();
}
END_TEST

START_TEST(port_that_is_in_use)
{
	struct http_config c = {.routes = routes, .route_count = 1};
	struct http_server *other = NULL;
	struct error err = {0};

	start_patient();
	c.port = http_server_port(server);
	ck_assert_int_eq(http_server_start(&other, &c, &err), -EADDRINUSE);
	ck_assert_ptr_null(other);
	ck_assert(strstr(err.text, "cannot listen on port "));
	stop();
	/* It is free at once, although connections of it have just ended. */
	ck_assert_int_eq(http_server_start(&other, &c, &err), 0);
	ck_assert_uint_eq(http_server_port(other), c.port);
	http_server_stop(other);
	http_server_stop(NULL);
}
END_TEST

SUITE("http_limits", trickled_header_is_cut_off, silent_connections_are_closed,
      handler_may_take_longer_than_a_header, more_connections_than_allowed, flood_of_connections,
      phases_of_connections, handler_expires_by_its_cpu_time, handler_expires_when_its_client_goes,
      more_requests_than_workers, stop_with_open_connections, large_answer, port_that_is_in_use)
