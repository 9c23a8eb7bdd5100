/* SPDX-License-Identifier: Apache-2.0 */
/* Signs of life that the worker sends from loops over large files. */
#ifndef SKEIN_SYMBOLIZERS_HEARTBEAT_H
#define SKEIN_SYMBOLIZERS_HEARTBEAT_H

#include <stdint.h>

struct heartbeat {
	int socket;
	uint64_t last; /* ns of CLOCK_MONOTONIC */
	uint64_t object, sequence; /* object and sequence number of the current request */
};

/* Send a MESSAGE_HEARTBEAT to the client, at most five per second. b may be NULL (no client:
 * tests). */
void heartbeat_send(struct heartbeat *b);

#endif
