// SPDX-License-Identifier: Apache-2.0
/* How many threads wanted a CPU over time (wanted.h): sums of the exact states of all threads. */
#include "lanes/wanted.h"

#include <errno.h>
#include <stdlib.h>

#define STEP 1024 /* ns: a query of stretches begins at a multiple of it */
/* After so many stretches it is estimated how many there will be. */
#define FIRST_STRETCHES (WANTED_STRETCHES_MOST / 32)

/* Sums of times, ns, by column: of some columns a part, and of those between two all of them. */
struct wanted_sums {
	double *parts;
	double *whole; /* differences: threads that begin or end to want throughout columns */
};

struct wanted {
	const struct counter_range *range;
	struct wanted_sums wanting, unknown;
	size_t taken; /* stretches so far */
	uint64_t latest; /* their largest end, ns */
	bool stopped; /* there are too many */
};

/* Return where a column begins, in ns from the begin of the range. */
static uint64_t wanted_edge(const struct counter_range *r, uint64_t column)
{
	return lanes_column_edge(r, column) - r->time;
}

/* Return the column that has a time, in ns from the begin of the range. */
static uint64_t wanted_column(const struct counter_range *r, uint64_t time)
{
	uint64_t column = (uint64_t)((__uint128_t)time * r->count / (r->end - r->time));

	while (column + 1 < r->count && wanted_edge(r, column + 1) <= time)
		column++;
	return column;
}

/* Add a time, in ns from the begin of the range, to its columns. */
static void add_wanted(const struct counter_range *r, struct wanted_sums *to, uint64_t time,
		       uint64_t end)
{
	uint64_t first = wanted_column(r, time), last = wanted_column(r, end - 1);

	if (first == last) {
		to->parts[first] += (double)(end - time);
		return;
	}
	to->parts[first] += (double)(wanted_edge(r, first + 1) - time);
	to->parts[last] += (double)(end - wanted_edge(r, last));
	to->whole[first + 1]++;
	to->whole[last]--;
}

/* Return whether there are too many stretches, by how far into the range the first ones lead. */
static bool are_too_many(const struct wanted *w)
{
	double share = ((double)w->latest - (double)w->range->time) /
		       (double)(w->range->end - w->range->time);

	if (w->taken == FIRST_STRETCHES)
		return (double)w->taken > share * WANTED_STRETCHES_MOST;
	return w->taken > WANTED_STRETCHES_MOST;
}

static int take_wanted(void *context, size_t lane, const struct lane_stretch *s, struct error *err)
{
	struct wanted *w = context;
	const struct counter_range *r = w->range;
	uint64_t time = s->time > r->time ? s->time - r->time : 0;
	uint64_t end = s->end < r->end ? s->end : r->end;

	(void)lane;
	(void)err;
	w->taken++;
	if (s->end > w->latest)
		w->latest = s->end;
	if (are_too_many(w)) {
		w->stopped = true;
		return -ECANCELED;
	}
	end = end > r->time ? end - r->time : 0;
	if (time >= end)
		return 0;
	if (s->state == STATE_RUNNING || s->state == STATE_RUNNABLE || s->state == STATE_PREEMPTED)
		add_wanted(r, &w->wanting, time, end);
	else if (s->state == STATE_UNKNOWN)
		add_wanted(r, &w->unknown, time, end);
	return 0;
}

static int by_lane_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* List the lanes of all threads, each once; return their number. */
static size_t list_thread_lanes(const struct lanes *l, uint64_t *ids)
{
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < l->entities.threads.count; i++)
		if (l->entities.threads.items[i].lane)
			ids[count++] = l->entities.threads.items[i].lane;
	if (count)
		qsort(ids, count, sizeof(*ids), by_lane_id);
	for (size_t i = 0; i < count; i++)
		if (!kept || ids[i] != ids[kept - 1])
			ids[kept++] = ids[i];
	return kept;
}

static int read_wanted(const struct lanes *l, struct wanted *w, struct error *err)
{
	struct stretches_query q = {.time = w->range->time / STEP * STEP,
				    .end = w->range->end,
				    .take = take_wanted,
				    .context = w};
	uint64_t *ids = calloc(l->entities.threads.count + 1, sizeof(*ids));
	int ret = ids ? 0 : error_errno(err, -ENOMEM, "cannot draw the timeline");

	q.lanes = ids;
	if (!ret) {
		q.lane_count = list_thread_lanes(l, ids);
		ret = l->windows->stretches(l->windows->context, &q, err);
	}
	free(ids);
	return w->stopped ? 0 : ret;
}

static void make_wanted_columns(const struct wanted *w, struct counter_column *columns)
{
	const struct counter_column lost = {COUNTER_ABSENT, COUNTER_ABSENT, COUNTER_LOST, true};
	double wanting = 0, unknown = 0;

	for (unsigned int i = 0; i < w->range->count; i++) {
		double length = (double)(wanted_edge(w->range, i + 1) - wanted_edge(w->range, i));
		double mean, missing;

		wanting += w->wanting.whole[i];
		unknown += w->unknown.whole[i];
		mean = wanting + w->wanting.parts[i] / length;
		missing = unknown + w->unknown.parts[i] / length;
		columns[i] = w->stopped || missing > mean
				     ? lost
				     : (struct counter_column){mean, mean, mean, false};
	}
}

/* The same for a range of at least as many ns as columns. */
static int make_wanted(const struct lanes *l, const struct counter_range *r,
		       struct counter_column *columns, struct error *err)
{
	struct wanted w = {.range = r, .stopped = !l->windows->stretches};
	double *sums = calloc(4 * ((size_t)r->count + 1), sizeof(*sums));
	int ret = sums ? 0 : error_errno(err, -ENOMEM, "cannot draw the timeline");

	if (ret)
		return ret;
	w.wanting = (struct wanted_sums){sums, sums + r->count + 1};
	w.unknown = (struct wanted_sums){sums + 2 * (r->count + 1), sums + 3 * (r->count + 1)};
	if (!w.stopped)
		ret = read_wanted(l, &w, err);
	if (!ret)
		make_wanted_columns(&w, columns);
	free(sums);
	return ret;
}

int lanes_wanted_columns(const struct lanes *l, const struct counter_range *r,
			 struct counter_column *columns, struct error *err)
{
	const uint64_t length = r->end - r->time;
	const struct counter_range each = {r->time, r->end, (unsigned int)length};
	int ret;

	if (length >= r->count)
		return make_wanted(l, r, columns, err);
	/* More columns than ns: several show the same one. From the last on, so that none is lost.
	 */
	ret = make_wanted(l, &each, columns, err);
	for (unsigned int i = r->count; i-- > 0 && !ret;)
		columns[i] = columns[wanted_edge(r, i)];
	return ret;
}
