// SPDX-License-Identifier: Apache-2.0
/* Read the cells of rows, in queries of a bounded size (visit.h). */
#include <errno.h>
#include <stdlib.h>

#include "lanes/visit.h"

/*
 * Cells of one query, 16 MiB: bounds the memory for any number of lanes. Each query reads the same
 * records again, so the 100 lanes of 1,920 columns that a page shows must be one query.
 */
#define BATCH_CELLS (1u << 20)

/* Query the window for count rows from index first on, and visit them. */
static int visit_row_batch(const struct row_visit *v, size_t first, size_t count, struct error *err)
{
	struct lanes *l = v->lanes;
	uint64_t *ids = calloc(count, sizeof(*ids));
	struct window_query q = {l->time, l->end, v->width, ids, count};
	struct window *w = NULL;
	int ret;

	if (!ids)
		return error_errno(err, -ENOMEM, "cannot draw the timeline");
	for (size_t i = 0; i < count; i++)
		ids[i] = v->rows->items[first + i].lane;
	ret = l->windows->window(l->windows->context, &q, &w, err);
	free(ids);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < count && i < w->lanes && !ret; i++) {
		const struct lane_cells c = {w, w->cells + i * w->width, l->time, l->end};

		ret = v->each(v, &v->rows->items[first + i], &c);
	}
	l->windows->free(w);
	return ret < 0 ? error_errno(err, ret, "cannot draw the timeline") : 0;
}

int lanes_visit_rows(const struct row_visit *v, struct error *err)
{
	/* rows of one query: a lane has up to 4 * width + 2 cells, see trace_window() */
	size_t most = BATCH_CELLS / (4 * (size_t)v->width + 2) + 1, count = v->rows->count;
	int ret = 0;

	for (size_t first = 0; first < count && !ret; first += most)
		ret = visit_row_batch(v, first, count - first < most ? count - first : most, err);
	return ret;
}
