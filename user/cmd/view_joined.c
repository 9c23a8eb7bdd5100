// SPDX-License-Identifier: Apache-2.0
/* Which of the threads that share a lane of the page a click on it is about. */
#include <errno.h>
#include <stdlib.h>

#include "cmd/view.h"
#include "lanes/join.h"

/* Return the row that a text names: the letter of a choice of lanes, and a number; else NULL. */
static const struct lane_row *row_of_text(const struct lanes *l, const char *text)
{
	for (unsigned int by = LANES_BY_THREAD + 1; by < LANES_BY_COUNT; by++) {
		const lane_rows_t *rows = lanes_rows_by(l, by);
		unsigned long long number;
		char *end;

		if (*text != lanes_by_letter(by) || text[1] < '0' || text[1] > '9')
			continue;
		number = strtoull(text + 1, &end, 10);
		if (!*end && number < rows->count)
			return &rows->items[number];
	}
	return NULL;
}

int view_read_lane(const struct view_server *v, const struct http_request *q, uint64_t *lane,
		   const struct lane_row **row)
{
	const char *text = http_request_text(q, "lane");

	*row = text ? row_of_text(&v->input.lanes, text) : NULL;
	if (!*row)
		return http_request_number(q, "lane", lane);
	*lane = (*row)->lane;
	return 0;
}

/* Return how much a cell says: a thread that ran more than one that could run, and so on. */
static unsigned int weight_of_cell(const struct cell *c)
{
	if (c->activity)
		return 256 + c->activity;
	if (c->state == STATE_RUNNABLE || c->state == STATE_PREEMPTED)
		return 2;
	return c->state != 0;
}

int view_choose_part(struct view_server *v, const struct lane_row *row, uint64_t time,
		     uint64_t *lane, struct error *err)
{
	uint64_t *ids = calloc(row->parts.count + 1, sizeof(*ids));
	struct window_query q = {time, time + 1, 1, ids, 0};
	struct window *w;
	unsigned int most = 0;
	int ret = 0;

	if (!ids)
		return error_errno(err, -ENOMEM, "cannot look for the thread");
	for (size_t i = 0; i < row->parts.count; i++)
		if (lanes_part_lives(&row->parts.items[i], time, time + 1))
			ids[q.lane_count++] = row->parts.items[i].lane;
	if (q.lane_count)
		ret = trace_window(v->input.input.trace, &q, &w, err);
	for (size_t i = 0; i < q.lane_count && !ret; i++) {
		unsigned int weight = weight_of_cell(&w->cells[i * w->width]);

		if (weight > most || !i)
			*lane = ids[i];
		most = weight > most ? weight : most;
	}
	if (q.lane_count && !ret)
		window_free(w);
	free(ids);
	return ret;
}
