/* SPDX-License-Identifier: Apache-2.0 */
/* One stream as paint.c reads it: the rows of each chunk that concern the lanes asked for. */
#ifndef SKEIN_TRACE_PAINT_LINE_H
#define SKEIN_TRACE_PAINT_LINE_H

#include "trace/codec.h"
#include "trace/open.h"
#include "trace/sort.h"

/* Chunks with an id above after and up to last, that reach before the time end. */
struct paint_range {
	uint64_t after, last;
	uint64_t end; /* ns */
};

struct paint_line {
	struct trace *trace;
	enum record_kind kind;
	sqlite3_stmt *chunks;
	struct codec codec;
	struct columns columns; /* of the chunk at hand */
	struct sorter sorter;	/* its rows that are to be taken, by their order */
	uint32_t next, count;	/* of them */
	bool end;
};

int paint_line_open(struct paint_line *l, struct trace *t, enum record_kind kind,
		    const struct paint_range *range, struct error *err);
/* Accepts zeroed memory. */
void paint_line_close(struct paint_line *l);

/*
 * Decode the next chunk that can be, with the columns in mask: 1, or 0 if there is none, or a
 * negative errno. There is room for all its rows in the sorter.
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
