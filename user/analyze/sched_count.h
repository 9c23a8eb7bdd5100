/* SPDX-License-Identifier: Apache-2.0 */
/* One run over the scheduler's records, shared by sched.c and sched_count.c only. */
#ifndef SKEIN_ANALYZE_SCHED_COUNT_H
#define SKEIN_ANALYZE_SCHED_COUNT_H

#include "analyze/sched.h"
#include "analyze/states.h"

struct sched_lane {
	/* lane.kind and lane.number; kind 0: the record of the lane has not come */
	uint64_t kind, number;
	uint32_t cpu; /* for a CPU: its index */
	/* index of the lane's thread under its current name, and under its last name */
	uint32_t now, newest;
	uint32_t cached; /* index of the thread of the last stretch */
	uint64_t cached_id;
	uint64_t end; /* ns, of the last stretch; for a CPU, cut to the range */
	/* For a thread: state of the last stretch, and since when it waits in the run queue. */
	enum slice_state state;
	uint64_t waits_since;
	enum queued queued;
	bool waits, whole; /* whole: the wait is known from its wake-up or preemption on */
};

struct sched_run {
	struct sink sink;
	const struct sched_query *query;
	struct sched *made;
	struct states *states;
	struct index lanes_by_id, threads_by_id, processes_by_id, wakes_by_pair;
	VECTOR(struct sched_lane) lanes;
	VECTOR(uint32_t) next_name; /* index of the thread's next name; INDEX_NONE: none */
	struct borders borders;
	uint64_t host; /* host.id of the first host */
	uint64_t start, end; /* ns, of all recordings; end 0: not known */
	uint64_t last; /* ns: latest time of a record */
	bool open; /* the end of the range is not known */
};

static inline struct sched_lane *sched_lane(struct sched_run *r, uint64_t id)
{
	uint32_t at = index_get(&r->lanes_by_id, id);

	return at == INDEX_NONE ? NULL : &r->lanes.items[at];
}

/* Set *out to the index of a thread, which is added if it is new. Return 0 or -ENOMEM. */
int sched_thread_of(struct sched_run *r, const struct thread *t, uint32_t *out);

/* Callback for struct states_events; context is a struct sched_run. */
int sched_count_stretch(void *context, const struct stretch *s, struct error *err);

#endif
