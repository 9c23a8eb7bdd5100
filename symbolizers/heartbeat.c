// SPDX-License-Identifier: Apache-2.0
/*
 * Send the heartbeat MESSAGE_HEARTBEAT on the worker's socket. Errors are ignored, because a lost
 * heartbeat does no harm.
 */
#include <stddef.h>
#include <time.h>

#include "symbolizers/heartbeat.h"
#include "symbolizers/protocol.h"

#define HEARTBEAT_NS 200000000ull

void heartbeat_send(struct heartbeat *b)
{
	struct message m = {.type = MESSAGE_HEARTBEAT};
	struct timespec ts;
	uint64_t now;

	if (!b)
		return;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	if (now - b->last < HEARTBEAT_NS)
		return;
	b->last = now;
	m.object = b->object;
	m.sequence = b->sequence;
	(void)message_send(b->socket, &m, NULL, 0);
}
