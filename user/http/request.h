/* SPDX-License-Identifier: Apache-2.0 */
/* A request from its first line until its answer has been sent. */
#ifndef SKEIN_HTTP_REQUEST_H
#define SKEIN_HTTP_REQUEST_H

#include <stdatomic.h>
#include <time.h>

#include "http/connections.h"
#include "http/server.h"
#include "http/target.h"

struct MHD_Connection;

enum http_stage {
	HTTP_ARRIVED, /* its first line is there */
	HTTP_ACCEPTED, /* its header has passed the checks */
	HTTP_GIVEN, /* a worker has it, or has answered it */
};

struct http_request {
	struct http_request *next; /* in a list of the workers */
	struct MHD_Connection *mhd;
	struct http_connection *connection;
	const struct http_route *route;
	enum http_stage stage;
	uintptr_t raw; /* where libmicrohttpd has the target */
	size_t raw_length;
	const struct http_refusal *refused; /* why the target is refused, or NULL */
	const char *accept; /* the header Accept, or NULL; libmicrohttpd has it */
	const struct http_config *config; /* of the server */
	const atomic_bool *stopping; /* the server */
	clockid_t clock; /* CPU time of the handler's thread */
	uint64_t began; /* ns of it, when the handler began */
	struct http_target target;
	struct http_answer answer;
};

/* Run the handler on this thread. Afterwards there is an answer, be it an error. */
void http_request_run(struct http_request *q);

void http_request_free(struct http_request *q);

#endif
