// SPDX-License-Identifier: Apache-2.0
/* Collect samples in memory and sort them when all are there. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups.h"
#include "export/gather.h"

int gather_begin(struct gather *g, const struct timeline *t, bool lines)
{
	return stacks_begin(&g->stacks, t->profile, lines);
}

void gather_free(struct gather *g)
{
	stacks_free(&g->stacks);
	vector_free(&g->samples);
	vector_free(&g->tracks);
	index_free(&g->track_of);
}

/*
 * Get the index of a thread's track, which is added if there is none. The key of the map has 32
 * bits for the tid; larger (invalid) tids are truncated.
 */
static int gather_track_number(struct gather *g, const struct profile *p, uint32_t thread,
			       uint32_t *out)
{
	struct gather_track fresh = {PROFILE_NONE, thread};
	uint64_t tid = 0;
	uint32_t at, known;

	if (thread != PROFILE_NONE) {
		fresh.process = p->threads[thread].process;
		tid = p->threads[thread].t.tid & UINT32_MAX;
	}
	at = index_get(&g->track_of, (uint64_t)fresh.process << 32 | tid);
	if (at == INDEX_NONE) {
		at = (uint32_t)g->tracks.count;
		if (vector_push(&g->tracks, fresh) < 0 ||
		    index_put(&g->track_of, (uint64_t)fresh.process << 32 | tid, at) < 0)
			return -ENOMEM;
	}
	/* A damaged trace may give one track to an unknown thread and to one without a process. */
	known = g->tracks.items[at].thread;
	if (thread != PROFILE_NONE &&
	    (known == PROFILE_NONE || p->threads[thread].t.id > p->threads[known].t.id))
		g->tracks.items[at].thread = thread;
	*out = at;
	return 0;
}

int gather_sample(struct gather *g, const struct timeline *t, const struct sample *s)
{
	struct gathered kept = {.time = s->time,
				.weight = s->weight,
				.event = index_get(&t->event_of, s->event),
				.order = (uint32_t)g->samples.count};
	uint32_t track = 0;
	int ret = gather_track_number(g, t->profile, index_get(&t->thread_of, s->thread), &track);

	kept.track = track & INT32_MAX;
	kept.waiting = event_is_of_waits(gather_event(t, &kept)->name);
	if (g->wall && g->samples.count)
		kept.event = g->samples.items[0].event;
	if (!ret)
		ret = stacks_node(&g->stacks, profile_stack_by_id(t->profile, s->stack),
				  &kept.node);
	return ret ? ret : vector_push(&g->samples, kept);
}

static int compare_uint64(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

static int compare_gather_rows(const struct gathered *x, const struct gathered *y)
{
	return x->event != y->event ? compare_uint64(x->event, y->event)
				    : compare_uint64(x->track, y->track);
}

static int by_row_and_time(const void *a, const void *b)
{
	const struct gathered *x = a, *y = b;
	int ret = compare_gather_rows(x, y);

	if (!ret)
		ret = compare_uint64(x->time, y->time);
	return ret ? ret : compare_uint64(x->order, y->order);
}

void gather_sort(struct gather *g)
{
	if (g->samples.count)
		qsort(g->samples.items, g->samples.count, sizeof(struct gathered), by_row_and_time);
}

size_t gather_row_end(const struct gather *g, size_t from)
{
	size_t to = from;

	while (to < g->samples.count &&
	       !compare_gather_rows(&g->samples.items[from], &g->samples.items[to]))
		to++;
	return to;
}

const struct event *gather_event(const struct timeline *t, const struct gathered *s)
{
	static const struct event lost = {.name = "[unknown]", .unit = ""};

	return s->event == INDEX_NONE ? &lost : &t->profile->events[s->event];
}

char *gather_track_name(const struct profile *p, const struct gather_track *t, char *buf)
{
	const struct process *of = t->process == PROFILE_NONE ? NULL : &p->processes[t->process].p;
	const struct thread *thread = t->thread == PROFILE_NONE ? NULL : &p->threads[t->thread].t;
	const struct host *host;
	size_t used;

	if (!of)
		return strcpy(buf, "[unknown]");
	host = profile_host_of(p, of);
	used = (size_t)snprintf(buf, TRACK_NAME_SIZE, "%.32s%s%.64s (%" PRIu64 ")",
				host ? host->hostname : "", host ? ": " : "", process_name(of),
				of->pid);
	if (thread &&
	    (thread->tid != of->pid || strcmp(thread_display_name(thread), process_name(of))))
		snprintf(buf + used, TRACK_NAME_SIZE - used, ": %.64s (%" PRIu64 ")",
			 *thread_display_name(thread) ? thread_display_name(thread) : "[unknown]",
			 thread->tid);
	return buf;
}
