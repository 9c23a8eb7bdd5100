/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clients ask of a running service, beside its windows: CPU time by service and function, and
 * sessions, each a trace of the next seconds. The sink of the windows (window_sink.c) passes on
 * what it gets, with its stores of entities, by kind.
 */
#ifndef SKEIN_SERVE_ON_DEMAND_H
#define SKEIN_SERVE_ON_DEMAND_H

#include "serve/function_times.h"
#include "serve/pauses.h"
#include "serve/service_waits.h"
#include "serve/window_trace.h"

#define SESSIONS_MAX 8 /* at the same time */
#define WALL_SESSIONS_MAX 4 /* of these */

/* One trace of the time from begin to end, ns. */
struct session {
	uint64_t number; /* chosen by the caller; 0: the place is free */
	uint64_t begin, end;
	struct window_trace trace;
	bool wall; /* it has stacks of waits, too */
	uint64_t pending; /* ns: its length, as long as waits are not recorded yet; 0: it began */
	bool asked; /* the source was asked for the waits that have not ended */
	bool complete;
	int failed; /* why it could not be written, a negative errno; 0: it could */
};

/* A loss that may be put again, with a larger count. */
struct counted_loss {
	uint64_t id, count;
};

/* Stacks of waits for sessions of wall time. */
struct session_waits {
	int refused; /* why the configuration allows none, a negative errno; 0: it does */
	bool always; /* they are recorded without being asked for */
	bool over_budget; /* the CPU budget has lowered the rate: no session is begun */
	bool recorded; /* they are being recorded */
	bool open_alone; /* nothing else has asked for the waits that have not ended */
	struct event event; /* of their samples; id 0: not known yet */
};

#define COUNTED_LOSSES 1024 /* a loss is not put again after so many others */

/* Zeroed memory is empty, but for folder and top. */
struct on_demand {
	const char *folder; /* in which sessions are written */
	unsigned int top; /* functions listed of each service */
	struct function_times functions;
	struct service_waits waits; /* of the windows that have ended */
	struct pauses pauses;
	struct session_waits wall;
	struct session sessions[SESSIONS_MAX];
	VECTOR(struct account) accounts; /* the last one of each event and CPU */
	uint64_t lost[LOSS_COUNT]; /* by reason */
	struct counted_loss losses[COUNTED_LOSSES]; /* the last ones */
	uint64_t loss_count; /* of which the next replaces number loss_count % COUNTED_LOSSES */
	uint64_t counted; /* when samples were counted last, ns */
	unsigned int choices; /* times that listed functions were chosen */
	/* of the sink; NULL: it has not begun */
	struct entity_store *stores;
	const struct host *host;
	const struct group_times *groups; /* of the open window */
};

/* The sink has put a record, or an entity that it keeps. Return 0 or -ENOMEM. */
int on_demand_put(struct on_demand *d, enum record_kind kind, const void *record);
void on_demand_update(struct on_demand *d, enum record_kind kind, const void *record);
/*
 * The time is now, ns. Before, d->stores, d->host (NULL: not known yet) and d->groups must be those
 * of the sink. Return 0 or a negative errno.
 */
int on_demand_tick(struct on_demand *d, uint64_t now, struct error *err);
/* The sums of the open window, d->groups, are going to begin again. Return 0 or -ENOMEM. */
int on_demand_end_groups(struct on_demand *d);
/* Mark the entities of samples that are still to be counted: others may be dropped. */
void on_demand_mark(struct on_demand *d);
/* A window ends, and entities that are not marked may be dropped. Return 0 or a negative errno. */
int on_demand_end_window(struct on_demand *d, uint64_t now, struct error *err);

/*
 * Count the samples whose names had time to come, unless that was done in the last seconds. Return
 * 0 or a negative errno.
 */
int on_demand_count(struct on_demand *d, uint64_t now, struct error *err);

/* What a session is to have: wall: also waits, from when they are recorded. */
struct session_request {
	uint64_t number, ns;
	bool wall;
};

/*
 * Begin a session at now, ns. Return its place; NULL, with *ret -EBUSY if there are too many,
 * -EAGAIN if nothing is recorded yet, -EDQUOT if the CPU budget does not allow it, what
 * session_waits.refused has, or why it cannot be written.
 */
struct session *on_demand_begin(struct on_demand *d, const struct session_request *r, uint64_t now,
				int *ret);
/*
 * End a session, complete or not, and remove its file. *fd: a descriptor of its trace for reading,
 * if it is complete; else -1.
 */
void on_demand_end(struct session *s, int *fd);
void on_demand_free(struct on_demand *d);

/*
 * Stacks of waits: an event, a sample, or a loss of theirs. Each session of wall time gets the part
 * of a wait that is in its time.
 */
void on_demand_put_waits(struct on_demand *d, enum record_kind kind, const void *record);
/* Return whether a session needs waits to be recorded; if not, they are not from now on. */
bool on_demand_wants_waits(struct on_demand *d);
/* Waits are recorded from now on, ns (status 0), or cannot be (a negative errno). */
void on_demand_waits_recorded(struct on_demand *d, int status, uint64_t now);
/*
 * Return whether a session that is over at now, ns, needs the waits that have not ended; it is
 * completed at the next tick, before which they come.
 */
bool on_demand_wants_open_waits(struct on_demand *d, uint64_t now);

/* Remove what a service that was killed has left of sessions in a folder. */
void on_demand_clean(const char *folder);

#endif
