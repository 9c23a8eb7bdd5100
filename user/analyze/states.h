/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Derive the states of lanes from the scheduler's records: the state of every CPU and every thread
 * at every time, without holes and overlaps. These are pure functions over records; nothing here
 * depends on the source of the records.
 *
 * The stretches of a CPU lane are its slices, and UNKNOWN between two slices that are not adjacent.
 * The stretches of a lane of LANE_STATES_SLICES are its slices, with nothing between them; such
 * lanes have no open stretches. UNKNOWN slices of such lanes are ignored.
 * The life of a thread is divided into stretches where the thread gets a CPU, leaves it or is
 * woken. While it is on a CPU, it is RUNNING; after that, it is in the state that it took on when
 * it left (RUNNABLE, PREEMPTED, SLEEPING with a wait class, ...); from a wake-up on, it is
 * RUNNABLE. A state that a loss makes uncertain is UNKNOWN until a later record makes it certain;
 * no state is invented. A life begins at a thread's first record (or fork) and ends when the thread
 * is DEAD, which is no stretch.
 *
 * Slices come when they end, so only then is a thread known to have run: its states since it last
 * left the CPU are reported when it has left the CPU again, or by states_cut(). All stretches that
 * lie before states_settled() are final.
 */
#ifndef SKEIN_ANALYZE_STATES_H
#define SKEIN_ANALYZE_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/record.h"

/*
 * A time in which one lane was in one state. The stretches of a lane come in order, and, except on
 * lanes of LANE_STATES_SLICES, without gaps; stretches of different lanes are interleaved.
 */
struct stretch {
	uint64_t time, end; /* ns; time < end */
	uint64_t lane; /* lane.id */
	/*
	 * thread.id of the thread that has a thread lane, or that ran on another lane; 0 if no
	 * thread ran, or one that a filter does not select
	 */
	uint64_t thread;
	enum slice_state state;
	enum wait_class wait; /* for a thread that is neither running nor runnable */
	/*
	 * For thread lanes. cpu: number + 1 of the CPU on which the thread runs (RUNNING) or ran
	 * last; 0 if unknown. waker: lane.id of the thread or interrupt that woke the thread, for
	 * RUNNABLE after a wake-up; else 0. target: number + 1 of the CPU chosen at the wake-up; 0
	 * if unknown.
	 */
	uint64_t cpu, waker, target;
	enum lane_kind kind; /* not set by states_each() */
	/*
	 * Records mark the start and the end of the stretch: neither was set by the start or end of
	 * the recording, a loss or states_cut().
	 */
	bool whole;
};

struct states_events {
	/*
	 * Called for every stretch. Return 0 or a negative errno. An error ends the call that
	 * caused the callback, which returns the error; after that, only states_free() may be
	 * called. The callback must not call states_put(), states_cut() or states_resume().
	 */
	int (*stretch)(void *context, const struct stretch *s, struct error *err);
	void *context;
};

struct states;

int states_new(struct states **out, const struct states_events *events, struct error *err);
void states_free(struct states *s);

/*
 * Process one record. Lanes and threads must come before the records that refer to them; slices and
 * edges must come in the order of slice_order() and edge.time. A record that is too early for its
 * lane is cut to the remaining time and counted by states_disorder(). Other kinds are ignored.
 * Return 0, -ENOMEM or the callback's error.
 *
 * Lane ids must grow: if the lane of a thread entity is below the last one, and not known any more,
 * the thread is dead.
 */
int states_put(struct states *s, enum record_kind kind, const void *record, struct error *err);

/* Return whether a slice of a lane of LANE_STATES_SLICES with that state is a stretch. */
bool state_of_sliced_lane(uint64_t state);

/*
 * Return the time (ns) before which no later slice can begin: every CPU lane has slices until then.
 * 0 while a CPU lane has none; UINT64_MAX if there are no CPU lanes.
 */
uint64_t states_settled(const struct states *s);

/*
 * Report the open stretches of threads up to time (ns); the stretches continue from there. This is
 * for callers that need the states of all lanes at one time: a checkpoint, the edge of a window.
 * After states_settled(), a thread that may have got a CPU since is reported as UNKNOWN, and a
 * slice that turns out to have begun before the cut is reported from the cut on; so do not cut at a
 * time after states_settled() except at the end. A thread that left the CPU with a wake-up under
 * way (see lane_track.c) is reported as asleep until the cut. Return 0, -ENOMEM or the callback's
 * error.
 */
int states_cut(struct states *s, uint64_t time, struct error *err);
/*
 * End the recording at time (ns): report the open stretches of threads and forget all lanes. If the
 * latest slice of a CPU ends less than 64 ns before time, the stretches end there, too, because
 * stamps of slices are rounded down. Return 0, -ENOMEM or the callback's error.
 */
int states_end(struct states *s, uint64_t time, struct error *err);

/*
 * Call each() for every live lane of a CPU or thread with its open stretch, whose end is 0, until
 * each() returns a value other than 0; return that value, or 0. This is for snapshots, from which
 * states_resume() continues as if all earlier records had been put. The open stretch of a CPU lane
 * begins at the end of its last slice.
 *
 * A thread's lane may be passed several times: first the state at the end of the time that has been
 * reported as stretches (STATE_NONE if there is none), open from there on, then later changes,
 * which may turn out to be void. The last stretch with a state is the state in which the thread is
 * believed to be; stretches in STATE_NONE after the first one are wake-ups. A snapshot must keep
 * all of them, in order, with every field except end.
 */
int states_each(const struct states *s, int (*each)(void *context, const struct stretch *s),
		void *context);
/*
 * Restore one stretch of states_each(). Lanes and threads must have been put before. A stretch that
 * contradicts these or is invalid is ignored and counted by states_disorder(). Return 0 or -ENOMEM.
 */
int states_resume(struct states *s, const struct stretch *open, struct error *err);

/* Return the number of records so far that contradicted earlier ones. */
uint64_t states_disorder(const struct states *s);

#endif
