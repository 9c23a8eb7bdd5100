/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pause is: a span in which a program of Java or Python stands still. Triggers and metrics
 * share this.
 */
#ifndef SKEIN_SERVE_PAUSE_LANES_H
#define SKEIN_SERVE_PAUSE_LANES_H

#include <stdbool.h>

#include "base/cache.h"
#include "base/record.h"

/*
 * The kinds of span that can be pauses. X(KIND). Those of a JVM lie in each other: a safepoint has
 * stops for collections, and these have named pauses.
 */
#define PAUSE_KINDS(X) X(SAFEPOINT) X(GC_STOP) X(PAUSE) X(COLLECTION)

/* Of so many lanes (or up to twice as many) it is known what they are. */
#define PAUSE_LANES 32768

/* The lanes that were seen or used of late: lane.id -> process.id * 2 + whether of a runtime. */
struct pause_lanes {
	struct cache *known; /* NULL: nothing was noted yet */
};

/* Note a lane of a process (0: it is not known). Return 0 or -ENOMEM. */
int pause_lanes_note(struct pause_lanes *p, const struct lane *l, uint64_t process);
/* Return the process of a lane; 0 if it is not known. */
uint64_t pause_lanes_process(const struct pause_lanes *p, uint64_t lane);
/*
 * Return whether a program stands still in a span, which has ended. A collection of a JVM may run
 * beside the program: its lane is one of the runtime, and its pauses are spans of their own. One of
 * Python is on the lane of the thread that holds the lock of the interpreter all the time.
 */
bool pause_lanes_stop(const struct pause_lanes *p, const struct span *s);
void pause_lanes_free(struct pause_lanes *p);

#endif
