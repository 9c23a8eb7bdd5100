// SPDX-License-Identifier: Apache-2.0
/*
 * Follows the JVMs that are known: reads their counters once a second, and the list of their
 * threads when it may have changed. Nothing here needs a probe.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/clock.h"
#include "capture/jvm_counters.h"
#include "capture/live.h"
#include "capture/runtime_events.h"
#include "capture/runtime_locks.h"
#include "capture/switches.h"
#include "symbolizers/hotspot_threads.h"

/*
 * Least time (ns) between two requests for a JVM's list of threads, and what each thread of the
 * last list adds: the worker reads a thread in some 20 µs, and may use 1 % of a CPU for that.
 */
#define THREADS_INTERVAL (NSEC_PER_SEC / 2)
#define THREADS_EACH (2 * NSEC_PER_MSEC)
/* Time (ns) for which the end of a recording waits for the last readings. */
#define LAST_READING (200 * NSEC_PER_MSEC)

/* Return whether the counters of JVMs are recorded. */
static bool wants_counters(const struct live *l)
{
	return l->probes.events && l->options.probes.parts & (PROBE_PART_GC | PROBE_PART_JVM);
}

static struct process_entry *process_of_memory(const struct live *l, const struct object *o)
{
	struct process_entry *p = process_table_of_pid(l->processes, o->mapped.pid);

	return p && p->code.java == o && !p->ended ? p : NULL;
}

/* Call each for the memory of every JVM that is followed, and forget those that have gone. */
static void for_each_jvm(struct live *l, void (*each)(struct live *l, struct object *o))
{
	size_t left = 0;

	for (size_t i = 0; i < l->walkers.jvms_followed.count; i++) {
		uint64_t id = l->walkers.jvms_followed.items[i];
		struct object *o = objects_by_id(l->objects, id);

		if (!o || !o->users)
			continue;
		l->walkers.jvms_followed.items[left++] = id;
		if (o->state == OBJECT_KNOWN)
			each(l, o);
	}
	l->walkers.jvms_followed.count = left;
}

void live_jvms_add(struct live *l, const struct object *o)
{
	/* Without memory for it, its counters and names are missing. */
	(void)vector_push(&l->walkers.jvms_followed, o->id);
}

static void request_counters(struct live *l, struct object *o)
{
	/* the comparison begins with the first reading, so that the probes must be there by then */
	if (wants_counters(l) && l->times.started && (o->java.counters || !l->probes.awaited))
		(void)symbolizer_request_jvm_counters(l->helpers.symbolizer, o->id);
}

/*
 * Request the list of threads if some may be new: threads of any process were born or have ended
 * since the last request.
 */
static void request_threads(struct live *l, struct object *o)
{
	uint64_t now = clock_boot_ns(), generation = process_table_generation(l->processes);

	if (now < o->java.threads.due || generation == o->java.threads.generation)
		return;
	o->java.threads.due = now + THREADS_INTERVAL;
	o->java.threads.generation = generation;
	(void)symbolizer_request_jvm_threads(l->helpers.symbolizer, o->id);
}

static void follow_jvm(struct live *l, struct object *o)
{
	request_threads(l, o);
	request_counters(l, o);
}

void live_jvms_known(struct live *l, struct object *o)
{
	follow_jvm(l, o);
}

/* Return whether the process of a pid in the initial namespace still has its slot. */
static bool has_runtime(void *context, uint32_t pid)
{
	const struct live *l = context;
	const struct process_entry *p = process_table_of_pid(
		l->processes, namespace_own(l->selection.namespace, pid, pid).pid);

	return p && !p->ended && (p->code.java || pythons_of(p->space).layout);
}

/* Without stacks, nobody else looks for JVMs. */
static int find_jvm(void *context, struct thread_entry *thread)
{
	struct live *l = context;
	struct process_entry *p =
		thread->tid == thread->pid ? process_table_of_pid(l->processes, thread->pid) : NULL;

	if (p && !p->ended && !p->code.java)
		(void)live_jvm_of(l, p);
	return 0;
}

void live_jvms_tick(struct live *l)
{
	if (!live_walks_stacks(l) && wants_counters(l))
		(void)process_table_each_thread(l->processes, find_jvm, l);
	for_each_jvm(l, follow_jvm);
	if (l->switches.array &&
	    !runtime_locks_sweep(switches_runtimes(l->switches.array), has_runtime, l))
		switches_use_runtimes(l->switches.array, false);
}

/* Where the quantities of a reading go. */
struct counter_target {
	struct live *l;
	struct process_entry *process;
	uint64_t time; /* ns */
};

static int put_quantity(void *context, const char *quantity, int64_t value)
{
	const struct counter_target *t = context;

	return runtime_events_count(t->l->probes.events, t->process, t->time,
				    &(struct runtime_quantity){quantity, value}, NULL);
}

/* Keep why the counters of a JVM cannot be read, for its info record. */
static void keep_reason(struct object *o, int status, const char *reason)
{
	char text[384];

	if (o->java.counters_refused)
		return;
	o->java.counters_refused = true;
	snprintf(text, sizeof(text), "%s; its counters are not read: %s",
		 o->java.described ? o->java.described : "HotSpot",
		 *reason ? reason : strerror(-status));
	free(o->java.described);
	o->java.described = strdup(text);
	o->java.reported = false;
}

/* Give the process an id, which nothing else recorded of it has needed yet. */
static int emit_process(struct live *l, const struct process_entry *p)
{
	const struct own_numbers main_thread = {.pid = p->pid, .tid = p->pid};
	struct resolved_task ignored;

	return process_table_resolve_thread(l->processes, main_thread, clock_boot_ns(), &ignored,
					    NULL);
}

int live_jvm_counters(struct live *l, uint64_t object, int status, const struct hotspot_perf *p,
		      const char *reason)
{
	struct object *o = objects_by_id(l->objects, object);
	struct counter_target target = {.l = l, .time = clock_boot_ns()};
	struct jvm_reading reading = {.perf = *p};

	if (!o || o->kind != MAPPING_JAVA)
		return 0;
	target.process = process_of_memory(l, o);
	if (!target.process || !wants_counters(l))
		return 0;
	if (status) {
		if (status != -EAGAIN)
			keep_reason(o, status, reason);
		return 0;
	}
	if (!target.process->id && emit_process(l, target.process))
		return 0;
	if (!o->java.counters)
		o->java.counters = calloc(1, sizeof(*o->java.counters));
	if (!o->java.counters)
		return -ENOMEM;
	reading.until = target.time;
	reading.time = p->time < target.time ? p->time : target.time;
	if (p->time < target.time && p->time + LAST_READING > target.time)
		target.time = p->time;
	return jvm_counters_take(o->java.counters, &reading, put_quantity, &target);
}

/* Name a thread of a JVM, if the process table knows it by the number that the JVM gives. */
static int name_thread(struct live *l, const struct process_entry *p,
		       const struct hotspot_thread *t)
{
	struct thread_entry *thread;

	/* the numbers of a process in a pid namespace of its own are not those of the table */
	if (!*t->name || (p->numbers.ns && p->numbers.ns != p->pid))
		return 0;
	thread = process_table_thread_of_tid(l->processes, t->tid);
	if (!thread || thread->pid != p->pid || thread->ended)
		return 0;
	return process_table_name_thread(l->processes, thread, t->name, NULL);
}

/* Have the scheduler's hooks class the waits of the threads of a part of a list. */
static void class_waits(struct live *l, const struct process_entry *p, const struct object *o,
			const struct jvm_thread_list *list)
{
	const struct java_thread_list of = {
		.pid = namespace_global(l->selection.namespace, p->pid),
		.number = o->java.threads.lists,
		.layout = list->layout,
	};

	if (!l->switches.array)
		return;
	/* without walkers, live_runtime_sent() is not called */
	if (!live_walks_stacks(l) &&
	    runtime_locks_set(switches_runtimes(l->switches.array), of.pid, NULL, true))
		switches_use_runtimes(l->switches.array, true);
	for (unsigned int i = 0; i < list->count; i++)
		runtime_locks_add_thread(switches_runtimes(l->switches.array), &of,
					 &list->threads[i]);
	if (list->last)
		runtime_locks_end_list(switches_runtimes(l->switches.array), &of);
}

void live_runtime_sent(struct live *l, uint32_t global, const struct unwind_process *p)
{
	const struct python_process *python = &p->python;
	const struct wire_range gil = {python->runtime, python->runtime + python->runtime_bytes};

	if (!l->switches.array || (!python->layout && !p->hotspot))
		return;
	if (runtime_locks_set(switches_runtimes(l->switches.array), global,
			      python->layout ? &gil : NULL, p->hotspot))
		switches_use_runtimes(l->switches.array, true);
}

int live_jvm_threads(struct live *l, uint64_t object, const struct jvm_thread_list *list)
{
	struct object *o = objects_by_id(l->objects, object);
	const struct process_entry *p;
	int ret = 0;

	if (!o || o->kind != MAPPING_JAVA || list->status)
		return 0;
	p = process_of_memory(l, o);
	if (!p)
		return 0;
	o->java.threads.due += list->count * THREADS_EACH;
	class_waits(l, p, o, list);
	o->java.threads.lists += list->last;
	for (unsigned int i = 0; !ret && i < list->count; i++)
		ret = name_thread(l, p, &list->threads[i]);
	return ret;
}

int live_jvms_last(struct live *l, struct error *err)
{
	uint64_t until = clock_boot_ns() + LAST_READING;
	int ret = 0;

	if (!wants_counters(l))
		return 0;
	for_each_jvm(l, request_counters);
	while (!ret && symbolizer_jvm_pending(l->helpers.symbolizer) && clock_boot_ns() < until)
		ret = live_await_helpers(l, err);
	return ret;
}

/*
 * Count what the JVM has counted, and what was not recorded. That of a JVM that has ended is
 * forgotten by then.
 */
static void compare_counters(struct live *l, struct object *o)
{
	const struct process_entry *p = process_of_memory(l, o);

	if (p && o->java.counters)
		ledger_count_lost(l->ledger, LOSS_NOT_SEEN,
				  jvm_counters_not_seen(o->java.counters, l->probes.events, p));
}

void live_jvms_compare(struct live *l)
{
	/* a JVM goes on counting while the recording pauses */
	if (wants_counters(l) && !l->times.pause.since && !l->times.pause.total)
		for_each_jvm(l, compare_counters);
}
