// SPDX-License-Identifier: Apache-2.0
/* Decide which slices and edges pass a filter (filter_lanes.h). */
#include "analyze/filter_lanes.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/index.h"
#include "analyze/open_slices.h"

struct filter_lanes {
	struct sink *sink;
	uint64_t from, to; /* ns since the start until a host has come, then stamps */
	struct index selected; /* lane.id of selected threads */
	/* states of threads before the range; NULL: the range begins at the start of the trace */
	struct open_slices *opens;
	bool begun; /* the range has begun */
	bool started; /* the record of a host with a start time has come */
};

int filter_lanes_new(struct filter_lanes **out, struct sink *sink, uint64_t from, uint64_t to,
		     struct error *err)
{
	struct filter_lanes *l = calloc(1, sizeof(*l));

	if (!l || (from && open_slices_new(&l->opens, err) < 0)) {
		free(l);
		return error_set(err, -ENOMEM, "out of memory");
	}
	l->sink = sink;
	l->from = from;
	l->to = to;
	l->begun = !from;
	*out = l;
	return 0;
}

void filter_lanes_free(struct filter_lanes *l)
{
	if (!l)
		return;
	index_free(&l->selected);
	open_slices_free(l->opens);
	free(l);
}

static void start_lanes_range(struct filter_lanes *l, const struct host *h)
{
	if (l->started)
		return;
	l->started = true;
	l->from = l->from ? l->from + h->start : 0;
	l->to = l->to < UINT64_MAX - h->start ? l->to + h->start : UINT64_MAX;
}

int filter_lanes_entity(struct filter_lanes *l, enum record_kind kind, const void *record,
			bool holds, struct error *err)
{
	const struct thread *t = record;

	if (kind == KIND_HOST)
		start_lanes_range(l, record);
	if (kind == KIND_THREAD && t->lane && holds && index_put(&l->selected, t->lane, 1) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	if (l->opens && (kind == KIND_THREAD || kind == KIND_LANE))
		return open_slices_put(l->opens, kind, record, err);
	return 0;
}

static bool is_selected_lane(const struct filter_lanes *l, uint64_t lane)
{
	return index_get(&l->selected, lane) != INDEX_NONE;
}

/*
 * Pass a slice that touches the range. A slice without an end is on a thread lane and passes only
 * if the thread is selected. A slice with an end is on a lane of a CPU or actor and always passes,
 * without its values if another thread ran.
 */
static int pass_slice(struct filter_lanes *l, const struct slice *s, bool holds, struct error *err)
{
	struct slice shown = *s;

	if (!s->end && !is_selected_lane(l, s->lane))
		return 0;
	if (s->time > l->to || (s->end && s->end < l->from))
		return 0;
	if (s->end && s->state == STATE_RUNNING && !holds)
		shown.value = shown.left = shown.wait = 0;
	return sink_put(l->sink, KIND_SLICE, &shown, err);
}

static int pass_edge(struct filter_lanes *l, const struct edge *e, bool holds, struct error *err)
{
	bool wanted = e->kind == EDGE_MIGRATION ? holds : is_selected_lane(l, e->to);
	uint64_t end = e->end > e->time ? e->end : e->time;

	return wanted && e->time <= l->to && end >= l->from ? put_edge(l->sink, e, err) : 0;
}

int filter_lanes_end(struct filter_lanes *l, struct error *err)
{
	const struct slice *opens;
	size_t count = 0;
	int ret = 0;

	if (l->begun)
		return 0;
	l->begun = true;
	opens = open_slices_at(l->opens, l->from, &count);
	if (!opens)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count && !ret; i++)
		ret = pass_slice(l, &opens[i], true, err);
	return ret;
}

int filter_lanes_put(struct filter_lanes *l, enum record_kind kind, const void *record, bool holds,
		     struct error *err)
{
	const struct edge *e = record;
	uint64_t order = kind == KIND_SLICE ? slice_order(record) : e->time;
	int ret;

	if (!l->begun && order < l->from) {
		ret = open_slices_put(l->opens, kind, record, err);
		/*
		 * An UNKNOWN slice for lost records comes in the order of its start, so it may
		 * reach into the range.
		 */
		return ret < 0 || kind == KIND_EDGE || !((const struct slice *)record)->end
			       ? ret
			       : pass_slice(l, record, holds, err);
	}
	ret = filter_lanes_end(l, err);
	if (ret < 0)
		return ret;
	return kind == KIND_SLICE ? pass_slice(l, record, holds, err)
				  : pass_edge(l, record, holds, err);
}
