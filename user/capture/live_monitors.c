// SPDX-License-Identifier: Apache-2.0
/*
 * Spans of threads of JVMs that sleep to enter a monitor, named by the class of the monitor's
 * object. When a thread slept, and who woke it, is in the slices and edges; the class is not.
 */
#include <errno.h>

#include "capture/live.h"

static int request_class(void *context, uint64_t jvm, uint64_t class)
{
	const struct live *l = context;
	const uint64_t symbol = class & ((1ULL << WIRE_CLASS_BITS) - 1);

	return symbolizer_lookup_java(l->helpers.symbolizer, jvm,
				      (uint64_t)WIRE_TAG_JAVA_CLASS << WIRE_TAG_SHIFT | symbol,
				      class >> WIRE_CLASS_BITS);
}

int live_monitors_begin(struct live *l, struct error *err)
{
	const struct monitor_classes_context c = {
		.sink = l->sink,
		.last_name = &l->probes.last_name,
		.request = request_class,
		.context = l,
	};

	l->switches.classes = monitor_classes_new(&c);
	return l->switches.classes ? 0 : error_errno(err, -ENOMEM, "classes of monitors");
}

/*
 * Get the name of the class of the monitor for which a thread sleeps. It is requested when the
 * thread goes to sleep, since the class may be unloaded later; and again for the span, since the
 * sink may have forgotten it meanwhile.
 */
static int name_of_class(struct live *l, const struct thread_entry *t, uint64_t *out,
			 struct error *err)
{
	const struct process_entry *p = process_table_of_pid(l->processes, t->pid);
	const struct object *jvm = p ? p->code.java : NULL;

	return monitor_classes_find(l->switches.classes, jvm ? jvm->id : 0,
				    jvm ? t->monitor.class : 0, out, err);
}

static int put_monitor_span(struct live *l, const struct thread_entry *t, uint64_t end,
			    struct error *err)
{
	struct span span = {
		.time = schedule_round_time(t->monitor.since),
		.end = schedule_round_time(end),
		.lane = t->lane,
		.kind = SPAN_MONITOR_WAIT,
		.origin = ORIGIN_MEMORY,
	};
	int ret = name_of_class(l, t, &span.name, err);

	return ret ? ret : put_span(l->sink, &span, err);
}

/* A thread goes to sleep to enter a monitor. */
static int begin_monitor_wait(struct live *l, const struct schedule_event *event, struct error *err)
{
	struct thread_entry *t = event->thread;
	uint64_t ignored;

	t->monitor = (struct thread_monitor){event->epoch, event->time, event->class};
	return name_of_class(l, t, &ignored, err);
}

/*
 * A thread that leaves a CPU while it seems to wait has run in between, which was not reported, and
 * the schedule has counted that. Where records were lost, nothing is known of the wait either.
 */
int live_monitors_event(struct live *l, const struct schedule_event *event, struct error *err)
{
	struct thread_entry *t = event->thread;
	int ret = 0;

	if (event->kind == THREAD_IS_WOKEN)
		return 0;
	if (event->kind == THREAD_RUNS && t->monitor.since && t->monitor.epoch == event->epoch)
		ret = put_monitor_span(l, t, event->time, err);
	t->monitor.since = 0;
	if (ret || event->kind != THREAD_LEAVES || event->lock != WIRE_LOCK_MONITOR)
		return ret;
	return begin_monitor_wait(l, event, err);
}

int live_monitors_class(struct live *l, uint64_t object, const struct java_places *p)
{
	const uint64_t symbol = p->address & ~WIRE_TAG_MASK;

	if (!l->switches.classes)
		return 0;
	return monitor_classes_reply(l->switches.classes, object, WIRE_CLASS(symbol, p->place),
				     p->count ? p->places[0].name : NULL, NULL);
}

static int put_open_monitor(void *context, struct thread_entry *t)
{
	struct live *l = context;

	if (!t->monitor.since || t->monitor.epoch != schedule_epoch(l->switches.schedule))
		return 0;
	return put_monitor_span(l, t, 0, NULL);
}

int live_monitors_end(struct live *l)
{
	return process_table_each_thread(l->processes, put_open_monitor, l);
}
