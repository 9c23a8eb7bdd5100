/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of the lanes of a trace, exact ones or cells, in the form in which a page without a
 * server holds them (user/view/static_runs.js reads it).
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

/*
 * The runs of a lane, exact states or equal cells, as columns: the key of each; its length, and
 * before that the length of a gap, if there is one; the thread that ran on a CPU; the activity of
 * cells, if it does not follow from their state.
 */
struct embedded_columns {
	struct embed_bytes keys, lengths, threads, shares;
	size_t count; /* of runs */
};

/* The runs of all lanes: exact states, or cells of 1 << shift ns. */
struct embedded_set {
	unsigned int shift; /* 0: exact states */
	VECTOR(struct embedded_columns) columns; /* by lane */
	size_t size; /* of cells, bytes */
};

/* A lane, and what is not yet written of it. */
struct embedded_lane {
	uint64_t lane; /* lane.id */
	uint64_t at; /* end of what is written, ns */
	struct lane_stretch last; /* the next one may continue it; end 0: none */
	struct cell run; /* equal cells, and their number */
	uint64_t cells;
	bool cpu;
};

/* A state with its class of wait, or what a runtime did. */
struct embedded_key {
	uint8_t state, wait; /* 0, 0: an act of a runtime, or nothing is known of cells */
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
	struct embedded_set exact;
	VECTOR(struct embedded_set) levels; /* the longest cells first */
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
/*
 * Add cells of all lanes instead of stretches: of the longest cells that a window of the recording
 * can have, and of each next shorter length while their columns take up to so many bytes. Each
 * length has the cells that lanes->windows gives, because rounded cells cannot be made of others.
 * Return 0, or a negative errno with the cause in *err: -E2BIG if not even the longest cells fit.
 */
int view_embed_cells(struct embedded *e, size_t bytes, struct error *err);
/* Leave out the shortest cells. Return 0, or -E2BIG if there are none but these. */
int view_embed_fewer(struct embedded *e);
/* Add what runtimes did, after all stretches, and the counters. Return 0 or a negative errno. */
int view_embed_acts(struct embedded *e, struct error *err);
/*
 * Write the members of a JSON object that say what the columns mean, and the columns themselves:
 * of the exact states, then of the shortest cells and so on, all keys, all lengths, all threads,
 * all shares; then of counters all times and all values. The member "size" is their size, bytes.
 * Return 0 or -ENOMEM.
 */
int view_embed_write(const struct embedded *e, struct json *j, FILE *columns);
void view_embed_free(struct embedded *e);

/* embed.c, for embed_cells.c. Return the number of a key or thread, or a negative errno. */
int view_embed_key(struct embedded *e, struct embedded_key key);
int view_embed_thread(struct embedded *e, uint64_t id);
/* Return 0 or -ENOMEM. */
int view_embed_number(struct embed_bytes *to, uint64_t value);
void view_embed_free_set(struct embedded_set *s);

#endif
