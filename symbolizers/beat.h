/* SPDX-License-Identifier: Apache-2.0 */
/* A sign of life of the worker, given out of the loops that read large files. */
#ifndef SKEIN_SYMBOLIZERS_BEAT_H
#define SKEIN_SYMBOLIZERS_BEAT_H

#include <stdint.h>

struct beat {
	int socket;
	uint64_t last;		   /* ns of CLOCK_MONOTONIC */
	uint64_t object, sequence; /* of the request at work */
};

/* Tell the client, at most five times a second. b may be NULL (no client: tests). */
void beat(struct beat *b);

#endif
