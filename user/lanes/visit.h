/* SPDX-License-Identifier: Apache-2.0 */
/* Go through rows with the cells of their lanes; for the files of this room only. */
#ifndef SKEIN_LANES_VISIT_H
#define SKEIN_LANES_VISIT_H

#include "lanes/lanes.h"

/* A function to call for each row of a list, with the cells of its lane. */
struct row_visit {
	struct lanes *lanes;
	lane_rows_t *rows;
	unsigned int width; /* least number of cells of each lane */
	int (*each)(const struct row_visit *v, struct lane_row *row, const struct lane_cells *c);
	void *context;
};

/*
 * Call each() with the cells of every row, for the range of v->lanes, some rows at a time. Return
 * 0, or the first negative errno with the cause in *err.
 */
int lanes_visit_rows(const struct row_visit *v, struct error *err);

/* Set what the row did in the range of v->lanes: an each(). */
int lanes_measure_row(const struct row_visit *v, struct lane_row *row, const struct lane_cells *c);

/* Return the bits of struct lanes.used for the strokes of a row, two in each character. */
uint64_t lanes_used_fills(const struct stroke *strokes, unsigned int count);

#endif
