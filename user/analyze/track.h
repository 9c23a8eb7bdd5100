/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What states.c knows of one lane: the state that was told last, and behind it the marks, what was
 * heard since and is not certain yet. A slice comes when it ends: whoever was woken meanwhile,
 * fell into a gap or was seen may turn out to have been running all the while, and
 * then that was nothing.
 */
#ifndef SKEIN_ANALYZE_TRACK_H
#define SKEIN_ANALYZE_TRACK_H

#include "analyze/states.h"
#include "base/vector.h"

/*
 * Of one thread between two of its slices. Only several gaps bring more than five; when there are
 * too many, the oldest become certain, or UNKNOWN.
 */
#define TRACK_MARKS 6

/* From this time on, the lane was in this state: until the next mark, or until now. */
struct mark {
	uint64_t time;
	uint64_t waker;	 /* lane.id; of RUNNABLE, and of a base that was woken early */
	uint32_t target; /* number of the CPU + 1 */
	uint8_t state, wait;
	bool exact; /* a record of this moment says so */
};

/*
 * Of a thread lane: marks[0] is the base, told as far as its time. Its state is NONE, at time 0,
 * while there is no record of a certain state. Of a CPU lane there is only the base: the end of the
 * last slice, and its state.
 */
struct track {
	struct mark marks[TRACK_MARKS];
	uint64_t lane;
	uint64_t thread; /* thread.id of its name of then */
	uint64_t cpu;	 /* number + 1: its own, or that on which the thread ran last */
	/* The last wake-up; if the thread was running, it may have been about to sleep. */
	uint64_t woken, waker;
	uint32_t target;
	uint8_t kind;	/* enum lane_kind; 0: the lane has not been put yet, or the track is free */
	uint8_t count;	/* of marks, at least 1 */
	bool alive;	/* something was heard of it */
	bool early;	/* the base is a sleep with a wake-up that came before it began */
	uint32_t known; /* position + 1 in tracks.known; 0: is not in it */
	/* Its names, in struct states. */
	uint32_t names, name_count, prune_at;
	uint64_t newest, dies; /* the newest thread.id, and thread.end of that */
};

struct tracks {
	struct states_events events;
	VECTOR(struct track) list;
	VECTOR(uint32_t) cpus;	/* indexes in list, of CPU lanes */
	VECTOR(uint32_t) known; /* ... of threads whose last mark is a certain state */
	uint64_t gap;		/* until when records are missing; gaps are put when they begin */
	uint64_t cut;		/* time of the last states_cut() */
	uint64_t disorder;
};

/* Whether a thread can be in that state, and does not run. */
bool state_is_off_cpu(uint64_t state);
/* ... and needs a wake-up to get out of it. */
bool state_is_asleep(uint64_t state);

void track_init(struct track *t, uint64_t lane);
/* Keeps the list of known ones: to be called after whatever changed the marks. */
int track_note(struct tracks *s, struct track *t, struct error *err);
void track_leave_known(struct tracks *s, struct track *t);

/* The thread ran on a CPU (number + 1), as the slice says, but not before from. */
int track_run(struct tracks *s, struct track *t, const struct slice *slice, uint64_t from,
	      uint64_t cpu, bool begun, struct error *err);
/* Another state began at m->time. What is no news is nothing. */
int track_mark(struct tracks *s, struct track *t, const struct mark *m, struct error *err);
/* It was woken: at edge->time. */
int track_wake(struct tracks *s, struct track *t, const struct edge *edge, struct error *err);
/* Records of some CPU are missing in [time, end). */
int track_gap(struct tracks *s, struct track *t, uint64_t time, uint64_t end, struct error *err);
/* Tell what is open as far as time. settled: states_settled(). */
int track_cut(struct tracks *s, struct track *t, uint64_t time, uint64_t settled,
	      struct error *err);

uint64_t tracks_settled(const struct tracks *s);

static inline const struct mark *track_last(const struct track *t)
{
	return &t->marks[t->count - 1];
}

#endif
