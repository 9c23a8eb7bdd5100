/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read the chunks of one stream, decoded one after the other in the order of writing. Damaged
 * chunks are left out and reported as losses.
 */
#ifndef SKEIN_TRACE_CHUNKS_H
#define SKEIN_TRACE_CHUNKS_H

#include "trace/codec.h"
#include "trace/scan.h"

/*
 * The key of the info row whose value is the last chunk.id that may have been deleted on purpose
 * (--keep).
 */
#define CHUNKS_DROPPED "trace.dropped"

/*
 * lost() is called for records that cannot be read, with their number (an estimate, at least 1) and
 * the time range in which they may have been, ns; both ends are 0 if unknown. kind is KIND_COUNT if
 * their stream is unknown.
 */
struct chunk_losses {
	void (*lost)(void *context, enum record_kind kind, uint64_t time, uint64_t end,
		     uint64_t records);
	void *context;
	/* do not report losses of unknown streams, because another reader of these chunks does */
	bool reported_elsewhere;
};

/*
 * Selects chunks of one stream that may hold a record of [from, to] (ns). If the index of the
 * chunks is damaged, chunks outside of this range are returned, too.
 */
struct chunk_query {
	enum record_kind kind;
	uint64_t from, to;
	uint64_t after; /* skip chunks with ids up to this one; 0: none */
	uint64_t until; /* skip chunks with ids above this one; 0: none */
	uint64_t columns; /* mask of the columns to decode; 0: all */
	struct chunk_losses losses; /* losses.lost may be NULL: losses are not reported */
};

struct chunks {
	struct trace *trace;
	struct chunk_query query;
	struct scan scan;
	sqlite3_stmt *data;
	struct codec codec;
	struct columns columns; /* the decoded columns of the current chunk */
	uint64_t id; /* chunk.id of the current chunk */
	bool indexed; /* rows are found by the index on times; false: by reading the whole table */
};

/*
 * Open the chunks without reading any. Return 0 or a negative errno; c is initialized also on
 * failure: call chunks_close().
 */
int chunks_open(struct chunks *c, struct trace *t, const struct chunk_query *q, struct error *err);
/* Return 1 with the next chunk in columns, 0 at the end, or a negative errno. */
int chunks_next(struct chunks *c, struct error *err);
/* Close the chunks; c may be zeroed memory. */
void chunks_close(struct chunks *c);

#endif
