/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the kernel side's records of switches and wake-ups to slices and edges:
 * one order out of the arrays of all CPUs, in step with the life of processes.
 */
#ifndef SKEIN_CAPTURE_SCHEDULE_H
#define SKEIN_CAPTURE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pipe.h"
#include "capture/process.h"
#include "capture/switches.h"

/*
 * Stamps of slices and edges are rounded down to multiples of this, ns: less than the hook takes in
 * which they are taken (86 ns, docs/design.md). Files are half as long.
 */
#define SCHEDULE_RESOLUTION 64

struct schedule;

struct schedule_context {
	struct switches *switches;
	struct process_table *table;
	struct sink *sink;
	uint64_t host; /* host.id */
	uint64_t *last_lane, *last_loss; /* lane.id and loss.id given last, by whomever */
	/* all that is older than time (ns) of other rings is to be handled now */
	int (*before)(void *context, uint64_t time, struct error *err);
	/* time of the oldest record that before() would handle, ns; UINT64_MAX: none */
	uint64_t (*next)(void *context);
	/* whether the thread was asked for; NULL: all are */
	bool (*wanted)(void *context, const struct process_entry *p, const struct thread_entry *t);
	/* nobody knows the thread of that number: a scan must tell */
	void (*unknown)(void *context, uint32_t tid);
	void *context;
};

int schedule_new(struct schedule **ret, const struct schedule_context *c, struct error *err);
void schedule_free(struct schedule *s);

/* A CPU is recorded from time on (ns); one that is not online, as soon as it is. */
int schedule_cpu_begins(struct schedule *s, unsigned int cpu, uint64_t time, bool online,
			struct error *err);
/* It is offline, as is noticed at that time: from its last record before to its next one. */
void schedule_cpu_gone(struct schedule *s, unsigned int cpu, uint64_t time);

/* Copy what has come, a bounded batch of each CPU. 0 or -ENOMEM. */
int schedule_take(struct schedule *s);
/* What is older than this (ns) has been copied, as far as can be told. */
uint64_t schedule_mark(const struct schedule *s);
/* Whether one batch was not enough. */
bool schedule_has_more(const struct schedule *s);
/* Put what is not younger than mark (ns), calling before() in between. */
int schedule_release(struct schedule *s, uint64_t mark, struct error *err);

/* A thread as a snapshot found it, in its order: told if no record has told of its state. */
int schedule_found(struct schedule *s, const struct wire_task *task, struct error *err);
/* Whether a snapshot is due, since the last call: because records were lost. */
bool schedule_take_wish(struct schedule *s);

/* A thread has another name from time on (ns). */
int schedule_renamed(struct schedule *s, uint32_t tid, uint64_t time, struct error *err);

/* Put what was long so far, so that a killed recording has it. */
int schedule_tick(struct schedule *s, struct error *err);
/* No CPU is recorded any more: what is there is the last. */
void schedule_stop(struct schedule *s);
/* Put what is open as far as time, ns: the recording is over. */
int schedule_end(struct schedule *s, uint64_t time, struct error *err);

struct schedule_counts {
	uint64_t switches, wakeups, migrations; /* put */
	uint64_t lost; /* records overwritten */
	uint64_t disorder; /* stamps before their predecessor's */
	uint64_t untold; /* switches of which only the one behind them tells */
};

void schedule_counts(const struct schedule *s, struct schedule_counts *ret);

#endif
