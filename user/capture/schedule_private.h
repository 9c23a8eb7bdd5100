/* SPDX-License-Identifier: Apache-2.0 */
/* Declares what the files schedule*.c share. */
#ifndef SKEIN_CAPTURE_SCHEDULE_PRIVATE_H
#define SKEIN_CAPTURE_SCHEDULE_PRIVATE_H

#include "capture/schedule.h"

/* Number of entries in the cache of threads. */
#define CACHED_THREADS (1U << 12)

/*
 * An entry of the cache of threads by global tid, valid while threads_generation() is the same.
 */
struct cached_thread {
	uint64_t generation; /* generation + 1; 0: free */
	struct thread_entry *thread;
	uint32_t tid;
	bool wanted;
};

/* A thread as the record of a switch names it; tid 0: the CPU is idle. */
struct switched_thread {
	uint32_t tid;
	bool other; /* not selected: its switches may not be recorded */
};

/* How a thread leaves a CPU. */
struct leaving {
	enum slice_state state;
	enum wait_class wait;
};

struct scheduled_cpu {
	uint64_t lane; /* lane.id; 0: none yet */
	uint64_t interrupts[INTERRUPT_COUNT]; /* lane.id of each kind; 0: none yet */
	uint64_t since; /* start of the open slice, ns */
	uint64_t last; /* time of the last record, ns */
	uint64_t offline; /* time at which the CPU was found offline, ns; 0: online */
	uint64_t thread; /* thread.id of the running thread; 0: none, or it is not selected */
	uint64_t class; /* as schedule_event.class, of the switch that comes next */
	struct switched_thread running;
	bool runs; /* the CPU is recorded */
	bool certain; /* the running thread is known from a record */
};

struct schedule {
	struct schedule_context c;
	struct scheduled_cpu *cpus;
	uint64_t epoch; /* grows with every loss, which makes the known states of threads invalid */
	bool snapshot_due;
	struct schedule_counts counts;
	struct cached_thread known[CACHED_THREADS];
};

/* The source of a wake-up: a thread, or an interrupt. */
struct found_waker {
	uint64_t lane; /* lane.id */
	uint64_t thread; /* thread.id; 0: an interrupt */
	enum interrupt interrupt; /* INTERRUPT_NONE: a thread */
	struct thread_entry *entry; /* of the thread; NULL: an interrupt */
};

/*
 * Find the entry of a tid at a time, and record that the thread's state is known. *out is valid
 * until the next call. Return 0 or a negative errno.
 */
int schedule_find_thread(struct schedule *s, uint32_t tid, uint64_t time,
			 const struct cached_thread **out, struct error *err);

/*
 * schedule_waits.c: a thread leaves a CPU, by a record of that CPU's last time: keep when it begins
 * to wait, and pass the event on. Return 0 or a negative errno.
 */
int schedule_leaves(struct schedule *s, const struct scheduled_cpu *c,
		    const struct switched_thread *thread, const struct wire_switch *r,
		    struct error *err);
/* A selected thread is woken at a time, ns: keep when and by what, and pass the event on. */
int schedule_is_woken(struct schedule *s, struct thread_entry *t, uint64_t time,
		      const struct found_waker *waker, struct error *err);
/* A selected thread gets a CPU at a time, ns: pass the event on. */
int schedule_runs(struct schedule *s, struct thread_entry *t, uint64_t time, struct error *err);

/* Return how a thread leaves a CPU by a record. */
struct leaving schedule_leaving(const struct wire_switch *r);

#endif
