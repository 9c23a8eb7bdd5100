/* SPDX-License-Identifier: Apache-2.0 */
/* Read one stream for render.c: of each chunk the rows that concern the wanted lanes. */
#ifndef SKEIN_TRACE_RENDER_STREAM_H
#define SKEIN_TRACE_RENDER_STREAM_H

#include "trace/codec.h"
#include "trace/open.h"
#include "trace/sort.h"

/* The chunks to read: those with after < chunk.id <= last that have records before the time end. */
struct render_range {
	uint64_t after, last;
	uint64_t end; /* ns */
};

struct render_stream {
	struct trace *trace;
	enum record_kind kind;
	sqlite3_stmt *chunks;
	struct codec codec;
	struct columns columns; /* columns of the current chunk */
	struct sorter sorter; /* the rows to take from the chunk, sorted by their order */
	uint32_t next, count; /* next row and number of rows in sorter */
	bool end;
};

/*
 * Prepare to read the chunks of a range; may be called again for another range. Return 0 or a
 * negative errno.
 */
int render_stream_open(struct render_stream *l, struct trace *t, enum record_kind kind,
		       const struct render_range *range, struct error *err);
/* Close the stream; l may be zeroed memory. */
void render_stream_close(struct render_stream *l);

/*
 * Decode the columns in mask of the next readable chunk. Return 1, or 0 at the end, or a negative
 * errno. The sorter then has room for all rows of the chunk.
 */
int render_stream_next_chunk(struct render_stream *l, uint64_t mask, struct error *err);

static inline void render_stream_take(struct render_stream *l, uint32_t row, uint64_t order)
{
	l->sorter.keys[row] = order;
	l->sorter.rows[l->count++] = row;
}

static inline uint64_t render_stream_order(const struct render_stream *l)
{
	return l->sorter.keys[l->sorter.rows[l->next]];
}

#endif
