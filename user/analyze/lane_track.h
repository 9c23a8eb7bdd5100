/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data that states.c keeps for one lane: the base, which is the state at the time up to which
 * everything has been reported, and the marks after the base, which are later changes that are not
 * certain yet. A slice comes when it ends: a thread that was woken, whose records were lost (a gap)
 * or that was observed may turn out to have been running all the time, and then its marks are void.
 */
#ifndef SKEIN_ANALYZE_LANE_TRACK_H
#define SKEIN_ANALYZE_LANE_TRACK_H

#include "analyze/states.h"
#include "base/vector.h"

/*
 * Maximum number of marks of one thread, including the base, between two of its slices. Only
 * several gaps make more than five marks; when there are too many, the first ones are reported, or
 * two of them become one UNKNOWN mark.
 */
#define LANE_TRACK_MARKS 6

/* A change of state: from time on, the lane is in this state, until the next mark or until now. */
struct lane_mark {
	uint64_t time;
	/* lane.id; for RUNNABLE, and for a base with an early wake-up (see lane_track.c) */
	uint64_t waker;
	uint32_t target; /* number of the CPU + 1 */
	uint8_t state, wait;
	bool exact; /* a record says that the state began at this time */
};

/*
 * On a thread lane, marks[0] is the base: everything before the base's time has been reported. The
 * base has state NONE until a state of the thread has been reported or a slice has ended. A CPU
 * lane only has the base: the end and the state of the last slice.
 */
struct lane_track {
	struct lane_mark marks[LANE_TRACK_MARKS];
	uint64_t lane;
	uint64_t thread; /* thread.id of the thread under its current name */
	/* number + 1 of the CPU, or of the CPU on which the thread ran last; 0: not known */
	uint64_t cpu;
	/*
	 * The last wake-up: its time, lane.id of the waker, and number + 1 of the CPU (target). If
	 * the thread was running then, it may have been about to sleep.
	 */
	uint64_t woken, waker;
	uint32_t target;
	uint8_t kind; /* enum lane_kind; 0: no lane has been put, or the track is unused */
	uint8_t count; /* number of marks, at least 1 */
	bool alive; /* the lane has had a record */
	bool early; /* the base is a sleep, and its wake-up came before the sleep began */
	uint32_t known; /* position + 1 in tracks.known; 0 if not in the list */
	/*
	 * The thread's names: index of the first in the list states.names, how many there are, and
	 * the number at which older names are pruned.
	 */
	uint32_t names, name_count, prune_at;
	/* the newest thread.id of the thread, and the thread.end of that entity */
	uint64_t newest, dies;
};

struct lane_tracks {
	struct states_events events;
	VECTOR(struct lane_track) list;
	VECTOR(uint32_t) cpus; /* indexes in list of CPU lanes */
	/*
	 * indexes in list of threads whose last mark is a certain state, which a gap would make
	 * unknown
	 */
	VECTOR(uint32_t) known;
	uint64_t gap; /* time until which records are missing; set when the gap begins */
	uint64_t cut; /* time of the last states_cut() */
	uint64_t disorder;
};

/* Return whether a thread can be in that state without running. */
bool state_is_off_cpu(uint64_t state);
/* Return whether a thread in that state is off the CPU and not in the run queue. */
bool state_is_asleep(uint64_t state);

void lane_track_init(struct lane_track *t, uint64_t lane);
/*
 * Update tracks.known for a thread, and set alive; call this after every change of the thread's
 * marks. Return 0 or -ENOMEM.
 */
int lane_track_update_known(struct lane_tracks *s, struct lane_track *t, struct error *err);
void lane_track_remove_known(struct lane_tracks *s, struct lane_track *t);

/* A thread ran as the slice of a CPU says, but not before from. */
struct lane_run {
	struct slice slice;
	uint64_t from;
	uint64_t cpu; /* number + 1 */
	bool begun; /* a record says that the slice begins at from */
};
int lane_track_run(struct lane_tracks *s, struct lane_track *t, const struct lane_run *run,
		   struct error *err);
/*
 * Add a mark: another state began at m->time, or at the time of the last mark if that is later. A
 * state equal to the last one is ignored. Before the end of a gap, the state becomes UNKNOWN.
 */
int lane_track_mark(struct lane_tracks *s, struct lane_track *t, const struct lane_mark *m,
		    struct error *err);
/* Process a wake-up of the thread at edge->time. */
int lane_track_wake(struct lane_tracks *s, struct lane_track *t, const struct edge *edge,
		    struct error *err);
/* Process a gap of the thread: records that could concern it are missing in [time, end). */
int lane_track_gap(struct lane_tracks *s, struct lane_track *t, uint64_t time, uint64_t end,
		   struct error *err);
/*
 * Report the open states until time. settled is states_settled(), or UINT64_MAX if no later slice
 * of the thread can come.
 */
int lane_track_cut(struct lane_tracks *s, struct lane_track *t, uint64_t time, uint64_t settled,
		   struct error *err);

uint64_t lane_tracks_settled(const struct lane_tracks *s);

static inline const struct lane_mark *lane_track_last(const struct lane_track *t)
{
	return &t->marks[t->count - 1];
}

#endif
