// SPDX-License-Identifier: Apache-2.0
/* Find the process and thread to which a lane belongs (lane_owners.h). */
#include <errno.h>

#include "analyze/lane_owners.h"

#define DEPTH_MAX 8 /* lanes between a lane and its process; a damaged file may have a circle */

static int put_owned_lane(struct lane_owners *o, const struct lane *l)
{
	struct lane kept = *l;

	kept.name = NULL;
	if (index_get(&o->lanes, l->id) != INDEX_NONE)
		return 0;
	if (vector_push(&o->list, kept) < 0)
		return -ENOMEM;
	return index_put(&o->lanes, l->id, (uint32_t)o->list.count - 1);
}

static int put_thread_of_lane(struct lane_owners *o, const struct thread *t)
{
	struct lane_owner owner = {LANE_THREAD, t->process, t->id};
	uint32_t at = index_get(&o->threads, t->lane);

	if (!t->lane)
		return 0;
	if (at != INDEX_NONE) {
		o->of_threads.items[at] = owner;
		return 0;
	}
	if (vector_push(&o->of_threads, owner) < 0)
		return -ENOMEM;
	return index_put(&o->threads, t->lane, (uint32_t)o->of_threads.count - 1);
}

int lane_owners_put(struct lane_owners *o, enum record_kind kind, const void *record)
{
	if (kind == KIND_LANE)
		return put_owned_lane(o, record);
	return kind == KIND_THREAD ? put_thread_of_lane(o, record) : 0;
}

struct lane_owner lane_owners_find(const struct lane_owners *o, uint64_t lane)
{
	uint32_t at = index_get(&o->threads, lane);
	struct lane_owner owner = {0};

	if (at != INDEX_NONE)
		return o->of_threads.items[at];
	for (int depth = 0; depth < DEPTH_MAX && lane; depth++) {
		const struct lane *l;

		at = index_get(&o->lanes, lane);
		if (at == INDEX_NONE)
			break;
		l = &o->list.items[at];
		owner.kind = owner.kind ? owner.kind : l->kind;
		if (l->kind == LANE_PROCESS) {
			owner.process = l->number;
			break;
		}
		lane = l->parent;
	}
	return owner;
}

void lane_owners_free(struct lane_owners *o)
{
	index_free(&o->lanes);
	index_free(&o->threads);
	vector_free(&o->list);
	vector_free(&o->of_threads);
}
