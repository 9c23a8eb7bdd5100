/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small HTTP server for one user on this machine, on libmicrohttpd. It listens on 127.0.0.1, or
 * on a socket that it is given, answers GET and HEAD by a table of routes, and knows nothing of
 * what it serves.
 *
 * The loopback interface is open to every user of the machine and to every page that the user's
 * browser shows. So a route needs a token unless it says otherwise, and check.h lists which
 * requests are refused before a handler sees them.
 *
 * One thread does all input and output. Handlers run on other threads, the workers, so they must be
 * safe to run at the same time. When all are busy, a request gets 503 with Retry-After.
 */
#ifndef SKEIN_HTTP_SERVER_H
#define SKEIN_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define HTTP_WORKERS 4 /* unless the configuration has another number */
#define HTTP_WORKERS_MAX 16
#define HTTP_TOKEN_LENGTH 32 /* hexadecimal digits of 16 random bytes */
#define HTTP_TOKEN_HEADER "X-Skein-Token"

struct http_server;
struct http_request;

/* What a handler fills; zeroed before, with status 200. */
struct http_answer {
	unsigned int status; /* 200, 202, 400, 404, 409, 429 or 503; the last two get Retry-After */
	const char *type; /* media type; a constant */
	/* Content-Security-Policy; a constant, or NULL: nothing may be loaded. */
	const char *policy;
	char *body; /* from malloc(), or NULL; the server frees it, after a failure too */
	size_t size; /* bytes of body */
};

struct http_route {
	const char *path; /* compared byte by byte, without any decoding */
	bool open; /* Needs no token. Nothing secret may be in such an answer. */
	/*
	 * Return 0 with a filled answer. After a negative errno the client gets 503 if the request
	 * has expired, and 500 otherwise.
	 */
	int (*answer)(void *context, const struct http_request *q, struct http_answer *a);
	bool post; /* It changes something: only POST is answered, without a body. */
};

/* Which requests are answered; zeroed: those with a random token, to a Host of this machine. */
struct http_access {
	/*
	 * a token that comes as "Authorization: Bearer TOKEN", in place of the random one; must
	 * outlive the server
	 */
	const char *bearer;
	bool no_token; /* No route needs a token: all who can connect may read everything. */
	bool any_host; /* A Host of another machine is accepted; only safe with a bearer token. */
};

struct http_config {
	uint16_t port; /* 0: the kernel chooses one */
	int listener; /* a listening socket, the server's from then on, in place of port; 0: none */
	struct http_access access;
	unsigned int workers; /* requests that are handled at once; 0: HTTP_WORKERS */
	const struct http_route *routes;
	size_t route_count;
	void *context; /* for the handlers */
	/*
	 * Optional: return the context for the handler of one request instead, or NULL after
	 * filling the answer. context is that of the configuration.
	 */
	void *(*context_of)(void *context, const struct http_request *q, struct http_answer *a);
	unsigned int header_ms; /* limit from accept to the end of a header; 0: 8000 */
	unsigned int cpu_ms; /* CPU time of a handler's thread until it expires; 0: 2000 */
};

/* Listen, and begin to answer. config is copied; its routes must outlive the server. */
int http_server_start(struct http_server **out, const struct http_config *c, struct error *err);

/*
 * Let all requests expire, wait until their handlers have returned, close all connections and free
 * the server. NULL is allowed.
 */
void http_server_stop(struct http_server *s);

uint16_t http_server_port(const struct http_server *s);

/* What became of requests and connections so far. */
struct http_counts {
	uint64_t answered; /* by a handler */
	uint64_t refused; /* requests, before a handler saw them */
	uint64_t shut; /* connections, because they were late or too many */
};

/* Any thread may call it. */
void http_server_counts(const struct http_server *s, struct http_counts *out);

/* Return the random token that requests may need in their header HTTP_TOKEN_HEADER. */
const char *http_server_token(const struct http_server *s);

/*
 * Return whether the handler must give up: its thread has used cpu_ms, the client has closed the
 * connection, or the server stops. It costs up to two system calls, and any thread may call it
 * until the handler has returned.
 */
bool http_request_expired(const struct http_request *q);

/*
 * Return whether nobody waits for the answer any more: the client has closed the connection, or the
 * server stops. Costs one system call.
 */
bool http_request_abandoned(const struct http_request *q);

/*
 * Return the value of a parameter of the query, decoded ("+" is a space), or NULL if there is none.
 * It is UTF-8 without control characters. No name comes twice in a request.
 */
const char *http_request_text(const struct http_request *q, const char *name);

/* Return the header Accept; "" if there is none. */
const char *http_request_accept(const struct http_request *q);

/*
 * Read a parameter that consists of decimal digits only. Return 0, -ENOENT if there is none, or
 * -EINVAL or -ERANGE with *value unchanged.
 */
int http_request_number(const struct http_request *q, const char *name, uint64_t *value);

/* Fill an answer with a status and one line of plain text. Return 0 or -ENOMEM. */
int http_answer_text(struct http_answer *a, unsigned int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
