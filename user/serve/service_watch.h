/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watch how much CPU time the threads of each service use, by the sums of control groups, which
 * count every switch: triggers of the kind TRIGGER_SERVICE_CPU.
 *
 * A control group that belongs to no service is one of its own here, named by its path, as in
 * reports. What the kernel has put together for want of room, or without a path, is none.
 */
#ifndef SKEIN_SERVE_SERVICE_WATCH_H
#define SKEIN_SERVE_SERVICE_WATCH_H

#include "serve/readings.h"
#include "serve/trigger_watch.h"
#include "serve/window_groups.h"

/* A service that ran of late. */
struct service_use {
	char *name; /* hostile */
	uint64_t total; /* ns that its threads ran since it was added */
	uint64_t grown; /* time of the tick at which that grew last, ns */
	struct readings *readings; /* of each trigger of the list; of other kinds unused */
};

/* Zeroed memory watches nothing yet. */
struct service_watch {
	struct window_groups groups; /* what was added since the last tick */
	VECTOR(struct service_use) services; /* by name */
	uint64_t begun, last; /* ns: the first tick, the last one; 0: there was none */
};

/* Take a record. Return 0 or -ENOMEM. */
int service_watch_take(struct service_watch *w, const struct group_time *r);
/*
 * A tick, by whose time (ns) all sums have come: report which triggers of the list are met. Return
 * 0 or -ENOMEM.
 */
int service_watch_tick(struct service_watch *w, const trigger_list *triggers,
		       const struct trigger_events *events, uint64_t time);
void service_watch_free(struct service_watch *w);

#endif
