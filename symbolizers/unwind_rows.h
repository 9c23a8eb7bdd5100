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
	UNWIND_LAYER_LINES,  /* Go's line table, and what linkers do not describe */
	UNWIND_LAYER_FRAMES, /* call frame information */
	UNWIND_LAYER_STARTS, /* where threads begin, and other special cases */
	UNWIND_LAYERS
};

/* Numbers of rules that are always there. */
enum { UNWIND_RULE_GAP, UNWIND_RULE_BAD };

/* One function's rows: a piece of unwind_rows.rows, cut at pages as the table's are. */
struct unwind_extent {
	uint64_t start, end;   /* file offsets */
	uint32_t first, count; /* rows */
};

struct unwind_rows {
	VECTOR(struct unwind_rule) rules; /* distinct */
	uint32_t *slots;		  /* hash table: numbers of rules, plus one */
	uint32_t slots_count;		  /* a power of two, at least twice as many as rules */
	VECTOR(uint32_t) rows;
	VECTOR(struct unwind_extent) layers[UNWIND_LAYERS];
	uint64_t at;		    /* where the last row of the open function begins */
	struct unwind_extent *open; /* the last function begun */
	bool unsettled[UNWIND_LAYERS];
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

/* The open function makes no sense: all of it becomes BAD, and it counts as refused. */
void unwind_rows_spoil(struct unwind_rows *b);

/* A function of one rule: begin and put. */
int unwind_rows_add(struct unwind_rows *b, enum unwind_layer layer, uint64_t start, uint64_t end,
		    const struct unwind_rule *rule);

/*
 * Bring each layer into order, and cut functions where the next one of their layer begins. Not
 * within a function. What follows does it by itself.
 */
void unwind_rows_settle(struct unwind_rows *b);

/* The function of one layer that holds a file offset, of a builder that is settled; or NULL. */
const struct unwind_extent *unwind_rows_find(const struct unwind_rows *b, enum unwind_layer layer,
					     uint64_t offset);

/*
 * Call piece for everything from start to end in order of offset, with the function that holds
 * there or NULL where there is none, until it returns something other than 0, which is handed on.
 */
typedef int unwind_piece(void *context, uint64_t start, uint64_t end, enum unwind_layer layer,
			 struct unwind_extent *function);
int unwind_rows_walk(struct unwind_rows *b, uint64_t start, uint64_t end, unwind_piece *piece,
		     void *context);

/*
 * The table (unwind_table.h) in one malloc()ed piece for the caller to free. Padding of up to 15
 * bytes between functions continues the row before it. It uses up the rows of b. 0; -ENOENT: no
 * rows; -ENOMEM; -E2BIG.
 */
int unwind_rows_finish(struct unwind_rows *b, void **ret, size_t *ret_size);

/* Numbers of pages. */
struct unwind_wanted {
	const uint64_t *pages; /* in order, no two the same, all from first on and before end */
	size_t count;
	uint64_t first, end; /* of the table */
};

/* The same of some pages: the others are unmade. Nothing of what was put lies outside of them. */
int unwind_rows_finish_pages(struct unwind_rows *b, const struct unwind_wanted *w, void **ret,
			     size_t *ret_size);

#endif
