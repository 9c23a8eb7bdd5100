/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep only the most recent part of a recording (--keep): older records are deleted, chunk by
 * chunk, together with entities to which no record refers any more. The file and the memory of its
 * writer stay proportional to the kept part.
 *
 * All records put between two commits form a batch, which is deleted as a whole. The deleted
 * records are replaced by the state of each thread when the first kept batch began, as open slices
 * on the threads' lanes, so that the states of threads can be derived as from any other trace.
 */
#ifndef SKEIN_TRACE_KEEP_H
#define SKEIN_TRACE_KEEP_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"
#include "base/record.h"
#include "trace/columns.h"

struct keep;

struct keep_events {
	/* Write a chunk of slices under an id that is unused. Return 0 or a negative errno. */
	int (*write)(void *context, uint64_t id, const struct columns *slices, struct error *err);
	void *context;
};

/*
 * Keep the last time ns of the recording. The database belongs to the writer and must outlive *ret.
 */
int keep_new(struct keep **ret, sqlite3 *db, uint64_t time, const struct keep_events *events,
	     struct error *err);
void keep_free(struct keep *k);

/* Note every record that the writer gets, before it is written. Return 0 or a negative errno. */
int keep_put(struct keep *k, enum record_kind kind, const void *record, struct error *err);
/* Begin a new epoch: later records refer to none of the stacks, frames and functions put so far. */
int keep_forget(struct keep *k, struct error *err);
/* Note that a chunk was written. */
void keep_chunk(struct keep *k, uint64_t id);
/*
 * End a batch; call in its transaction, after everything is written. Return 0 or a negative errno.
 */
int keep_commit(struct keep *k, struct error *err);
/*
 * Delete the records that are older than now (ns) less the time to keep. Call this after
 * keep_commit().
 */
int keep_drop(struct keep *k, uint64_t now, struct error *err);

/* Return the start of the kept part, ns; 0: nothing was deleted so far. */
uint64_t keep_start(const struct keep *k);

#endif
