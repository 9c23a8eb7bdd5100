/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of an unwind table on their way from whoever describes functions
 * (call frame information, Go's line table, special cases) to the table.
 *
 * Functions may come in any order. Where they overlap, the higher layer hides
 * the lower; within a layer a function ends where the next one begins, and of
 * several that begin together the one added first stays. So the result does not
 * depend on chance, whatever a hostile file says.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_ROWS_H
#define SKEIN_SYMBOLIZERS_UNWIND_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"
#include "bpf/unwind/rule.h"

/* Lowest first. */
enum unwind_layer {
	UNWIND_LAYER_LINES, /* Go's line table */
	UNWIND_LAYER_FRAMES, /* call frame information */
	UNWIND_LAYER_STARTS, /* where threads begin, and other special cases */
	UNWIND_LAYERS
};

/* One function's rows: a piece of unwind_rows.rows, cut at pages as the table's are. */
struct unwind_extent {
	uint64_t start, end; /* file offsets */
	uint32_t first, count; /* rows */
};

struct unwind_rows {
	VECTOR(struct unwind_rule) rules; /* distinct; the first two are GAP and BAD */
	uint32_t *slots; /* hash table: numbers of rules, plus one */
	VECTOR(uint32_t) rows;
	VECTOR(struct unwind_extent) layers[UNWIND_LAYERS];
	uint64_t at; /* where the last row of the open function begins */
	enum unwind_layer open;
	uint32_t refused; /* of functions; ends as unwind_header.refused */
};

/* 0 or -ENOMEM. Free also after failure. */
int unwind_rows_init(struct unwind_rows *b);
void unwind_rows_free(struct unwind_rows *b);

/*
 * Begin a function at file offsets start to end (excluded), of which nothing is said until the
 * first put: it is a gap. 0; -EINVAL: empty or absurd, which the caller counts as refused; -ENOMEM;
 * -E2BIG: the file has too much of everything.
 */
int unwind_rows_begin(struct unwind_rows *b, enum unwind_layer layer, uint64_t start, uint64_t end);

/*
 * From file offset at on, and until the next put or the end of the function, rule holds. at never
 * decreases; what lies outside of the function is cut off. 0, -ENOMEM or -E2BIG.
 */
int unwind_rows_put(struct unwind_rows *b, uint64_t at, const struct unwind_rule *rule);

/* A function of one rule: begin and put. */
int unwind_rows_add(struct unwind_rows *b, enum unwind_layer layer, uint64_t start, uint64_t end,
		    const struct unwind_rule *rule);

/*
 * Call what lies between the functions of all layers: the ranges of [start, end) in which nothing
 * is described, in order of offset, until the callback returns something other than 0, which is
 * handed on. Sorts the layers, so it can be called between two functions, not within one.
 */
int unwind_rows_holes(struct unwind_rows *b, uint64_t start, uint64_t end,
		      int (*hole)(void *context, uint64_t start, uint64_t end), void *context);

/*
 * The table (unwind_table.h) in one malloc()ed piece for the caller to free. Padding of up to 15
 * bytes between functions continues the row before it. 0; -ENOENT: no rows; -ENOMEM; -E2BIG.
 */
int unwind_rows_finish(struct unwind_rows *b, void **ret, size_t *ret_size);

#endif
