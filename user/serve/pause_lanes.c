// SPDX-License-Identifier: Apache-2.0
/* What a pause is (pause_lanes.h). */
#include "serve/pause_lanes.h"

#include <errno.h>

#define PROCESS_MASK ((1ULL << (CACHE_VALUE_BITS - 1)) - 1)

int pause_lanes_note(struct pause_lanes *p, const struct lane *l, uint64_t process)
{
	if (!p->known)
		p->known = cache_new(PAUSE_LANES);
	if (!p->known)
		return -ENOMEM;
	cache_put(p->known, cache_hash(&l->id, sizeof(l->id)),
		  (process & PROCESS_MASK) << 1 | (l->kind == LANE_RUNTIME));
	return 0;
}

static bool find_pause_lane(const struct pause_lanes *p, uint64_t lane, uint64_t *out)
{
	return p->known && cache_get(p->known, cache_hash(&lane, sizeof(lane)), out);
}

uint64_t pause_lanes_process(const struct pause_lanes *p, uint64_t lane)
{
	uint64_t value;

	return find_pause_lane(p, lane, &value) ? value >> 1 : 0;
}

bool pause_lanes_stop(const struct pause_lanes *p, const struct span *s)
{
	uint64_t value;

	if (s->end <= s->time)
		return false;
	if (s->kind == SPAN_PAUSE || s->kind == SPAN_SAFEPOINT || s->kind == SPAN_GC_STOP)
		return true;
	return s->kind == SPAN_COLLECTION && find_pause_lane(p, s->lane, &value) && !(value & 1);
}

void pause_lanes_free(struct pause_lanes *p)
{
	cache_free(p->known);
	p->known = NULL;
}
