/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What formats that show time share: a sink that knows all entities before the first record, and
 * tells what each CPU and each thread did, when, woken by whom, and what was lost.
 *
 * Only entities, losses and the states of lanes are kept; samples and stretches pass through.
 */
#ifndef SKEIN_EXPORT_TIMELINE_H
#define SKEIN_EXPORT_TIMELINE_H

#include <stdbool.h>

#include "analyze/index.h"
#include "analyze/profile.h"
#include "analyze/states.h"
#include "base/pipe.h"
#include "base/vector.h"
#include "export/crowd.h"
#include "export/export.h"

/* A CPU did one thing. The tiles of a CPU leave out no time between its first and its last one. */
struct tile {
	uint64_t time, end; /* ns; time < end */
	uint64_t cpu;
	enum slice_state state; /* RUNNING, IDLE, UNKNOWN or OFFLINE */
	uint32_t thread; /* who ran, as an index; PROFILE_NONE: who was not recorded */
	uint64_t left; /* enum slice_state that the thread took on; 0 unknown, RUNNING: goes on */
};

struct timeline_lane {
	struct lane lane; /* without its name */
	uint32_t thread; /* its newest name, as an index; PROFILE_NONE: none */
	struct tile last; /* of a CPU, if its end is not 0; of a thread, its last one */
};

struct timeline;

/* Each returns 0 or a negative errno, which ends the export. */
struct timeline_ops {
	const char *what; /* is written: "a Perfetto trace" */
	bool no_samples; /* it has no place for them, and is nothing without the scheduler's records */
	bool no_lanes; /* it shows samples and nothing else: tile and stretch are not there */
	int (*begin)(struct timeline *t); /* the entities are known */
	int (*sample)(struct timeline *t, const struct sample *s);
	/* Of one CPU in order; of several, mixed. Stretches of a lane as well. */
	int (*tile)(struct timeline *t, struct timeline_lane *cpu, const struct tile *tile);
	/*
	 * On a thread's lane. While it is told what a thread did since it left the CPU last,
	 * lane->last is the tile that it left.
	 */
	int (*stretch)(struct timeline *t, struct timeline_lane *lane, const struct stretch *s);
	int (*end)(struct timeline *t);
	void (*free)(struct timeline *t);
};

/* How many threads there were at once that did this. */
#define CROWDS(X) \
	X(RUNNING, "running threads") X(RUNNABLE, "runnable threads") \
	X(UNKNOWN, "CPUs with lost records")
#define ENUM_CROWD(NAME, text) CROWD_##NAME,
enum crowds { CROWDS(ENUM_CROWD) CROWD_COUNT };
#undef ENUM_CROWD

extern const char *const crowd_names[CROWD_COUNT];

/* The first member of every format's own struct. */
struct timeline {
	struct sink sink;
	const struct timeline_ops *ops;
	const struct profile *profile; /* entities only: no sums, no losses */
	VECTOR(struct timeline_lane) lanes; /* all that there will be, from begin() on */
	VECTOR(struct loss) losses; /* in the order of their times, at the end */
	struct index lane_of, cpu_of; /* id, number of a CPU -> index in lanes */
	struct index thread_of, event_of; /* id -> index in the profile */
	struct crowd crowds[CROWD_COUNT];
	uint64_t from, to; /* what is asked for, ns; records are cut to it */
	uint64_t end; /* of the recording or, if that was killed, the last stamp; at the end */
	uint64_t slices; /* how many there were */
	/* its own */
	struct sink *entities;
	struct states *states;
	bool begun;
	bool cut; /* from is not the beginning, which lies some ns behind rounded stamps */
};

/* Set up a zeroed timeline: 0 or a negative errno with its cause, and then it is not freed. */
int timeline_init(struct timeline *t, const struct timeline_ops *ops,
		  const struct export_options *o, struct error *err);

/* NULL, or the lane of that id, or of that CPU. */
struct timeline_lane *timeline_lane(const struct timeline *t, uint64_t id);
struct timeline_lane *timeline_cpu(const struct timeline *t, uint64_t number);

/*
 * Who a thread is, by its index. Numbers of the n-th host behind the first are n times this higher,
 * which is more than any pid.
 */
#define TIMELINE_HOST_NUMBERS 10000000
struct timeline_who {
	uint64_t pid, tid;
	const char *comm;
};
struct timeline_who timeline_who(const struct timeline *t, uint32_t thread);

/* The same of a process; 0 for PROFILE_NONE. */
uint64_t timeline_pid(const struct timeline *t, uint32_t process);

#endif
