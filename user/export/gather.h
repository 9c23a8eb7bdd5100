/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All samples in memory, for formats that tell one thread after the other: 32 bytes each, and
 * while they come up to twice that.
 */
#ifndef SKEIN_EXPORT_GATHER_H
#define SKEIN_EXPORT_GATHER_H

#include "export/stacks.h"
#include "export/timeline.h"

struct gathered {
	uint64_t time; /* ns */
	uint64_t weight; /* in the unit of the event */
	uint32_t event; /* index */
	uint32_t track; /* number */
	uint32_t node; /* of stacks */
	uint32_t order; /* in which they came */
};

/* A thread under all its names, in one program of its process. */
struct track {
	uint32_t process; /* index; PROFILE_NONE: not known */
	uint32_t thread; /* the newest of its names, as an index; PROFILE_NONE: not known */
};

struct gather {
	struct stacks stacks;
	VECTOR(struct gathered) samples;
	VECTOR(struct track) tracks; /* of those that have samples, as they came */
	struct index track_of; /* (process, tid) -> number */
};

/* Begin with the entities of a timeline. 0 or a negative errno; free it in both cases. */
int gather_begin(struct gather *g, const struct timeline *t, bool lines);
int gather_sample(struct gather *g, const struct timeline *t, const struct sample *s);
void gather_free(struct gather *g);

/* Samples by event and track, each in the order of time. */
void gather_by_time(struct gather *g);

/* A row of the sorted samples that have an event and a track, from `from` on: where it ends. */
size_t gather_row(const struct gather *g, size_t from);

/* The event of a sample; one without a name if the trace has lost it. */
const struct event *gather_event(const struct timeline *t, const struct gathered *s);

#define TRACK_NAME_SIZE 192
/*
 * "comm (pid)", or "comm (pid): thread (tid)", behind "host: " if there are several; raw bytes.
 * Returns buf, of TRACK_NAME_SIZE.
 */
char *track_name(const struct profile *p, const struct track *t, char *buf);

#endif
