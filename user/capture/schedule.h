/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the BPF programs' records of switches and wake-ups into slices and edges: the records of
 * all CPUs are processed in one order, together with the records of the life of processes.
 */
#ifndef SKEIN_CAPTURE_SCHEDULE_H
#define SKEIN_CAPTURE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pipe.h"
#include "capture/process.h"
#include "capture/switches.h"

/*
 * Stamps of slices and edges are rounded down to multiples of this many ns, which is less than the
 * duration of the hook that takes the stamps (86 ns, docs/design.md). Rounding halves the size of
 * files.
 */
#define SCHEDULE_RESOLUTION 64

struct schedule;

struct schedule_context {
	struct switches *switches;
	struct process_table *table;
	struct sink *sink;
	uint64_t host; /* host.id */
	/* lane.id and loss.id last given, shared with other sources */
	uint64_t *last_lane, *last_loss;
	/* handle all records of other rings that are older than time (ns) */
	int (*before)(void *context, uint64_t time, struct error *err);
	/* time of the oldest record that before() would handle, ns; UINT64_MAX: none */
	uint64_t (*next)(void *context);
	/* returns whether the thread is selected; NULL: all are */
	bool (*wanted)(void *context, const struct process_entry *p, const struct thread_entry *t);
	/* called if the process table does not know a tid: the thread must be scanned */
	void (*unknown)(void *context, uint32_t tid);
	void *context;
};

int schedule_new(struct schedule **out, const struct schedule_context *c, struct error *err);
void schedule_free(struct schedule *s);

/* Record a CPU from time on (ns); if the CPU is not online, as soon as it is. */
int schedule_cpu_begins(struct schedule *s, unsigned int cpu, uint64_t time, bool online,
			struct error *err);
/*
 * Report that a CPU was found offline at time, ns. It counts as offline from the last record before
 * that time to its next record.
 */
void schedule_cpu_gone(struct schedule *s, unsigned int cpu, uint64_t time);

/* Copy the records that have arrived, a bounded batch of each CPU. Return 0 or -ENOMEM. */
int schedule_take(struct schedule *s);
/* Return the time, ns, up to which all records have been copied; older ones are not expected. */
uint64_t schedule_mark(const struct schedule *s);
/* Return whether any CPU had more records than one batch. */
bool schedule_has_more(const struct schedule *s);
/*
 * Emit the records up to mark (ns), in order, calling before() for the records of other rings in
 * between.
 */
int schedule_release(struct schedule *s, uint64_t mark, struct error *err);

/*
 * Process a thread that a snapshot has found, when its record is in order: emit its state unless a
 * record has given the state since the last loss.
 */
int schedule_task_found(struct schedule *s, const struct wire_task *task, struct error *err);
/* Return whether records were lost since the last call, so that a snapshot is due. */
bool schedule_take_snapshot_due(struct schedule *s);

/* Divide the slice of a thread that has a new name from time on (ns). */
int schedule_renamed(struct schedule *s, uint32_t tid, uint64_t time, struct error *err);

/* Emit the finished part of long slices, so that a killed recording has it. */
int schedule_tick(struct schedule *s, struct error *err);
/* Stop recording all CPUs: no further records are written. */
void schedule_stop(struct schedule *s);
/* Emit all open slices up to time, ns, at the end of the recording. */
int schedule_end(struct schedule *s, uint64_t time, struct error *err);

struct schedule_counts {
	uint64_t switches, wakeups, migrations; /* emitted */
	uint64_t lost; /* number of records that were overwritten */
	/* number of records with an earlier stamp than their predecessor, or of an unknown kind */
	uint64_t disorder;
	/* number of switches that the kernel did not report, inferred from the next one */
	uint64_t unreported;
};

void schedule_get_counts(const struct schedule *s, struct schedule_counts *out);

#endif
