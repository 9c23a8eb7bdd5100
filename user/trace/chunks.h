/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chunks of one stream, decoded one after the other in the order of writing. What is damaged
 * is left out and told.
 */
#ifndef SKEIN_TRACE_CHUNKS_H
#define SKEIN_TRACE_CHUNKS_H

#include "trace/codec.h"
#include "trace/scan.h"

/* The key in info of the last chunk.id up to which chunks may have been deleted on purpose. */
#define CHUNKS_DROPPED "trace.dropped"

/* Those that can hold a record of [from, to], ns, and have an id above after, up to until. */
struct chunk_range {
	uint64_t from, to, after;
	uint64_t until; /* 0: the last */
};

#define CHUNKS_ALL ((struct chunk_range){.to = UINT64_MAX})

/*
 * Told of records that cannot be read, and where they may have been, ns (0, 0: unknown). kind is
 * KIND_COUNT when it is not known of which stream they were.
 */
struct chunk_losses {
	void (*lost)(void *context, enum record_kind kind, uint64_t time, uint64_t end,
		     uint64_t records);
	void *context;
	bool told; /* what is of no known stream is told by another reader of these chunks */
};

struct chunks {
	struct trace *trace;
	enum record_kind kind;
	struct chunk_range range;
	struct chunk_losses losses; /* lost may be NULL */
	struct scan scan;
	sqlite3_stmt *data;
	struct codec codec;
	uint64_t wanted;	/* bits of columns; all of them unless changed after opening */
	struct columns columns; /* those, of the chunk that chunks_next() came to */
	uint64_t id;		/* its */
	bool indexed;		/* found by the index on times, as long as that can be read */
};

/* c is written also on failure: chunks_close() it. Nothing of it is read yet. */
int chunks_open(struct chunks *c, struct trace *t, enum record_kind kind,
		const struct chunk_range *range, const struct chunk_losses *losses,
		struct error *err);
/* 1: the next one is in columns; 0: there is no more; or a negative errno. */
int chunks_next(struct chunks *c, struct error *err);
/* Accepts zeroed memory. */
void chunks_close(struct chunks *c);

#endif
