/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find the process and thread to which a lane belongs: a lane of a runtime lies below that of its
 * process.
 */
#ifndef SKEIN_ANALYZE_LANE_OWNERS_H
#define SKEIN_ANALYZE_LANE_OWNERS_H

#include "analyze/index.h"
#include "base/record.h"
#include "base/vector.h"

struct lane_owner {
	uint64_t kind; /* enum lane_kind; 0: the trace has no such lane */
	uint64_t process; /* process.id; 0: none, or not known */
	uint64_t thread; /* thread.id of one of its names; 0: the lane is of no thread */
};

/* Zeroed memory knows no lanes. */
struct lane_owners {
	struct index lanes; /* lane.id -> index in list */
	struct index threads; /* lane.id -> index in of_threads */
	VECTOR(struct lane) list; /* without names */
	VECTOR(struct lane_owner) of_threads;
};

/* Note a lane or a thread; records of other kinds are ignored. Return 0 or -ENOMEM. */
int lane_owners_put(struct lane_owners *o, enum record_kind kind, const void *record);
struct lane_owner lane_owners_find(const struct lane_owners *o, uint64_t lane);
void lane_owners_free(struct lane_owners *o);

#endif
