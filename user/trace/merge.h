/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read several traces as one source.
 *
 * All stamps are converted to one clock, that of the machine that booted first (whose clock 0 is
 * the earliest in UTC). Stamps of other machines are shifted by the difference of their clocks in
 * UTC; recordings of one boot share a clock and are shifted by the same amount. Hosts come in the
 * order in which their recordings began.
 *
 * Hosts of one machine and boot become one host. Entities that are equal in every field except the
 * id become one entity. CPUs and lanes stay separate: the lanes of each trace are kept, so that the
 * merged trace claims nothing about the time between two recordings, and the CPU numbers of a trace
 * are raised to come after those of the traces before it. All ids are new.
 */
#ifndef SKEIN_TRACE_MERGE_H
#define SKEIN_TRACE_MERGE_H

#include "trace/trace.h"

/* Prefix of the info keys with the names of the merged traces, which are shown to people. */
#define MERGED_INFO "merged."

struct merge_part {
	struct trace *trace; /* the trace, which the caller owns; must outlive the source */
	const char *name; /* name of the file, also used in messages; must outlive the source */
};

/*
 * report() is called after every 65,536 stream records (without stacks) with context, and with the
 * number of these records done so far and in all traces.
 */
struct merge_progress {
	void (*report)(void *context, uint64_t done, uint64_t all);
	void *context;
};

/*
 * Make a source that delivers kinds in the order of RECORD_KINDS, but slices and edges together,
 * and streams in the order of time. The source holds in memory an entry for every entity and stack,
 * and the current chunk of each stream of every trace. progress may be NULL. Unreadable parts of a
 * trace are put as losses (UNREADABLE_CHUNK) of the trace's first host. Return 0 or a negative
 * errno.
 */
int merge_source(struct source **out, const struct merge_part *parts, size_t count,
		 const struct merge_progress *progress, struct error *err);

/* Return whether parts number a and b (from 0) cover one boot of a machine at the same time. */
bool merge_overlaps(const struct source *s, size_t a, size_t b);
/* Return about how many records of a part could not be read; valid after the source has run. */
uint64_t merge_unreadable(const struct source *s, size_t part);

#endif
