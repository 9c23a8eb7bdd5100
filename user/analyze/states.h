/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the scheduler's records to the states of lanes: what every CPU and
 * every thread did from when to when, without a hole and without an overlap.
 * Pure functions over records; nothing here knows where they come from.
 *
 * A CPU lane's stretches are its slices, and UNKNOWN where there are none between two. A
 * thread's life is cut where it gets the CPU, leaves it and is woken: RUNNING; what it took on
 * when it left (RUNNABLE, PREEMPTED, SLEEPING with a wait class, ...); RUNNABLE from the
 * wake-up on. What a loss makes uncertain is UNKNOWN until a later record tells: never an
 * invented state. A life begins at a thread's first record (or fork) and ends when it is DEAD,
 * which is no stretch.
 *
 * Slices come when they end, so that a thread is known to have run only afterwards: what it did
 * since it left the CPU last is told when it has left it again, or by states_cut(). All that
 * lies before states_settled() is final.
 */
#ifndef SKEIN_ANALYZE_STATES_H
#define SKEIN_ANALYZE_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/record.h"

/* One lane was in one state. Stretches of a lane tile its life, in order; lanes are mixed. */
struct stretch {
	uint64_t time, end; /* ns; time < end */
	/* lane.id, of a CPU or thread */
	uint64_t lane;
	/* thread.id: who ran on the CPU lane (0: see slice.value), or whose lane it is */
	uint64_t thread;
	enum slice_state state;
	enum wait_class wait; /* of a thread that is neither running nor runnable */
	/*
	 * Of a thread lane. cpu: number + 1 of the CPU on which it ran (RUNNING) or ran last; 0
	 * unknown. waker: lane.id of the thread or interrupt that woke it, of RUNNABLE after a
	 * wake-up; 0 otherwise. target: number + 1 of the CPU that it was woken on; 0 unknown.
	 */
	uint64_t cpu, waker, target;
	/* It began and ended with a record: not cut by the recording, a loss or states_cut(). */
	bool whole;
};

struct states_events {
	/*
	 * 0 or a negative errno, which ends the call that caused it and is returned by it: then
	 * only states_free() is left to do. It must not put, cut or resume anything itself.
	 */
	int (*stretch)(void *context, const struct stretch *s, struct error *err);
	void *context;
};

struct states;

int states_new(struct states **ret, const struct states_events *events, struct error *err);
void states_free(struct states *s);

/*
 * Take one record: lanes and threads before what points to them; slices and
 * edges in the order of slice_order() and edge.time (what comes too early for
 * its lane is cut to what is left of it, and counted by states_disorder()). Other
 * kinds are nothing to it. 0, -ENOMEM or the callback's error.
 *
 * New lanes have greater ids than those before: a thread that names a lane below the
 * last one, which is not there any more, is dead.
 */
int states_put(struct states *s, enum record_kind kind, const void *record, struct error *err);

/*
 * The time, in ns, before which no slice can begin that is still to come: every CPU lane has told
 * what it did until then. 0 while one has told nothing; UINT64_MAX if there are no CPU lanes.
 */
uint64_t states_settled(const struct states *s);

/*
 * Tell the stretches of threads that are still open, as far as time (ns); they go on from there.
 * For who needs every lane's state at one time: a checkpoint, the edge of a window. Beyond
 * states_settled() a thread that may have got a CPU since is told as UNKNOWN, and a slice that
 * turns out to have begun before the cut is told from the cut on: so do not cut there but at the
 * end. Who left the CPU with a wake-up under way (see track.c) is told as asleep until the cut.
 */
int states_cut(struct states *s, uint64_t time, struct error *err);
/*
 * The recording ended at time: tell what is open, and forget it. If the last slices of CPUs end
 * less than 64 ns before, they end there: stamps are rounded down.
 */
int states_end(struct states *s, uint64_t time, struct error *err);

/*
 * Every lane that is alive, as its open stretch: end is 0. For snapshots, from which
 * states_resume() goes on as if it had seen all records before. On a CPU lane that is the end of
 * its last slice.
 *
 * A thread's lane may come several times: first what was told until its time (in state 0, if
 * nothing was), then what was heard since and may turn out to be nothing. The last one that has a
 * state is what it is thought to be in; those in state 0 (STATE_NONE) are wake-ups. Keep them all
 * in their order, every field but end.
 */
int states_each(const struct states *s, int (*each)(void *context, const struct stretch *s),
		void *context);
/* Lanes and threads have been put before. What contradicts them is left out and counted. */
int states_resume(struct states *s, const struct stretch *open, struct error *err);

/* Records that contradicted what was known, so far. */
uint64_t states_disorder(const struct states *s);
/* Memory that it holds, in bytes: it grows with the threads that are alive, not with time. */
size_t states_bytes(const struct states *s);

#endif
