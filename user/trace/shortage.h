/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that runs out of room (a full disk, a quota, RLIMIT_FSIZE) ends, and its trace says
 * so: what is needed for that is reserved at the begin, and what a failed transaction takes with
 * it is counted. The writer does the writing.
 */
#ifndef SKEIN_TRACE_SHORTAGE_H
#define SKEIN_TRACE_SHORTAGE_H

#include <stdbool.h>

#include "base/error.h"
#include "trace/reserve.h"
#include "trace/unstored.h"

struct shortage {
	bool armed;		/* the reserve was taken; without it nothing here does anything */
	int code;		/* what is lacking, such as -ENOSPC; 0: nothing */
	struct reserve reserve;
	uint64_t file_limit;	/* bytes of a file, RLIMIT_FSIZE; 0: none */
	struct unstored unstored;
	uint64_t time, stored;	/* ns: of the last record put; of the last one committed */
	struct host host;	/* the times of it, and its id; no texts */
};

int shortage_arm(struct shortage *s, const char *path, struct error *err);
void shortage_free(struct shortage *s);

/* Of everything that the writer is given. 0 or -ENOMEM. */
int shortage_put(struct shortage *s, enum record_kind kind, const void *record);
/* All that happened until then (ns) has been put. */
void shortage_tick(struct shortage *s, uint64_t time);
void shortage_committed(struct shortage *s);

/* Whether a trace of so many bytes leaves room for its end below RLIMIT_FSIZE. */
bool shortage_fits(const struct shortage *s, uint64_t bytes);
/* A write failed: true if for want of room, and from now on nothing is stored but the end. */
bool shortage_takes(struct shortage *s, int code);

/*
 * Give the reserve back, and put the rows that tell how the recording ended: those that the failed
 * transaction took with it, and those that came later. start: of what is kept, ns; 0: all is.
 */
int shortage_rows(struct shortage *s, uint64_t start,
		  int (*put)(void *context, enum record_kind kind, const void *record,
			     struct error *err),
		  void *context, struct error *err);
/* Say what is lacking, and how much of the recording is in the trace. Returns s->code. */
int shortage_say(const struct shortage *s, const char *path, struct error *err);

#endif
