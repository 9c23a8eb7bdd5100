// SPDX-License-Identifier: Apache-2.0
/* What the threads of a JVM do, on their own lanes, and their names. */
#include "capture/runtime_meanings.h"

#include <string.h>

/* The kinds of spans whose begin and end, or only the event itself, is reported by a thread. */
static const struct {
	enum probe_meaning begin, end; /* end PROBE_MEANS_NOTHING: an instant */
	enum span_kind kind;
	const char *name; /* if the probe has no text; NULL: the word of the kind */
} kinds_of_thread[] = {
	{PROBE_THREAD_START, PROBE_THREAD_STOP, SPAN_THREAD, NULL},
	{PROBE_COMPILE_BEGIN, PROBE_COMPILE_END, SPAN_COMPILATION, NULL},
	{PROBE_MONITOR_ENTER, PROBE_MONITOR_ENTERED, SPAN_MONITOR, NULL},
	{PROBE_CLASS_LOADED, PROBE_MEANS_NOTHING, SPAN_CLASS, NULL},
	{PROBE_EXCEPTION_MADE, PROBE_MEANS_NOTHING, SPAN_EXCEPTION, "exception made"},
	{PROBE_EXCEPTION_CAUGHT, PROBE_MEANS_NOTHING, SPAN_EXCEPTION, "exception caught"},
	{PROBE_DEOPTIMIZED, PROBE_MEANS_NOTHING, SPAN_DEOPTIMIZATION, NULL},
	{PROBE_ALLOCATED, PROBE_MEANS_NOTHING, SPAN_ALLOCATION, NULL},
};

#define KINDS_OF_THREAD (sizeof(kinds_of_thread) / sizeof(kinds_of_thread[0]))

/* Return the position in kinds_of_thread of a meaning; KINDS_OF_THREAD: none. */
static size_t kind_of_meaning(enum probe_meaning meaning)
{
	size_t i = 0;

	while (i < KINDS_OF_THREAD && kinds_of_thread[i].begin != meaning &&
	       kinds_of_thread[i].end != meaning)
		i++;
	return i;
}

/* Return "first.second" with '.' in place of '/', as Java writes names; NULL without a text. */
static char *java_name(const char *first, const char *second)
{
	char name[RUNTIME_NAME_BYTES];

	if (!first[0])
		return NULL;
	snprintf(name, sizeof(name), "%s%s%s", first, second[0] ? "." : "", second);
	for (char *c = name; *c; c++)
		*c = *c == '/' ? '.' : *c;
	return runtime_text(name);
}

static int begin_of_thread(struct runtime_events *r, struct track *t, const struct probe_event *e,
			   enum span_kind kind, struct error *err)
{
	struct open_span s = {.time = e->time, .kind = kind, .origin = runtime_origin(e)};
	size_t stale = track_find(r, t, kind, 0);

	if (stale)
		track_drop(r, t, kind == SPAN_THREAD ? 0 : stale - 1, e->time);
	s.name = kind == SPAN_THREAD ? runtime_text(e->texts[0])
				     : java_name(e->texts[0], e->texts[1]);
	return track_begin(r, t, &s, err);
}

static int end_of_thread(struct runtime_events *r, struct runtime_thread *th,
			 const struct probe_event *e, enum span_kind kind, struct error *err)
{
	size_t found = track_find(r, &th->track, kind, 0);

	if (found)
		return track_end(r, &th->track, found - 1, e->time, err);
	track_unpaired(r, &th->track, e, kind, th->old);
	return 0;
}

static int instant_of_thread(struct runtime_events *r, struct track *t, const struct probe_event *e,
			     size_t which, struct error *err)
{
	struct open_span s = {
		.time = e->time,
		.kind = kinds_of_thread[which].kind,
		.origin = runtime_origin(e),
		.name = java_name(e->texts[0], e->texts[1]),
	};
	int ret;

	if (!s.name)
		s.name = runtime_text(kinds_of_thread[which].name);
	ret = runtime_put_span(r, t->lane, &s, e->time, err);
	free(s.name);
	return ret;
}

bool runtime_is_of_thread(enum probe_meaning meaning)
{
	return meaning != PROBE_MEANS_NOTHING && kind_of_meaning(meaning) < KINDS_OF_THREAD;
}

int runtime_thread_probe(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	size_t which = kind_of_meaning(e->row->meaning);
	struct runtime_thread *th;
	int ret = 0;

	if (e->row->meaning == PROBE_THREAD_START)
		ret = process_table_name_thread(p->events->c.table, e->thread, e->texts[0], err);
	if (!ret)
		ret = runtime_thread_of(p, e, &th, err);
	if (ret)
		return ret;
	if (!th) {
		runtime_count_unpaired(p->events, e->time, e->time);
		return 0;
	}
	if (kinds_of_thread[which].end == PROBE_MEANS_NOTHING)
		return instant_of_thread(p->events, &th->track, e, which, err);
	return kinds_of_thread[which].begin == e->row->meaning
		       ? begin_of_thread(p->events, &th->track, e, kinds_of_thread[which].kind, err)
		       : end_of_thread(p->events, th, e, kinds_of_thread[which].kind, err);
}
