/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write a flight (flight.h) on a thread of its own, from the file of the ring, which is frozen
 * until that has been read: so the loop that drains the rings of the kernel never waits for the
 * disk.
 */
#ifndef SKEIN_SERVE_FLIGHT_COPY_H
#define SKEIN_SERVE_FLIGHT_COPY_H

#include <pthread.h>

#include "base/pipe.h"
#include "serve/window_files.h"
#include "trace/copy.h"

/* Zeroed memory: nothing is written. */
struct flight_copy {
	bool running;
	bool frozen; /* the ring must have no tick */
	uint64_t held_back; /* ticks since it was frozen */
	pthread_t thread;
	struct frozen_trace from;
	/* what the thread needs; its results are for others after it was joined */
	char folder[PATH_MAX], path[PATH_MAX], reason[FLIGHT_REASON_SIZE];
	struct flight_name name;
	struct window_budget budget; /* the caller sets it before */
	bool ended; /* atomic */
	int ret; /* of the thread: 0 or a negative errno, with the cause in err */
	struct error err;
	char out[PATH_MAX]; /* path of the flight */
};

/*
 * Begin to write what the ring has, as it is at now (ns), under a name. Return 0 or a negative
 * errno; then nothing is running.
 */
int flight_copy_begin(struct flight_copy *c, struct sink *ring, uint64_t now,
		      const struct flight_name *name, struct error *err);
/*
 * Thaw the ring if its file was read. Return whether the flight was running and has ended, with its
 * results in c->ret, c->err and c->out. wait: until then.
 */
bool flight_copy_settle(struct flight_copy *c, struct sink *ring, bool wait);
/*
 * Return whether the ring may have a tick now. One that would be held back for the tenth time waits
 * until the file was read: a disk that stands still must not take all memory.
 */
bool flight_copy_allows_tick(struct flight_copy *c, struct sink *ring);

#endif
