/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read several traces as one source.
 *
 * All stamps are converted to one clock, that of the machine that booted first (whose clock 0 is
 * the earliest in UTC). Stamps of other machines are shifted by the difference of their clocks in
 * UTC; recordings of one boot share a clock and are shifted by the same amount. Hosts come in the
 * order in which their recordings began.
 *
 * Hosts of one machine and boot become one host. Entities that are equal in every field become one
 * entity, except CPUs and lanes: each trace keeps its own, so that the merged trace claims nothing
 * about the time between two recordings, and its CPU numbers come after those of the traces before.
 * All ids are new.
 */
#ifndef SKEIN_TRACE_MERGE_H
#define SKEIN_TRACE_MERGE_H

#include "trace/trace.h"

/* Prefix of the info keys with the names of the merged traces, which are shown to people. */
#define MERGED_INFO "merged."

struct merge_part {
	struct trace *trace; /* the trace, which the caller owns; must outlive the source */
	const char *name; /* name of the file, which the caller owns; also used in messages */
};

/*
 * tell() is called now and then with context, and with the numbers of stream records read and to
 * read.
 */
struct merge_progress {
	void (*report)(void *context, uint64_t done, uint64_t all);
	void *context;
};

/*
 * Make a source that delivers kinds in the order of RECORD_KINDS and streams in the order of time.
 * It holds in memory an entry for every entity and stack, and the current chunk of every trace.
 * progress may be NULL. Unreadable parts of a trace are put as a loss (UNREADABLE_CHUNK) of its
 * first host.
 */
int merge_source(struct source **out, const struct merge_part *parts, size_t count,
		 const struct merge_progress *progress, struct error *err);

/* Return whether two of the parts cover the same boot of a machine at the same time. */
bool merge_overlaps(const struct source *s, size_t a, size_t b);
/* Return how many records of a part could not be read; valid after the source has run. */
uint64_t merge_unreadable(const struct source *s, size_t part);

#endif
