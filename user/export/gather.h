/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep all samples in memory, for formats that write one thread after the other: 32 bytes per
 * sample, or up to twice that, since the array grows in large steps.
 */
#ifndef SKEIN_EXPORT_GATHER_H
#define SKEIN_EXPORT_GATHER_H

#include "export/stacks.h"
#include "export/timeline.h"

struct gathered {
	uint64_t time; /* ns */
	uint64_t weight; /* in the unit of the event */
	uint32_t event; /* index in the profile; INDEX_NONE if unknown */
	uint32_t track : 31; /* index in gather.tracks */
	uint32_t waiting : 1; /* of an event of waits */
	uint32_t node; /* of gather.stacks */
	uint32_t order; /* position in the order of arrival */
};

/* A thread under all its names, in one program of its process. */
struct gather_track {
	uint32_t process; /* index in the profile; PROFILE_NONE if unknown */
	/* index in the profile of the thread under its newest name; PROFILE_NONE if unknown */
	uint32_t thread;
};

struct gather {
	bool wall; /* set by the format: samples of all events are as of one, "wall" */
	struct stacks stacks;
	VECTOR(struct gathered) samples;
	/* tracks of threads that have samples, in the order of their first samples */
	VECTOR(struct gather_track) tracks;
	struct index track_of; /* (process, tid) -> index in tracks */
};

/*
 * Begin to keep samples of a timeline, in its begin() or later. lines: see stacks_begin(). Return 0
 * or a negative errno; call gather_free() in both cases.
 */
int gather_begin(struct gather *g, const struct timeline *t, bool lines);
/* Add a sample. Return 0 or a negative errno. */
int gather_sample(struct gather *g, const struct timeline *t, const struct sample *s);
void gather_free(struct gather *g);

/* Sort the samples by event, then track, then time, then order of arrival. */
void gather_sort(struct gather *g);

/*
 * Return the index after the last of the sorted samples, from index from on, that have the same
 * event and track as the sample at from.
 */
size_t gather_row_end(const struct gather *g, size_t from);

/* Return the event of a sample; one named "[unknown]", without a unit, if the trace has lost it. */
const struct event *gather_event(const struct timeline *t, const struct gathered *s);

#define TRACK_NAME_SIZE 192
/*
 * Write "process (pid)" into buf, of TRACK_NAME_SIZE bytes, or "process (pid): thread (tid)" if the
 * thread is not the main thread or has another name, prefixed with "host: " if there are several
 * hosts; "[unknown]" for an unknown process. text_clean() is not applied: names may hold control
 * characters. Return buf.
 */
char *gather_track_name(const struct profile *p, const struct gather_track *t, char *buf);

#endif
