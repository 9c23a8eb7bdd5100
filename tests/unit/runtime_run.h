/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass events of probes to runtime_events.c, and keep what it puts: spans, counters, names and
 * lanes. Times are us. Spans are compared as text, one line each:
 *
 *	JVM 10-20 collection "Copy" {"pools":[...]}
 */
#ifndef SKEIN_TESTS_RUNTIME_RUN_H
#define SKEIN_TESTS_RUNTIME_RUN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/runtime_events.h"
#include "process_stubs.h"
#include "suite.h"

#define PID 100
#define VM 101 /* tid of the VM thread */
#define WORKER 102
#define BEGIN 1000000 /* ns: time 0 of the tests */
#define MOST 70000

/* What was put. */
static struct {
	struct sink sink;
	char *names[MOST];
	struct {
		uint64_t kind, parent, number;
		char name[64];
	} lanes[MOST];
	struct span spans[MOST];
	struct counter counters[64];
	char thread_names[256][256]; /* runtime_name by thread.id */
	size_t span_count, counter_count, threads_put;
	uint64_t lost, last_order;
	bool in_order;
} kept;

static struct {
	struct process_table *table;
	struct runtime_events *events;
	uint32_t lost; /* probe_event.lost of the events to come */
	uint64_t last_lane, last_name, last_loss;
	char text[8192];
	size_t shown; /* spans already shown */
} run;

static inline void keep_thread(const struct thread *t)
{
	kept.threads_put++;
	if (t->id < 256)
		snprintf(kept.thread_names[t->id], sizeof(kept.thread_names[0]), "%s",
			 t->runtime_name ? t->runtime_name : "");
}

static inline void keep_lane(const struct lane *l)
{
	ck_assert_uint_lt(l->id, MOST);
	kept.lanes[l->id].kind = l->kind;
	kept.lanes[l->id].parent = l->parent;
	kept.lanes[l->id].number = l->number;
	snprintf(kept.lanes[l->id].name, sizeof(kept.lanes[0].name), "%s", l->name ? l->name : "");
}

static inline int keep(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	const struct name *name = record;

	(void)s;
	(void)err;
	if (kind == KIND_SPAN) {
		const struct span *span = record;

		if (span->end) {
			kept.in_order &= span_order(span) >= kept.last_order;
			kept.last_order = span_order(span);
		}
		kept.spans[kept.span_count++ % MOST] = *span;
	} else if (kind == KIND_NAME && name->id < MOST) {
		free(kept.names[name->id]);
		kept.names[name->id] = strdup(name->text);
	} else if (kind == KIND_LANE) {
		keep_lane(record);
	} else if (kind == KIND_THREAD) {
		keep_thread(record);
	} else if (kind == KIND_COUNTER) {
		kept.counters[kept.counter_count++ % 64] = *(const struct counter *)record;
	} else if (kind == KIND_LOSS) {
		ck_assert_uint_eq(((const struct loss *)record)->reason, LOSS_UNPAIRED);
		kept.lost += ((const struct loss *)record)->count;
	}
	return 0;
}

static const struct sink_ops keep_ops = {.put = keep};

static inline void begin(void)
{
	const struct process_context table = {
		.sink = &kept.sink,
		.host = 1,
		.cgroup_path = no_text,
		.place = no_process_place,
	};
	struct runtime_events_context c = {
		.sink = &kept.sink,
		.host = 1,
		.last_lane = &run.last_lane,
		.last_name = &run.last_name,
		.last_loss = &run.last_loss,
	};

	memset(&kept, 0, sizeof(kept));
	memset(&run, 0, sizeof(run));
	kept.sink = (struct sink){&keep_ops, WANT_ALL};
	kept.in_order = true;
	ck_assert_int_eq(process_table_new(&run.table, &table, NULL), 0);
	c.table = run.table;
	ck_assert_int_eq(runtime_events_new(&run.events, &c, NULL), 0);
}

static inline void over(void)
{
	runtime_events_free(run.events);
	process_table_free(run.table);
	for (size_t i = 0; i < MOST; i++)
		free(kept.names[i]);
}

static inline struct resolved_task task_of(uint32_t pid, uint32_t tid, uint64_t ns)
{
	const struct sampled_task task = {.pid = pid, .tid = tid, .born = BEGIN, .time = ns};
	struct resolved_task of;

	ck_assert_int_eq(process_table_resolve(run.table, &task, &of, NULL), 0);
	return of;
}

static inline struct resolved_task task(uint32_t tid, uint64_t ns)
{
	return task_of(PID, tid, ns);
}

static inline uint64_t stamp(uint64_t us)
{
	return BEGIN + us * 1000;
}

/* Pass an event of a probe. */
static inline void probe(uint64_t us, uint32_t tid, struct probe_event e)
{
	const struct resolved_task of = task(tid, stamp(us));

	e.time = stamp(us);
	e.process = of.process;
	e.thread = of.thread;
	e.lost = run.lost;
	for (int i = 0; i < PROBE_TEXTS_MAX; i++)
		e.texts[i] = e.texts[i] ? e.texts[i] : "";
	e.argument_count = e.row->arguments;
	ck_assert_int_eq(runtime_events_probe(run.events, &e, NULL), 0);
}

/* Pass an event of HotSpot. */
static inline void hotspot(uint64_t us, uint32_t tid, enum probe_meaning meaning, const char *text)
{
	const struct probe_row row = {.origin = PROBE_NOTE, .name = "", .meaning = meaning};

	probe(us, tid, (struct probe_event){.row = &row, .texts = {text}});
}

static inline void vm(uint64_t us, enum probe_meaning meaning, const char *text)
{
	hotspot(us, VM, meaning, text);
}

static inline const char *text_of(uint64_t name)
{
	return name < MOST && kept.names[name] ? kept.names[name] : "";
}

static inline const char *lane_name(uint64_t lane)
{
	static char name[64];

	if (kept.lanes[lane].kind != LANE_THREAD)
		return kept.lanes[lane].name;
	snprintf(name, sizeof(name), "thread %u", (unsigned int)kept.lanes[lane].number);
	return name;
}

/* Return the spans that were put since the last call as text. */
static inline const char *spans(void)
{
	size_t used = 0;

	run.text[0] = '\0';
	for (; run.shown < kept.span_count; run.shown++) {
		const struct span *s = &kept.spans[run.shown];
		const char *args = text_of(s->args);

		used += (size_t)snprintf(run.text + used, sizeof(run.text) - used, "%s %d",
					 lane_name(s->lane), (int)((s->time - BEGIN) / 1000));
		if (s->end)
			used += (size_t)snprintf(run.text + used, sizeof(run.text) - used, "-%d",
						 (int)((s->end - BEGIN) / 1000));
		used += (size_t)snprintf(run.text + used, sizeof(run.text) - used,
					 " %s \"%s\"%s%s\n", span_kind_word(s->kind),
					 text_of(s->name), args[0] ? " " : "", args);
	}
	return run.text;
}

static inline void end(uint64_t us)
{
	ck_assert_int_eq(runtime_events_end(run.events, NULL, stamp(us), NULL), 0);
	ck_assert(kept.in_order);
}

#endif
