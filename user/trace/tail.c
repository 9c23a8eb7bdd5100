// SPDX-License-Identifier: Apache-2.0
/* The states of threads, followed through what is going to be deleted. */
#include "trace/tail.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/states.h"
#include "base/vector.h"
#include "trace/timeline.h"

struct tail {
	struct states *states;
	VECTOR(uint64_t) cpus; /* lane.id */
	VECTOR(struct slice) open;
	uint64_t time; /* of those */
};

static int ignore_stretch(void *context, const struct stretch *s, struct error *err)
{
	(void)context;
	(void)s;
	(void)err;
	return 0;
}

int tail_new(struct tail **ret, struct error *err)
{
	const struct states_events events = {.stretch = ignore_stretch};
	struct tail *t = calloc(1, sizeof(*t));

	if (!t || states_new(&t->states, &events, err) < 0) {
		free(t);
		return error_set(err, -ENOMEM, "out of memory");
	}
	*ret = t;
	return 0;
}

void tail_free(struct tail *t)
{
	if (!t)
		return;
	states_free(t->states);
	vector_free(&t->cpus);
	vector_free(&t->open);
	free(t);
}

int tail_put(struct tail *t, enum record_kind kind, const void *record, struct error *err)
{
	const struct lane *lane = record;

	if (kind == KIND_LANE && lane->kind == LANE_CPU && vector_push(&t->cpus, lane->id) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return states_put(t->states, kind, record, err);
}

int tail_pass(struct tail *t, struct trace *db, uint64_t after, uint64_t until, struct error *err)
{
	const struct timeline_query q = {
		.to = UINT64_MAX,
		.after = after,
		.until = until,
		.kinds = WANT(SLICE) | WANT(EDGE),
	};
	struct timeline *l = NULL;
	enum record_kind kind;
	const void *record;
	int result = timeline_open(&l, db, &q, err);

	while (result == 0 && (result = timeline_next(l, &kind, &record, err)) > 0)
		result = states_put(t->states, kind, record, err);
	timeline_close(l);
	return result;
}

static bool is_cpu(const struct tail *t, uint64_t lane)
{
	for (size_t i = 0; i < t->cpus.count; i++)
		if (t->cpus.items[i] == lane)
			return true;
	return false;
}

/*
 * A lane's stretches come one after the other. The last tells what it was in, if it is not running
 * by then: that, the slice tells when it ends.
 */
static int add_open(void *context, const struct stretch *s)
{
	struct tail *t = context;
	struct slice slice = {.time = t->time, .lane = s->lane, .state = s->state, .wait = s->wait};

	if (s->state == STATE_NONE || is_cpu(t, s->lane))
		return 0;
	if (t->open.count && t->open.items[t->open.count - 1].lane == s->lane)
		t->open.count--;
	return vector_push(&t->open, slice);
}

const struct slice *tail_open(struct tail *t, uint64_t time, size_t *count)
{
	t->open.count = 0;
	t->time = time;
	if (vector_reserve(&t->open, 1) < 0 || states_each(t->states, add_open, t) < 0)
		return NULL;
	*count = t->open.count;
	return t->open.items;
}
