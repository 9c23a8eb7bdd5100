/* SPDX-License-Identifier: Apache-2.0 */
/* The network process: an HTTP server that asks the core (network_wire.h) for what it answers. */
#ifndef SKEIN_SERVE_NETWORK_CHILD_H
#define SKEIN_SERVE_NETWORK_CHILD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "http/server.h"
#include "serve/network_wire.h"

/* The connection to the core, which all handlers share. */
struct asker;

/*
 * Ask the core, and wait for the reply as long as the client of a request does. *fd: the descriptor
 * that came with it, which the caller closes, or -1. Return the reply's status, -ECANCELED if the
 * client is gone, or another negative errno.
 */
int ask_core(struct asker *a, struct network_question *question, const struct http_request *q,
	     int *fd);

/* The context of the handlers. */
struct network_child {
	struct asker *asker;
	struct http_server *http;
	bool trusted; /* clients have a token, or may open the socket's file */
	atomic_uint profiles; /* of windows, that are being made */
};

extern const struct http_route network_routes[];
extern const size_t network_route_count;

/*
 * Run the network process, with a server by that configuration, until the core is gone. The socket
 * on which it listens is the descriptor of the first reply.
 */
void network_child_run(int socket, pid_t parent, const struct http_config *http)
	__attribute__((noreturn));

/*
 * Give up all rights but those that an HTTP server needs: the descriptors socket and listener,
 * which get other numbers, memory, threads and sockets. Return 0 or a negative errno.
 */
int network_confine(int *socket, int *listener, pid_t parent);

#endif
