// SPDX-License-Identifier: Apache-2.0
/* Follow the states of threads through records that are not passed on (open_slices.h). */
#include "analyze/open_slices.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/states.h"
#include "base/vector.h"

struct open_slices {
	struct states *states;
	VECTOR(uint64_t) cpus; /* lane.id */
	VECTOR(struct slice) slices;
	uint64_t time; /* time at which these slices begin, ns */
};

static int ignore_stretch(void *context, const struct stretch *s, struct error *err)
{
	(void)context;
	(void)s;
	(void)err;
	return 0;
}

int open_slices_new(struct open_slices **out, struct error *err)
{
	const struct states_events events = {.stretch = ignore_stretch};
	struct open_slices *o = calloc(1, sizeof(*o));

	if (!o || states_new(&o->states, &events, err) < 0) {
		free(o);
		return error_set(err, -ENOMEM, "out of memory");
	}
	*out = o;
	return 0;
}

void open_slices_free(struct open_slices *o)
{
	if (!o)
		return;
	states_free(o->states);
	vector_free(&o->cpus);
	vector_free(&o->slices);
	free(o);
}

int open_slices_put(struct open_slices *o, enum record_kind kind, const void *record,
		    struct error *err)
{
	const struct lane *lane = record;

	if (kind == KIND_LANE && lane->kind == LANE_CPU && vector_push(&o->cpus, lane->id) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return states_put(o->states, kind, record, err);
}

static bool is_cpu_lane(const struct open_slices *o, uint64_t lane)
{
	for (size_t i = 0; i < o->cpus.count; i++)
		if (o->cpus.items[i] == lane)
			return true;
	return false;
}

/*
 * Add an open slice for the lane of a thread. states_each() reports the stretches of a lane one
 * after the other. The last stretch with a state has the thread's last known state, so its slice
 * replaces the earlier ones. (If the thread is running, only a later slice will show this.)
 */
static int add_open_slice(void *context, const struct stretch *s)
{
	struct open_slices *o = context;
	struct slice slice = {.time = o->time, .lane = s->lane, .state = s->state, .wait = s->wait};

	if (s->state == STATE_NONE || is_cpu_lane(o, s->lane))
		return 0;
	if (o->slices.count && o->slices.items[o->slices.count - 1].lane == s->lane)
		o->slices.count--;
	return vector_push(&o->slices, slice);
}

const struct slice *open_slices_at(struct open_slices *o, uint64_t time, size_t *count)
{
	o->slices.count = 0;
	o->time = time;
	if (vector_reserve(&o->slices, 1) < 0 || states_each(o->states, add_open_slice, o) < 0)
		return NULL;
	*count = o->slices.count;
	return o->slices.items;
}

/* The states before the settled time are certain, so that a cut there changes none of them. */
int open_slices_drop_dead(struct open_slices *o, struct error *err)
{
	uint64_t settled = states_settled(o->states);

	return settled == UINT64_MAX ? 0 : states_cut(o->states, settled, err);
}
