/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long connections may stay open. libmicrohttpd counts only the time in which nothing comes, so
 * that one byte a second keeps a connection open for ever. Here each phase has an end:
 *
 *   waiting   until a whole header is there: from accept, or from the end of the previous answer
 *   busy      a handler runs, which has its own limit (http_request_expired())
 *   sending   until the client has taken the answer
 *
 * A connection that is late is shut down; libmicrohttpd then sees its end and closes it. All of
 * this happens on the server's one thread, so that no number of a file is used after its close.
 */
#ifndef SKEIN_HTTP_CONNECTIONS_H
#define SKEIN_HTTP_CONNECTIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HTTP_CONNECTIONS_MAX 64
/* Those that are shut down and not closed yet need a place too. */
#define HTTP_CONNECTIONS_SLOTS (HTTP_CONNECTIONS_MAX + 16)
#define HTTP_SEND_MS 60000

enum http_phase { HTTP_WAITING, HTTP_BUSY, HTTP_SENDING };

struct http_connection {
	bool used, shut;
	int fd;
	enum http_phase phase;
	uint64_t since; /* number of the phase among all phases: the order of their begins */
	uint64_t ends; /* ms of CLOCK_MONOTONIC; UINT64_MAX: never */
};

struct http_connections {
	struct http_connection slots[HTTP_CONNECTIONS_SLOTS];
	unsigned int header_ms;
	uint64_t phases; /* that have begun */
	atomic_uint_fast64_t shut; /* connections that were shut down; any thread may read it */
};

/*
 * Note an accepted connection. If there are too many, the one that has been waiting for the longest
 * is shut down, which is the new one itself if no other waits. Return NULL, with fd shut down, if
 * there is no place.
 */
struct http_connection *http_connection_open(struct http_connections *all, int fd);

void http_connection_begin(struct http_connections *all, struct http_connection *c,
			   enum http_phase phase);

/* The connection is about to be closed. c may be NULL. */
void http_connection_close(struct http_connection *c);

/* Shut down what is late. Return the ms until the next one is, or -1. */
int http_connections_close_late(struct http_connections *all);

#endif
