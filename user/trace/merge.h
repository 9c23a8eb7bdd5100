/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several traces as one source.
 *
 * One time axis: a machine that booted first (of whose clock 0 is the earliest in UTC) keeps its
 * stamps, and those of others are shifted to it by what UTC says; recordings of one boot have one
 * clock, and are shifted alike. Hosts come in the order in which their recordings began.
 *
 * Hosts of one machine and boot are one. Entities that are equal in every field are one, too, but
 * CPUs and lanes: each trace keeps its own, so that nothing is told of the time between two, and
 * numbers of its CPUs come behind those of the traces before. Ids are new.
 */
#ifndef SKEIN_TRACE_MERGE_H
#define SKEIN_TRACE_MERGE_H

#include "trace/trace.h"

/* How keys of info begin that tell of the traces that were merged, for people. */
#define MERGED_INFO "merged."

struct merge_part {
	struct trace *trace; /* stays the caller's, and must outlive the source */
	const char *name; /* for people, as well */
};

/* context and how much is read of all records; called now and then. */
struct merge_progress {
	void (*tell)(void *context, uint64_t done, uint64_t all);
	void *context;
};

/*
 * Delivers kinds in the order of RECORD_KINDS, streams in the order of time. In memory are an
 * entry for every entity and stack, and of every trace the chunk that is being read. progress may
 * be NULL. What of a trace cannot be read is put as a loss (UNREADABLE_CHUNK) of its first host.
 */
int merge_source(struct source **ret, const struct merge_part *parts, size_t count,
		 const struct merge_progress *progress, struct error *err);

/* Whether two of the parts tell of the same boot of a machine at the same time. */
bool merge_overlaps(const struct source *s, size_t a, size_t b);
/* Records of a part that could not be read, once it has run. */
uint64_t merge_unreadable(const struct source *s, size_t part);

#endif
