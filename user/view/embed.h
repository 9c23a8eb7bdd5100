/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact states of the lanes of a trace in the form in which a page without a server holds them
 * (user/view/static_cells.js reads it).
 */
#ifndef SKEIN_VIEW_EMBED_H
#define SKEIN_VIEW_EMBED_H

#include "base/json.h"
#include "lanes/lanes.h"

#define EMBED_NAMED_MAX 96 /* keys; acts have no names of their own beyond these */
#define EMBED_KEYS_MAX 127 /* the eighth bit of a key's byte says that nothing is known before */

struct embed_bytes {
	uint8_t *items;
	size_t count, capacity;
};

/* The states of a lane, as columns. */
struct embedded_lane {
	uint64_t lane; /* lane.id */
	uint64_t at; /* end of what is written, ns */
	struct lane_stretch last; /* not yet written: the next one may continue it; end 0: none */
	size_t count; /* of stretches that are written */
	/* by stretch: its key; a gap before it, if there is one, and its length; its thread */
	struct embed_bytes keys, lengths, threads;
	bool cpu;
};

/* A state with its class of wait, or what a runtime did. */
struct embedded_key {
	uint8_t state, wait; /* 0, 0: an act of a runtime */
	uint8_t fill; /* enum fill while nothing runs, or of the act */
	uint8_t unused;
	uint32_t name; /* of an act that has one: as lane_act.name; else LANES_NONE */
};

struct embedded {
	const struct lanes *lanes;
	uint64_t base; /* ns; what precedes it is not written, and all times count from it */
	size_t most; /* stretches, after which -E2BIG is returned */
	size_t count;
	VECTOR(struct embedded_lane) list; /* all with stretches of trace_stretches() come first */
	size_t stated; /* number of these */
	VECTOR(uint64_t) ids; /* lane.id of these */
	VECTOR(struct embedded_key) keys;
	VECTOR(uint64_t) threads; /* thread.id by number; number 0 is no thread */
	struct index thread_numbers;
	struct embed_bytes times, values; /* of the points of counters */
};

/*
 * List the lanes of l, which is as view_write_trace() needs it. *e must be zeroed, and must be
 * freed with view_embed_free() also after an error. Return 0 or -ENOMEM.
 */
int view_embed_begin(struct embedded *e, const struct lanes *l);
/*
 * Take a stretch of the lane e->ids.items[lane]: a stretches_query.take(). Return 0 or a negative
 * errno: -E2BIG if there are more than e->most.
 */
int view_embed_stretch(void *e, size_t lane, const struct lane_stretch *s, struct error *err);
/* Add what runtimes did, after all stretches, and the counters. Return 0 or a negative errno. */
int view_embed_acts(struct embedded *e, struct error *err);
/*
 * Write the members of a JSON object that say what the columns mean, and the columns themselves,
 * one after the other: all keys, all lengths, all threads, and of counters all times and all
 * values. Return 0 or -ENOMEM.
 */
int view_embed_write(struct embedded *e, struct json *j, FILE *columns);
void view_embed_free(struct embedded *e);

#endif
