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
 * Return whether to keep a thread. A thread whose exit was lost has no end, so it is dropped when
 * its process has been.
 */
static bool keep_thread(void *context, struct entity_store_item *i)
{
	const struct sweep *s = context;
	const struct thread *t = entity_store_record(i);

	return i->used || (may_have_samples(s, t->end) &&
			   entity_store_find(&s->stores[KIND_PROCESS], t->process));
}

int entity_life_sweep(struct entity_store stores[static KIND_COUNT], uint32_t epoch, uint64_t now)
{
	static const enum record_kind forgotten[] = {KIND_STACK, KIND_FRAME, KIND_FUNCTION,
						     KIND_MAPPING};
	struct sweep s = {stores, epoch, now};
	int ret = entity_store_sweep(&stores[KIND_PROCESS], keep_process, &s);

	if (!ret)
		ret = entity_store_sweep(&stores[KIND_THREAD], keep_thread, &s);
	for (unsigned int i = 0; !ret && i < sizeof(forgotten) / sizeof(forgotten[0]); i++)
		ret = entity_store_sweep(&stores[forgotten[i]], keep_unforgotten, &s);
	return ret;
}
