/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep all samples in memory, for formats that write one thread after the other: 32 bytes each,
 * up to twice that while samples are added.
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
	uint32_t order; /* position in the order of arrival */
};

/* A thread under all its names, in one program of its process. */
struct gather_track {
	uint32_t process; /* index; PROFILE_NONE if unknown */
	uint32_t thread; /* index of its newest name; PROFILE_NONE if unknown */
};

struct gather {
	struct stacks stacks;
	VECTOR(struct gathered) samples;
	/* those that have samples, in the order of their first samples */
	VECTOR(struct gather_track) tracks;
	struct index track_of; /* (process, tid) -> number */
};

/*
 * Begin with the entities of a timeline. Return 0 or a negative errno; call gather_free() in both
 * cases.
 */
int gather_begin(struct gather *g, const struct timeline *t, bool lines);
int gather_sample(struct gather *g, const struct timeline *t, const struct sample *s);
void gather_free(struct gather *g);

/* Sort the samples by event and track, and each group by time. */
void gather_sort(struct gather *g);

/*
 * Return the end of the row of sorted samples, starting at from, that have the same event and
 * track.
 */
size_t gather_row_end(const struct gather *g, size_t from);

/* Return the event of a sample; an event without a name if the trace has lost it. */
const struct event *gather_event(const struct timeline *t, const struct gathered *s);

#define TRACK_NAME_SIZE 192
/*
 * Write "comm (pid)" or "comm (pid): thread (tid)", prefixed with "host: " if there are several
 * hosts, into buf, of TRACK_NAME_SIZE bytes. text_clean() is not applied: names may hold control
 * characters. Return buf.
 */
char *gather_track_name(const struct profile *p, const struct gather_track *t, char *buf);

#endif
