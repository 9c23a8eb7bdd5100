// SPDX-License-Identifier: Apache-2.0
/* Collections of CPython, on the lane of the thread that collects. */
#include "capture/runtime_meanings.h"

#include <stdio.h>

#define GENERATION_UNKNOWN INT64_MIN
/* From 3.13 on, the function itself chooses the generation of an automatic collection. */
#define GENERATION_CHOSEN (-1)

/* Return an argument if it can be a generation: 0 to 2, or -1 if the interpreter chooses one. */
static int64_t generation_in(const struct probe_event *e, unsigned int argument)
{
	uint64_t word = argument < e->argument_count ? e->arguments[argument] : INT64_MAX;

	if (word == UINT64_MAX || word == UINT32_MAX)
		return GENERATION_CHOSEN;
	return word <= 2 ? (int64_t)word : GENERATION_UNKNOWN;
}

/*
 * Return the generation. It is the only argument of the note. Of the functions it is the second
 * one, after the thread's state, but the first one up to 3.8, and where GCC has removed the state
 * from a clone; a pointer is never in its range.
 */
static int64_t generation_of(const struct probe_event *e)
{
	int64_t first = generation_in(e, 0);

	return first != GENERATION_UNKNOWN || e->row->origin == PROBE_NOTE ? first
									   : generation_in(e, 1);
}

static int begin_python(struct runtime_events *r, struct track *t, const struct probe_event *e,
			struct error *err)
{
	int64_t generation = generation_of(e);
	struct open_span s = {.time = e->time,
			      .stack_pointer = e->stack_pointer,
			      .kind = SPAN_COLLECTION,
			      .origin = runtime_origin(e)};
	size_t stale = track_find(r, t, SPAN_COLLECTION, 0);
	char name[64];

	/* A build may have the notes inside of the function; a collection counts once. */
	if (stale && t->open.items[stale - 1].origin != s.origin)
		return 0;
	/* A collection never begins inside of another one: the end was not reported. */
	if (stale)
		track_drop(r, t, stale - 1, e->time);
	if (generation < 0)
		snprintf(name, sizeof(name),
			 generation == GENERATION_CHOSEN ? "collection, automatic" : "collection");
	else
		snprintf(name, sizeof(name), "collection, generation %d", (int)generation);
	s.name = runtime_text(name);
	s.number = generation;
	return track_begin(r, t, &s, err);
}

static int end_python(struct runtime_events *r, struct runtime_thread *th,
		      const struct probe_event *e, struct error *err)
{
	struct track *t = &th->track;
	size_t found = track_find(r, t, SPAN_COLLECTION, 0);
	struct open_span *s;
	struct json *j;

	if (!found) {
		track_unpaired(r, t, e, SPAN_COLLECTION, th->old);
		return 0;
	}
	s = &t->open.items[found - 1];
	if (s->origin != runtime_origin(e))
		return 0;
	j = runtime_args_begin(r);
	if (s->number >= 0)
		json_key_int(j, "generation", s->number);
	if (e->argument_count && (int64_t)e->arguments[0] >= 0)
		json_key_int(j, "collected", (int64_t)e->arguments[0]);
	s->args = runtime_args_end(r);
	return track_end(r, t, found - 1, e->time, err);
}

int runtime_python_probe(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	struct runtime_thread *th;
	int ret = runtime_thread_of(p, e, &th, err);

	if (ret)
		return ret;
	if (!th) {
		runtime_count_unpaired(p->events, e->time, e->time);
		return 0;
	}
	return e->row->meaning == PROBE_PYTHON_COLLECTION_BEGIN
		       ? begin_python(p->events, &th->track, e, err)
		       : end_python(p->events, th, e, err);
}
