// SPDX-License-Identifier: Apache-2.0
/* Watch for triggers (trigger_watch.h). */
#include "serve/trigger_watch.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/states.h"
#include "serve/pause_lanes.h"
#include "serve/pressure.h"
#include "serve/service_watch.h"

struct trigger_watch {
	const trigger_list *triggers;
	struct trigger_events events;
	struct states *states; /* of threads; NULL: no trigger needs them */
	struct pressure *pressures; /* of the trigger with the same index */
	struct pause_lanes lanes;
	struct service_watch services;
	bool pauses; /* a trigger needs spans */
	bool uses; /* a trigger needs the CPU time of services */
};

static void meet_longer(const struct trigger_watch *w, enum trigger_kind kind, uint64_t length,
			uint64_t at)
{
	for (size_t i = 0; i < w->triggers->count; i++) {
		const struct trigger *t = &w->triggers->items[i];

		if (t->kind == kind && length > t->limit)
			w->events.met(w->events.context, t, NULL, at);
	}
}

/* A thread or CPU was in a state. A time that a loss or the begin has cut is not certain. */
static int watch_stretch(void *context, const struct stretch *s, struct error *err)
{
	(void)err;
	if (s->kind == LANE_THREAD && s->whole &&
	    (s->state == STATE_RUNNABLE || s->state == STATE_PREEMPTED))
		meet_longer(context, TRIGGER_RUNQUEUE, s->end - s->time, s->end);
	return 0;
}

static const char *resource_of_trigger(enum trigger_kind kind)
{
	return kind == TRIGGER_CPU_PRESSURE	 ? "cpu"
	       : kind == TRIGGER_IO_PRESSURE	 ? "io"
	       : kind == TRIGGER_MEMORY_PRESSURE ? "memory"
						 : NULL;
}

static int begin_watching(struct trigger_watch *w, size_t i, struct error *err)
{
	const struct states_events states = {watch_stretch, w};
	const struct trigger *t = &w->triggers->items[i];
	const char *resource = resource_of_trigger(t->kind);

	if (resource)
		return pressure_open(&w->pressures[i], resource, t->time, err);
	w->pauses |= t->kind == TRIGGER_PAUSE;
	w->uses |= t->kind == TRIGGER_SERVICE_CPU;
	return t->kind == TRIGGER_RUNQUEUE && !w->states ? states_new(&w->states, &states, err) : 0;
}

int trigger_watch_new(struct trigger_watch **out, const trigger_list *triggers,
		      const struct trigger_events *events, struct error *err)
{
	struct trigger_watch *w = calloc(1, sizeof(*w));
	int ret = 0;

	if (!w)
		return error_set(err, -ENOMEM, "out of memory");
	w->triggers = triggers;
	w->events = *events;
	w->pressures = calloc(triggers->count + 1, sizeof(*w->pressures));
	if (!w->pressures)
		ret = error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < triggers->count && !ret; i++)
		w->pressures[i].file = -1;
	for (size_t i = 0; i < triggers->count && !ret; i++)
		ret = begin_watching(w, i, err);
	if (ret)
		trigger_watch_free(w);
	else
		*out = w;
	return ret;
}

void trigger_watch_free(struct trigger_watch *w)
{
	if (!w)
		return;
	states_free(w->states);
	for (size_t i = 0; w->pressures && i < w->triggers->count; i++)
		pressure_close(&w->pressures[i]);
	free(w->pressures);
	pause_lanes_free(&w->lanes);
	service_watch_free(&w->services);
	free(w);
}

int trigger_watch_put(struct trigger_watch *w, enum record_kind kind, const void *record,
		      struct error *err)
{
	const struct span *s = record;
	int ret = 0;

	if (w->pauses && kind == KIND_LANE)
		ret = pause_lanes_note(&w->lanes, record, 0);
	if (w->pauses && kind == KIND_SPAN && pause_lanes_stop(&w->lanes, s))
		meet_longer(w, TRIGGER_PAUSE, s->end - s->time, s->end);
	if (w->uses && kind == KIND_GROUP_TIME)
		ret = service_watch_take(&w->services, record);
	if (ret)
		return error_errno(err, ret, "cannot watch for triggers");
	return w->states && (WANT(LANE) | WANT(THREAD) | WANT(SLICE) | WANT(EDGE)) >> kind & 1
		       ? states_put(w->states, kind, record, err)
		       : 0;
}

int trigger_watch_tick(struct trigger_watch *w, uint64_t time, struct error *err)
{
	int ret = w->uses ? service_watch_tick(&w->services, w->triggers, &w->events, time) : 0;

	return ret ? error_errno(err, ret, "cannot watch for triggers") : 0;
}

void trigger_watch_poll(struct trigger_watch *w, uint64_t now)
{
	for (size_t i = 0; i < w->triggers->count; i++) {
		const struct trigger *t = &w->triggers->items[i];

		if (pressure_read(&w->pressures[i], now, t->limit))
			w->events.met(w->events.context, t, NULL, now);
	}
}
