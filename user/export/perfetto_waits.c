// SPDX-License-Identifier: Apache-2.0
/*
 * Find the stack of each wait for Perfetto. Samples come before the scheduler's records, so those
 * of waits are kept, by thread and time. The stack of a wait was taken when its thread ran again:
 * so a wait is written only when that run, or the next wait, is known.
 */
#include <stdlib.h>
#include <string.h>

#include "export/perfetto.h"

#define ROUNDING 128 /* ns by which times of slices and samples may differ: both are rounded */

bool perfetto_event_is_of_waits(const struct perfetto *p, const struct perfetto_event *e)
{
	size_t index = (size_t)(e - p->events);

	return index < p->timeline.profile->count.events &&
	       !strcmp(p->timeline.profile->events[index].name, EVENT_OFF_CPU);
}

void perfetto_keep_wait(struct perfetto *p, const struct perfetto_event *e, const struct sample *s)
{
	const struct profile *profile = p->timeline.profile;
	uint32_t thread = index_get(&p->timeline.thread_of, s->thread);
	uint32_t lane = thread == INDEX_NONE
				? INDEX_NONE
				: index_get(&p->timeline.lane_of, profile->threads[thread].t.lane);
	struct perfetto_wait kept = {
		.sample = *s, .event = (uint32_t)(e - p->events), .lane = lane};

	if (lane != INDEX_NONE)
		perfetto_fail(p, vector_push(&p->waits, kept));
}

static int by_lane_and_time(const void *a, const void *b)
{
	const struct perfetto_wait *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return (x->sample.time > y->sample.time) - (x->sample.time < y->sample.time);
}

/* Sort the kept waits, and note the first one of each lane. */
static void sort_kept_waits(struct perfetto *p)
{
	p->waits_sorted = true;
	if (p->waits.count)
		qsort(p->waits.items, p->waits.count, sizeof(*p->waits.items), by_lane_and_time);
	for (size_t i = p->waits.count; i-- > 0;)
		p->lanes[p->waits.items[i].lane].next_wait = (uint32_t)i + 1;
}

/*
 * Return the kept wait of a lane whose stack was taken in a run; NULL if there is none. Those of
 * earlier runs are passed over.
 */
static const struct perfetto_wait *kept_wait_in(struct perfetto *p, size_t lane,
						const struct stretch *run)
{
	struct perfetto_lane *own = &p->lanes[lane];
	const struct perfetto_wait *w;

	if (!p->waits_sorted)
		sort_kept_waits(p);
	for (; own->next_wait && own->next_wait <= p->waits.count; own->next_wait++) {
		w = &p->waits.items[own->next_wait - 1];
		if (w->lane != lane)
			break;
		if (w->sample.time + ROUNDING < run->time)
			continue;
		if (w->sample.time > run->end + ROUNDING)
			return NULL;
		own->next_wait++;
		return w;
	}
	own->next_wait = 0;
	return NULL;
}

void perfetto_wait_ended(struct perfetto *p, struct timeline_lane *lane, const struct stretch *run)
{
	size_t at = (size_t)(lane - p->timeline.lanes.items);
	struct perfetto_lane *own = &p->lanes[at];
	struct stretch wait = own->waiting;
	const struct perfetto_wait *kept = run ? kept_wait_in(p, at, run) : NULL;

	own->waiting.wait = WAIT_NONE;
	if (!wait.wait)
		return;
	/* A wait that the requested range cuts is shorter than its sample says, never longer. */
	if (kept && wait.end - wait.time > kept->sample.length + ROUNDING)
		kept = NULL;
	perfetto_write_wait(p, lane, &wait, kept);
}

void perfetto_wait_began(struct perfetto *p, struct timeline_lane *lane, const struct stretch *s)
{
	perfetto_wait_ended(p, lane, NULL);
	p->lanes[lane - p->timeline.lanes.items].waiting = *s;
}

void perfetto_waits_end(struct perfetto *p)
{
	for (size_t i = 0; i < p->lane_count; i++)
		perfetto_wait_ended(p, &p->timeline.lanes.items[i], NULL);
}
