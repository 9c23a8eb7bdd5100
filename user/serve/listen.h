/* SPDX-License-Identifier: Apache-2.0 */
/* The socket on which the service is asked over HTTP. */
#ifndef SKEIN_SERVE_LISTEN_H
#define SKEIN_SERVE_LISTEN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/error.h"

#define LISTEN_DEFAULT "127.0.0.1:7117"

struct listen_address {
	const char *text; /* as it was given */
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_un path;
	} at;
	socklen_t size; /* bytes of at; 0: there is no server */
	bool local; /* only this machine can connect */
};

/*
 * Parse ADDRESS:PORT, [ADDRESS]:PORT, PORT (of 127.0.0.1), unix:PATH or none, which must outlive
 * *out. Return 0 or -EINVAL.
 */
int listen_parse(struct listen_address *out, const char *text, struct error *err);
/*
 * Listen. A unix socket is for its owner and group; one that nobody answers any more is replaced.
 * Return the socket or a negative errno.
 */
int listen_open(const struct listen_address *a, struct error *err);
/* Set *out to where a socket listens; without a text. Return 0 or a negative errno. */
int listen_address_of(struct listen_address *out, int fd);
/* Write an address, such as 127.0.0.1:7117. Return buf. */
char *listen_show(const struct listen_address *a, char *buf, size_t size);
/* Remove a unix socket. */
void listen_remove(const struct listen_address *a);

/*
 * Return the socket that systemd has opened for this process (sd_listen_fds(3)), the first if there
 * are several, or -1; and remove the environment's variables.
 */
int listen_inherited(void);

#endif
