/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages by which the worker shows, from loops over large files, that a request has not hung.
 */
#ifndef SKEIN_SYMBOLIZERS_HEARTBEAT_H
#define SKEIN_SYMBOLIZERS_HEARTBEAT_H

#include <stdint.h>

struct heartbeat {
	int socket; /* to the client */
	uint64_t last; /* time of the last message, in ns of CLOCK_MONOTONIC */
	uint64_t object, sequence; /* object and sequence number of the current request */
};

/*
 * Send a MESSAGE_HEARTBEAT to the client, unless less than 200 ms have passed since the last one. b
 * is NULL if there is no client, as in tests; then do nothing.
 */
void heartbeat_send(struct heartbeat *b);

#endif
