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
#ifndef SKEIN_TRACE_RETENTION_H
#define SKEIN_TRACE_RETENTION_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"
#include "base/record.h"
#include "trace/columns.h"

struct retention;

struct retention_events {
	/* Write a chunk of slices under an id that is unused. Return 0 or a negative errno. */
	int (*write)(void *context, uint64_t id, const struct columns *slices, struct error *err);
	void *context;
};

/*
 * Keep the last time ns of the recording. The database belongs to the writer and must outlive *out.
 */
int retention_new(struct retention **out, sqlite3 *db, uint64_t time,
		  const struct retention_events *events, struct error *err);
void retention_free(struct retention *k);

/* Note every record that the writer gets, before it is written. Return 0 or a negative errno. */
int retention_put(struct retention *k, enum record_kind kind, const void *record,
		  struct error *err);
/* Begin a new epoch: later records refer to none of the stacks, frames and functions put so far. */
int retention_end_epoch(struct retention *k, struct error *err);
/* Note that a chunk was written. */
void retention_add_chunk(struct retention *k, uint64_t id);
/*
 * End a batch; call in its transaction, after everything is written. Return 0 or a negative errno.
 */
int retention_end_batch(struct retention *k, struct error *err);
/*
 * Delete the records that are older than now (ns) less the time to keep. Call this after
 * retention_end_batch().
 */
int retention_delete_old(struct retention *k, uint64_t now, struct error *err);

/* Return the start of the kept part, ns; 0: nothing was deleted so far. */
uint64_t retention_start(const struct retention *k);

#endif
