// SPDX-License-Identifier: Apache-2.0
/* Drop entities to which no later record can refer (entity_life.h). */
#include "analyze/entity_life.h"

#define NSEC_PER_SEC 1000000000ULL
/* Samples of a thread may come up to this many ns after the thread has ended. */
#define GRACE (10 * NSEC_PER_SEC)

struct sweep {
	struct entity_store *stores; /* by kind */
	uint32_t epoch;
	uint64_t now; /* ns */
};

static bool keep_unforgotten(void *context, struct entity_store_item *i)
{
	const struct sweep *s = context;

	return i->used || i->epoch == s->epoch;
}

static bool may_have_samples(const struct sweep *s, uint64_t ended)
{
	return !ended || ended + GRACE > s->now;
}

static bool keep_process(void *context, struct entity_store_item *i)
{
	const struct process *p = entity_store_record(i);

	return i->used || may_have_samples(context, p->end);
}

/*
 * Return whether a thread lives. A thread whose exit was lost has no end, so it is dropped when
 * its process has been.
 */
static bool thread_may_have_samples(const struct sweep *s, const struct thread *t)
{
	return may_have_samples(s, t->end) &&
	       entity_store_find(&s->stores[KIND_PROCESS], t->process);
}

/* The first name of a thread, to which its lane refers, is kept as long as the lane. */
static bool keep_thread(void *context, struct entity_store_item *i)
{
	const struct sweep *s = context;
	const struct thread *t = entity_store_record(i);
	struct entity_store_item *lane = entity_store_find(&s->stores[KIND_LANE], t->lane);

	if (i->used || thread_may_have_samples(s, t))
		return true;
	return lane && lane->used && ((struct lane *)entity_store_record(lane))->number == t->id;
}

/* Mark the lanes of threads that live under any name. */
static void mark_lanes_of_threads(const struct sweep *s)
{
	const struct entity_store *threads = &s->stores[KIND_THREAD];

	for (size_t i = 0; i < threads->count; i++) {
		const struct thread *t = entity_store_record(entity_store_at(threads, i));
		struct entity_store_item *lane = entity_store_find(&s->stores[KIND_LANE], t->lane);

		if (lane && thread_may_have_samples(s, t))
			lane->used = true;
	}
}

/* The lanes above a lane have lower ids, and so come before it. */
static bool keep_lane(void *context, struct entity_store_item *i)
{
	const struct sweep *s = context;
	const struct lane *l = entity_store_record(i);
	bool used = i->used;

	i->used = false;
	if (l->kind == LANE_THREAD)
		return used;
	if (l->kind == LANE_PROCESS)
		return entity_store_find(&s->stores[KIND_PROCESS], l->number);
	return !l->parent || entity_store_find(&s->stores[KIND_LANE], l->parent);
}

int entity_life_sweep(struct entity_store stores[static KIND_COUNT], uint32_t epoch, uint64_t now)
{
	static const enum record_kind forgotten[] = {KIND_STACK, KIND_FRAME, KIND_FUNCTION,
						     KIND_MAPPING, KIND_NAME};
	struct sweep s = {stores, epoch, now};
	int ret = entity_store_sweep(&stores[KIND_PROCESS], keep_process, &s);

	if (!ret) {
		mark_lanes_of_threads(&s);
		ret = entity_store_sweep(&stores[KIND_THREAD], keep_thread, &s);
	}
	if (!ret)
		ret = entity_store_sweep(&stores[KIND_LANE], keep_lane, &s);
	for (unsigned int i = 0; !ret && i < sizeof(forgotten) / sizeof(forgotten[0]); i++)
		ret = entity_store_sweep(&stores[forgotten[i]], keep_unforgotten, &s);
	return ret;
}
