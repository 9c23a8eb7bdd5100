/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Base of formats that show time: a sink that knows all entities before the first record, and
 * reports the activity of each CPU and thread with times and wakers, and the losses.
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
#include "export/concurrency.h"
#include "export/export.h"
#include "export/spans.h"

/*
 * A period in which a CPU did one thing. The tiles of a CPU leave no gap between the first and
 * the last. A period may be empty (a slice of no length, or one cut at the requested range).
 */
struct tile {
	uint64_t time, end; /* ns; time <= end */
	uint64_t cpu;
	enum slice_state state; /* RUNNING, IDLE, UNKNOWN or OFFLINE */
	uint32_t thread; /* index of the thread that ran; PROFILE_NONE if not recorded */
	/* enum slice_state that the thread changed to; 0 if unknown, RUNNING if it goes on */
	uint64_t next_state;
};

struct timeline_lane {
	struct lane lane; /* without its name */
	uint32_t thread; /* index of the thread's newest name; PROFILE_NONE if there is no thread */
	/* the last tile of a CPU, or the last tile in which a thread ran; end is 0 if none */
	struct tile last;
};

struct timeline;

/* Operations of a format. Each returns 0 or a negative errno, which ends the export. */
struct timeline_ops {
	const char *what; /* what is written, for messages: "a Perfetto trace" */
	bool no_samples; /* the format has no samples, and needs the scheduler's records */
	bool no_lanes; /* the format has only samples; tile and stretch are NULL */
	bool spans; /* the format shows spans and counters: timeline.spans is sorted in end() */
	int (*begin)(struct timeline *t); /* called once, when all entities are known */
	int (*sample)(struct timeline *t, const struct sample *s);
	/*
	 * Called in order for one CPU; calls for different CPUs are interleaved. The same holds for
	 * stretches.
	 */
	int (*tile)(struct timeline *t, struct timeline_lane *cpu, const struct tile *tile);
	/*
	 * Called for a thread's lane. While stretches since a thread last left the CPU are
	 * reported, lane->last is the tile that the thread left.
	 */
	int (*stretch)(struct timeline *t, struct timeline_lane *lane, const struct stretch *s);
	int (*end)(struct timeline *t);
	void (*free)(struct timeline *t); /* NULL if there is nothing to free */
};

/* Groups of threads whose simultaneous number is counted. */
#define CONCURRENCIES(X) \
	X(RUNNING, "running threads") X(RUNNABLE, "runnable threads") \
	X(UNKNOWN, "CPUs with lost records")
#define ENUM_CONCURRENCY(NAME, text) CONCURRENCY_##NAME,
enum concurrencies { CONCURRENCIES(ENUM_CONCURRENCY) CONCURRENCY_COUNT };
#undef ENUM_CONCURRENCY

extern const char *const concurrency_names[CONCURRENCY_COUNT];

/* A timeline; the first member of every format's own struct. */
struct timeline {
	struct sink sink;
	const struct timeline_ops *ops;
	const struct profile *profile; /* entities only: no sums, no losses */
	VECTOR(struct timeline_lane) lanes; /* complete from begin() on */
	VECTOR(struct loss) losses; /* in the order of time, complete at the end */
	struct index lane_of, cpu_of; /* lane id, CPU number -> index in lanes */
	struct index thread_of, event_of; /* id -> index in the profile */
	struct index process_of; /* process.id -> index in the profile */
	struct concurrency concurrencies[CONCURRENCY_COUNT];
	struct shown_spans spans; /* empty unless ops->spans is set */
	uint64_t from, to; /* requested range, ns, to which tiles, stretches and losses are cut */
	/*
	 * ns: the end of the last tile so far. In end(): the end of the recording (if the recorder
	 * was killed, that of the last tile), but at most to.
	 */
	uint64_t end;
	uint64_t slices; /* number of slices of CPUs so far */
	/* private */
	struct sink *entities;
	struct states *states;
	bool begun;
	/*
	 * from was requested. If not, from is the start of the recording, where nothing is cut,
	 * since rounded stamps may be some ns before it.
	 */
	bool cut;
};

/*
 * Make an exporter, of size bytes, whose first member is a timeline; the rest is zero. Return 0, or
 * a negative errno with the cause in *err.
 */
int timeline_new(struct timeline **out, size_t size, const struct timeline_ops *ops,
		 const struct export_options *o, struct error *err);

/* Return the lane with an id, or the lane of the CPU with a number; NULL if there is none. */
struct timeline_lane *timeline_lane(const struct timeline *t, uint64_t id);
struct timeline_lane *timeline_cpu(const struct timeline *t, uint64_t number);

/*
 * Return pid, tid and name of a thread by its index. The pids and tids of the n-th host after the
 * first are increased by n * TIMELINE_HOST_NUMBERS, which is more than any pid.
 */
#define TIMELINE_HOST_NUMBERS 10000000
struct timeline_identity {
	uint64_t pid, tid;
	const char *comm; /* thread_display_name() */
};
struct timeline_identity timeline_identity(const struct timeline *t, uint32_t thread);

/* Return the process and thread of a lane by their indexes; PROFILE_NONE where there is none. */
struct timeline_owner {
	uint32_t process, thread;
};
struct timeline_owner timeline_owner_of(const struct timeline *t, uint64_t lane);

/* Return the pid of a process by its index, increased as above; 0 for PROFILE_NONE. */
uint64_t timeline_pid(const struct timeline *t, uint32_t process);

#endif
