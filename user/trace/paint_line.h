/* SPDX-License-Identifier: Apache-2.0 */
/* Read one stream for paint.c: of each chunk the rows that concern the wanted lanes. */
#ifndef SKEIN_TRACE_PAINT_LINE_H
#define SKEIN_TRACE_PAINT_LINE_H

#include "trace/codec.h"
#include "trace/open.h"
#include "trace/sort.h"

/* The chunks to read: those with after < chunk.id <= last that have records before the time end. */
struct paint_range {
	uint64_t after, last;
	uint64_t end; /* ns */
};

struct paint_line {
	struct trace *trace;
	enum record_kind kind;
	sqlite3_stmt *chunks;
	struct codec codec;
	struct columns columns; /* columns of the current chunk */
	struct sorter sorter;	/* the rows to take from the chunk, sorted by their order */
	uint32_t next, count;	/* next row and number of rows in sorter */
	bool end;
};

/*
 * Prepare to read the chunks of a range; may be called again for another range. Return 0 or a
 * negative errno.
 */
int paint_line_open(struct paint_line *l, struct trace *t, enum record_kind kind,
		    const struct paint_range *range, struct error *err);
/* Close the stream; l may be zeroed memory. */
void paint_line_close(struct paint_line *l);

/*
 * Decode the columns in mask of the next readable chunk. Return 1, or 0 at the end, or a negative
 * errno. The sorter then has room for all rows of the chunk.
 */
int paint_line_chunk(struct paint_line *l, uint64_t mask, struct error *err);

static inline void paint_line_take(struct paint_line *l, uint32_t row, uint64_t order)
{
	l->sorter.keys[row] = order;
	l->sorter.rows[l->count++] = row;
}

static inline uint64_t paint_line_order(const struct paint_line *l)
{
	return l->sorter.keys[l->sorter.rows[l->next]];
}

#endif
