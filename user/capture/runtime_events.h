/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns events of probes into spans and counters: what a runtime did, and when. Begins and ends are
 * paired here; nothing else in capture knows what a probe means.
 */
#ifndef SKEIN_CAPTURE_RUNTIME_EVENTS_H
#define SKEIN_CAPTURE_RUNTIME_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pipe.h"
#include "base/probes.h"
#include "capture/process.h"

/* One event of a probe, at its place in the order of all records. */
struct probe_event {
	uint64_t time; /* ns */
	const struct probe_row *row;
	struct process_entry *process; /* emitted, and selected */
	struct thread_entry *thread;
	uint64_t arguments[PROBE_ARGUMENTS_MAX]; /* sign-extended if the note says so */
	const char *texts[PROBE_TEXTS_MAX]; /* NUL-terminated and hostile; "" if there is none */
	uint64_t stack_pointer; /* of the thread */
	/* name of a probe of the user, such as "app:request"; NULL for rows of the table */
	const char *label;
	uint32_t lost; /* events that were lost before it, of all threads, modulo 2^32 */
	uint8_t argument_count; /* how many arguments the site has, at most those of the row */
};

struct runtime_events;

struct runtime_events_context {
	struct sink *sink;
	struct process_table *table;
	uint64_t host; /* host.id */
	uint64_t *last_lane, *last_name; /* last lane.id and name.id in use */
	uint64_t *last_loss;
};

int runtime_events_new(struct runtime_events **out, const struct runtime_events_context *c,
		       struct error *err);
void runtime_events_free(struct runtime_events *r);

/* Handle the event of a probe. Return 0 or a negative errno. */
int runtime_events_probe(struct runtime_events *r, const struct probe_event *e, struct error *err);

/* Something that a runtime counts, such as "heap used". */
struct runtime_quantity {
	const char *name;
	int64_t value;
};

/*
 * Record that a quantity of a process had a value at a time (ns), in the lane
 * of its runtime.
 */
int runtime_events_count(struct runtime_events *r, struct process_entry *p, uint64_t time,
			 const struct runtime_quantity *q, struct error *err);

/* Which spans of a process are to be counted. */
struct runtime_counted {
	unsigned int kinds; /* 1 << SPAN_COLLECTION, SPAN_PAUSE, SPAN_PHASE */
	const char *manager; /* the memory manager of collections; NULL: any */
	uint64_t from, until; /* ns: that begin or go on in this time */
};

/*
 * Return how many spans of HotSpot a recording has of what the JVM itself counts: collections and
 * phases that have begun from one time to another, and pauses that were not over before it.
 * UINT64_MAX: too many.
 */
uint64_t runtime_events_counted(const struct runtime_events *r, const struct process_entry *p,
				const struct runtime_counted *which);

/*
 * Return whether all threads of a process stand still for a collection now: in the order of
 * records, after those that were handled.
 */
bool runtime_events_is_collecting(const struct runtime_events *r, const struct process_entry *p);

/*
 * Note that this many events were lost so far, modulo 2^32. An event with a larger number than the
 * one before it comes after a loss: what began before is forgotten, since its end may be among the
 * lost ones, and is no other loss.
 */
void runtime_events_lost(struct runtime_events *r, uint32_t lost);
/* Emit names again before they are used again: the sink has got sink_forget(). */
void runtime_events_forget(struct runtime_events *r);
/*
 * Put what processes and threads that have ended left open, and report losses. Call this about once
 * a second, before the process table forgets what has ended. now: ns.
 */
int runtime_events_tick(struct runtime_events *r, uint64_t now, struct error *err);

/*
 * Put what is still open at the end of the recording, or of a process (p; NULL: of all), as spans
 * without an end: it did not end before time, ns.
 */
int runtime_events_end(struct runtime_events *r, const struct process_entry *p, uint64_t time,
		       struct error *err);

#endif
