/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the BPF programs' records of switches and wake-ups into slices and edges. The caller passes
 * the records of all CPUs in one order with those of the life of processes.
 */
#ifndef SKEIN_CAPTURE_SCHEDULE_H
#define SKEIN_CAPTURE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pipe.h"
#include "capture/namespace.h"
#include "capture/process.h"
#include "capture/switch_order.h"

/*
 * Stamps of slices and edges are rounded down to multiples of this many ns, which is less than the
 * duration of the hook that takes the stamps (86 ns, docs/design.md). Rounding halves the size of
 * files.
 */
#define SCHEDULE_RESOLUTION 64

/* Return the stamp of a time, ns. */
static inline uint64_t schedule_round_time(uint64_t time)
{
	return time & ~(uint64_t)(SCHEDULE_RESOLUTION - 1);
}

struct schedule;

enum schedule_event_kind {
	THREAD_LEAVES, /* a CPU */
	THREAD_IS_WOKEN,
	THREAD_RUNS, /* from now on */
};

/* What the schedule passes on of a record: something that a thread does. */
struct schedule_event {
	uint64_t time; /* ns */
	uint64_t epoch; /* another one than before: records were lost in between */
	struct thread_entry *thread; /* selected */
	struct thread_entry *waker; /* if it is woken; NULL: by an interrupt */
	enum schedule_event_kind kind;
	enum slice_state state; /* if it leaves */
	enum wire_lock lock; /* if it leaves, as its runtime says */
	uint64_t class; /* of the monitor it leaves for, WIRE_CLASS(); 0: none, or not known */
};

struct schedule_context {
	unsigned int cpus; /* possible CPUs */
	struct process_table *table;
	struct sink *sink;
	uint64_t host; /* host.id */
	const struct namespace *namespace; /* translates the records' numbers of threads */
	/* lane.id and loss.id last given, shared with other sources */
	uint64_t *last_lane, *last_loss;
	bool waits; /* keep the last wait of each thread, for schedule_find_wait() */
	/* returns whether the thread is selected; NULL: all threads are */
	bool (*wanted)(void *context, const struct process_entry *p, const struct thread_entry *t);
	/*
	 * called if the process table does not know a tid: the caller must have the thread scanned
	 */
	void (*unknown)(void *context, uint32_t tid);
	/*
	 * called for each event, before the schedule puts its own records of it; NULL: nobody needs
	 * that. Return 0 or a negative errno
	 */
	int (*on_event)(void *context, const struct schedule_event *event, struct error *err);
	void *context;
};

int schedule_new(struct schedule **out, const struct schedule_context *c, struct error *err);
void schedule_free(struct schedule *s);

/*
 * Record a CPU from time on (ns). An offline CPU (online is false) gets a lane only with its first
 * record.
 */
/* Get the lane of a CPU, which is emitted if there was none. Return 0 or a negative errno. */
int schedule_cpu_lane(struct schedule *s, unsigned int cpu, uint64_t *out, struct error *err);
int schedule_cpu_begins(struct schedule *s, unsigned int cpu, uint64_t time, bool online,
			struct error *err);
/*
 * Report that a CPU was found offline at time, ns. If it has no thread, it counts as offline from
 * its last switch before that time to its next switch.
 */
void schedule_cpu_gone(struct schedule *s, unsigned int cpu, uint64_t time);

/* Handle a record at its place in the order. Return 0 or a negative errno. */
int schedule_record(struct schedule *s, const struct switch_record *r, struct error *err);
/*
 * Process a thread that a snapshot has found, when its record is in order. If the thread runs, it
 * becomes the running thread of its CPU, unless that is known. Otherwise emit its state, unless a
 * record has given the state since the last loss. Return 0 or a negative errno.
 */
int schedule_task_found(struct schedule *s, const struct wire_task *task, struct error *err);
/* Return whether switch records were lost since the last call, so that a snapshot is due. */
bool schedule_take_snapshot_due(struct schedule *s);

/* The last wait of a thread. */
struct found_wait {
	uint64_t left, woken; /* ns; 0: not known, or not yet */
	uint64_t thread, waker; /* thread.id; waker 0: an interrupt */
	enum interrupt interrupt; /* that ended the wait; INTERRUPT_NONE: a thread did */
	enum wait_class wait;
};

/*
 * Find the last wait of a thread before a time (ns), by its global tid; left is 0 if records do not
 * say when it began. Return 0 or a negative errno.
 */
int schedule_find_wait(struct schedule *s, uint32_t tid, uint64_t time, struct found_wait *out,
		       struct error *err);

/*
 * Call each for every selected thread whose wait has not ended, as far as records say when it began
 * (thread->wait). Return 0, or the first non-zero result of each.
 */
typedef int (*schedule_open_wait)(void *context, const struct thread_entry *t);
int schedule_each_open_wait(struct schedule *s, schedule_open_wait each, void *context);

/*
 * If a thread that has a new name from time on (ns) runs on a CPU, end the CPU's slice there and
 * begin another one. tid: its own number. Return 0 or a negative errno.
 */
int schedule_renamed(struct schedule *s, uint32_t tid, uint64_t time, struct error *err);

/*
 * Emit the part up to mark of slices longer than 1 s, so that a killed recording has it. mark: all
 * records up to this time, ns, have been handled. Return 0 or a negative errno.
 */
int schedule_tick(struct schedule *s, uint64_t mark, struct error *err);
/*
 * Emit all open slices up to time, ns, at the end of the recording. Return 0 or a negative errno.
 */
int schedule_end(struct schedule *s, uint64_t time, struct error *err);

/*
 * After schedule_end(): records come again from time on, ns, for CPUs that then begin anew. Nothing
 * is known of the time between. Return 0 or a negative errno.
 */
int schedule_resume(struct schedule *s, uint64_t time, struct error *err);

struct schedule_counts {
	/* switches of recorded CPUs; emitted wake-ups, with first ones; emitted migrations */
	uint64_t switches, wakeups, migrations;
	uint64_t lost; /* number of records that were overwritten */
	/* number of records with an earlier stamp than their predecessor, or of an unknown kind */
	uint64_t disorder;
	/* number of switches that the kernel did not report, inferred from the next one */
	uint64_t unreported;
};

/* Return the epoch of the events that come next. */
uint64_t schedule_epoch(const struct schedule *s);

const struct schedule_counts *schedule_counts(const struct schedule *s);

#endif
