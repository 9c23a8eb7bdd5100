/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of an unwind table while it is built from the descriptions of functions (call frame
 * information, Go's line table, special cases).
 *
 * Functions may be added in any order. Where functions overlap, the higher layer hides the lower;
 * within a layer a function ends where the next one begins, and of several that begin at the same
 * offset the one added first stays. So the result is deterministic, also for a hostile file.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_ROWS_H
#define SKEIN_SYMBOLIZERS_UNWIND_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"
#include "bpf/unwind/rule.h"

/* Layers of descriptions, lowest first: where functions overlap, the higher layer applies. */
enum unwind_layer {
	UNWIND_LAYER_LINES, /* Go's line table, and code that linkers do not describe */
	UNWIND_LAYER_FRAMES, /* call frame information */
	UNWIND_LAYER_STARTS, /* where threads begin, and other special cases */
	UNWIND_LAYERS
};

/* Numbers of the rules that always exist. */
enum { UNWIND_RULE_GAP, UNWIND_RULE_BAD };

/* The rows of one function: a range of unwind_rows.rows, split at pages like those of the table. */
struct unwind_extent {
	uint64_t start, end; /* file offsets */
	uint32_t first, count; /* index of the first row, and number of rows */
};

struct unwind_rows {
	VECTOR(struct unwind_rule) rules; /* distinct */
	uint32_t *slots; /* hash table: numbers of rules, plus one; 0 is empty */
	uint32_t slots_count; /* a power of two, at least twice as many as rules */
	VECTOR(uint32_t) rows;
	VECTOR(struct unwind_extent) layers[UNWIND_LAYERS];
	uint64_t at; /* file offset of the last row of the open function */
	struct unwind_extent *open; /* the function that was begun last; rows are put into it */
	bool unsorted[UNWIND_LAYERS];
	uint32_t refused; /* refused functions; becomes unwind_header.refused */
};

/* Initialize the rows. Return 0 or -ENOMEM. Call unwind_rows_free() also after failure. */
int unwind_rows_init(struct unwind_rows *b);
void unwind_rows_free(struct unwind_rows *b);

/*
 * Begin a function at file offsets start to end (excluded). Until the first unwind_rows_put() the
 * function is a gap. Return 0; -EINVAL: the range is empty or ends above INT64_MAX, and nothing was
 * added; -ENOMEM; -E2BIG: the file has too many functions or rows.
 */
int unwind_rows_begin(struct unwind_rows *b, enum unwind_layer layer, uint64_t start, uint64_t end);

/*
 * Apply rule from file offset at up to the next put or the end of the function. A rule at or after
 * the end is ignored. Return 0; -EINVAL: at is before the start of the function or before the
 * offset of an earlier put; -ENOMEM or -E2BIG.
 */
int unwind_rows_put(struct unwind_rows *b, uint64_t at, const struct unwind_rule *rule);

/* Mark the open function as invalid: all of it becomes BAD, and it counts as refused. */
void unwind_rows_mark_bad(struct unwind_rows *b);

/* Add a function that has one rule, by unwind_rows_begin() and unwind_rows_put(). */
int unwind_rows_add(struct unwind_rows *b, enum unwind_layer layer, uint64_t start, uint64_t end,
		    const struct unwind_rule *rule);

/*
 * Sort each layer, and cut functions where the next one of their layer begins. Do not call this
 * while a function is open. unwind_rows_walk() and the functions that finish the rows call this
 * themselves.
 */
void unwind_rows_sort(struct unwind_rows *b);

/* Return the function of one layer that holds a file offset, or NULL. The rows must be sorted. */
const struct unwind_extent *unwind_rows_find(const struct unwind_rows *b, enum unwind_layer layer,
					     uint64_t offset);

/*
 * Call visit for all offsets from start to end in order, with the function that applies there, or
 * NULL where there is none. Stop when visit returns something other than 0, and return that value.
 */
typedef int unwind_visit(void *context, uint64_t start, uint64_t end, enum unwind_layer layer,
			 struct unwind_extent *function);
int unwind_rows_walk(struct unwind_rows *b, uint64_t start, uint64_t end, unwind_visit *visit,
		     void *context);

/*
 * Build the table (table.h) in one malloc()ed block that the caller frees. Padding of up to
 * 15 bytes between functions belongs to the row before the padding. The functions of b are
 * consumed. Return 0; -ENOENT: no rows; -ENOMEM; -E2BIG: too many pages (over 4 GiB of code).
 */
int unwind_rows_finish(struct unwind_rows *b, void **out, size_t *out_size);

/* The pages to build. */
struct unwind_wanted_pages {
	const uint64_t *pages; /* sorted and distinct, at least first, less than end */
	size_t count;
	uint64_t first, end; /* pages of the whole table */
};

/*
 * Like unwind_rows_finish(), for some pages: all other pages are marked unmade, and rows in them
 * are ignored. The caller must have added all functions in the wanted pages, and their neighbors.
 * Wanted pages without rows are not an error. -E2BIG: the range of pages is empty or too large.
 */
int unwind_rows_finish_pages(struct unwind_rows *b, const struct unwind_wanted_pages *w, void **out,
			     size_t *out_size);

#endif
