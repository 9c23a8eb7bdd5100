/* SPDX-License-Identifier: Apache-2.0 */
/* Show several lanes as one, on the page and in a terminal by the same rule. */
#ifndef SKEIN_LANES_JOIN_H
#define SKEIN_LANES_JOIN_H

#include "lanes/lanes.h"

/* What is known so far of a column of several lanes. Zeroed memory is of none. */
struct joined {
	uint32_t sum, full, unknown; /* of levels; number of parts that are full, or unknown */
	uint8_t bar, ground; /* enum fill */
};

/* Add the stroke of one lane to its column. */
void lanes_join_stroke(struct joined *j, const struct stroke *s);

/*
 * Return the stroke of a column of so many lanes of threads. Its level is the run time of all, up
 * to that of one CPU: 0 only if nothing ran, full only if one of them ran throughout.
 */
struct stroke lanes_joined_stroke(const struct joined *j, size_t count);

/* Return whether a thread lived at some time of a range (ns): else it has no part in a row. */
bool lanes_part_lives(const struct lane_part *p, uint64_t time, uint64_t end);

/*
 * Make rows of those of single threads in l->threads, as by says. *out must be empty, and belongs
 * to the caller, also after an error. Return 0 or -ENOMEM.
 */
int lanes_join_rows(const struct lanes *l, enum lanes_by by, lane_rows_t *out);

/* Compute the strokes of the rows of l->threads that have parts. */
int lanes_render_joined(struct lanes *l, unsigned int count, struct error *err);

/* Free what rows have, and the rows from first on; they are gone from the list. */
void lanes_drop_rows(lane_rows_t *rows, size_t first);

#endif
