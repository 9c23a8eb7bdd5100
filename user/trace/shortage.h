/* SPDX-License-Identifier: Apache-2.0 */
/*
 * End a recording that runs out of room (a full disk, a quota, RLIMIT_FSIZE), with a trace that
 * says so: room for the last rows is reserved at the start, and the records lost with a failed
 * transaction and later are counted. The caller writes the rows.
 */
#ifndef SKEIN_TRACE_SHORTAGE_H
#define SKEIN_TRACE_SHORTAGE_H

#include <stdbool.h>

#include "base/error.h"
#include "trace/reserve.h"
#include "trace/unstored.h"

struct shortage {
	bool armed; /* the reserve was taken; else nothing is counted and no shortage begins */
	/* negative errno of the shortage, such as -ENOSPC; 0: there is none */
	int code;
	struct reserve reserve;
	uint64_t file_limit; /* RLIMIT_FSIZE, bytes of a file; 0: no limit */
	struct unstored unstored;
	/* largest time of a record or tick so far, and its value at the last commit, ns */
	uint64_t time, stored;
	struct host host; /* the host's times and id; its texts are not kept */
};

/* Take the reserve for the trace at path, and note RLIMIT_FSIZE. Return 0 or a negative errno. */
int shortage_arm(struct shortage *s, const char *path, struct error *err);
void shortage_free(struct shortage *s);

/* Call this for every record that the writer gets. Return 0 or -ENOMEM. */
int shortage_put(struct shortage *s, enum record_kind kind, const void *record);
/* Call this at a tick: all records up to that time (ns) have been put. */
void shortage_tick(struct shortage *s, uint64_t time);
/* Call this after a commit: all records put so far are stored. */
void shortage_committed(struct shortage *s);

/* Return whether a trace of that many bytes leaves room for its last rows below RLIMIT_FSIZE. */
bool shortage_fits(const struct shortage *s, uint64_t bytes);
/*
 * Call this when a write failed with the negative errno code. If there was no room, begin the
 * shortage and return true: from then on, only the rows of shortage_rows() may be stored. Return
 * false for other errors, in a shortage, and if the reserve was not taken.
 */
bool shortage_begin(struct shortage *s, int code);

/*
 * Release the reserve, and put the rows that describe how the recording ended: the rows for the
 * recording and its losses that were put since the last commit, and TRACE_ENDED. start: start of
 * the kept part, ns; 0: nothing was deleted. Return 0 or the error of put().
 */
int shortage_rows(struct shortage *s, uint64_t start,
		  int (*put)(void *context, enum record_kind kind, const void *record,
			     struct error *err),
		  void *context, struct error *err);
/* Set err to what ran out and how much of the recording is in the trace. Return s->code. */
int shortage_report(const struct shortage *s, const char *path, struct error *err);

#endif
