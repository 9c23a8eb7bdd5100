// SPDX-License-Identifier: Apache-2.0
/* Divide the records of lanes among windows (window_lanes.h). */
#include "serve/window_lanes.h"

#include <errno.h>

/*
 * Stamps of slices are multiples of this (ns). So are the ends of windows, so that a part of a
 * slice takes no more room than a whole one.
 */
#define SLICE_RESOLUTION 64ULL

int window_lanes_begin(struct window_lanes *l, struct error *err)
{
	return open_slices_new(&l->opens, err);
}

void window_lanes_free(struct window_lanes *l)
{
	open_slices_free(l->opens);
	*l = (struct window_lanes){.opens = NULL};
}

static void note_lane_time(struct window_lanes *l, uint64_t time)
{
	if (time > l->last)
		l->last = time;
}

int window_lanes_take(struct window_lanes *l, enum record_kind kind, const void *record,
		      struct error *err)
{
	const union merge_record *r = record;

	if (!l->opens)
		return 0;
	if (kind == KIND_SLICE) {
		note_lane_time(l, r->slice.time);
		note_lane_time(l, r->slice.end);
	} else if (kind == KIND_EDGE) {
		note_lane_time(l, r->edge.time);
	} else if (kind != KIND_LANE && kind != KIND_THREAD) {
		return 0;
	}
	return open_slices_put(l->opens, kind, record, err);
}

uint64_t window_lanes_border(const struct window_lanes *l, uint64_t end, uint64_t sampled)
{
	if (!l->opens)
		return end;
	end = sampled > l->last ? sampled : l->last;
	return (end + SLICE_RESOLUTION - 1) / SLICE_RESOLUTION * SLICE_RESOLUTION;
}

static int put_living_threads(struct window_trace *t, const struct entity_store *stores,
			      struct error *err)
{
	const struct entity_store *threads = &stores[KIND_THREAD];
	int ret = 0;

	for (size_t i = 0; i < threads->count && !ret; i++) {
		const struct thread *one = entity_store_record(entity_store_at(threads, i));

		if (one->lane && !one->end)
			ret = window_trace_need(t, stores, KIND_THREAD, one->id, err);
	}
	return ret;
}

int window_lanes_put_states(struct window_lanes *l, struct window_trace *t,
			    const struct entity_store *stores, int *failed, struct error *err)
{
	const struct slice *opens;
	size_t count = 0;
	int ret;

	*failed = 0;
	if (!l->opens)
		return 0;
	ret = open_slices_drop_dead(l->opens, err);
	opens = ret ? NULL : open_slices_at(l->opens, t->begin, &count);
	if (!opens)
		return ret ? ret : error_set(err, -ENOMEM, "out of memory");
	if (t->writer)
		*failed = put_living_threads(t, stores, err);
	/* A thread that has ended without a record has a state, but is not alive. */
	for (size_t i = 0; i < count && t->writer && !*failed; i++)
		if (window_trace_has(t, KIND_LANE, opens[i].lane))
			*failed = window_trace_put(t, stores, KIND_SLICE, &opens[i], err);
	return 0;
}

void window_lanes_take_unwritten(struct window_lanes *l, const struct window_trace *t)
{
	for (int kind = 0; kind < KIND_COUNT; kind++)
		if (LANE_RECORDS >> kind & 1)
			l->unwritten[kind] += sink_unstored(t->writer, (enum record_kind)kind, 0);
}

/*
 * Cut a state that was seen at a time. Before that time nothing is known of the thread, from the
 * time in the value on; so a window that ends in between ends in an unknown state.
 */
static bool cut_seen_state(struct slice *s, uint64_t begin, uint64_t end)
{
	if (s->time >= end) {
		if (!s->value || s->value >= end)
			return false;
		s->time = end;
		s->state = STATE_UNKNOWN;
		s->wait = WAIT_NONE;
	}
	if (s->value && s->value < begin)
		s->value = begin;
	return s->time >= begin;
}

static bool cut_slice(struct slice *s, uint64_t begin, uint64_t end)
{
	if (!s->end)
		return cut_seen_state(s, begin, end);
	if (s->time < begin)
		s->time = begin;
	if (s->end > end) {
		s->end = end;
		/* the thread runs on in the next window */
		s->left = s->state == STATE_RUNNING && s->value ? STATE_RUNNING : STATE_NONE;
		s->wait = WAIT_NONE;
	}
	return s->time < s->end;
}

bool window_lanes_cut(enum record_kind kind, union merge_record *r, uint64_t begin, uint64_t end)
{
	uint64_t time;

	if (kind == KIND_SLICE)
		return cut_slice(&r->slice, begin, end);
	time = kind == KIND_SPAN   ? span_order(&r->span)
	       : kind == KIND_EDGE ? r->edge.time
				   : r->counter.time;
	return time >= begin && time < end;
}
