/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep only the most recent part of a recording (--keep): older records are deleted, together with
 * entities to which no record refers any more. The file and the memory of its writer stay
 * proportional to the kept part.
 *
 * All records put between two commits form a batch, which is deleted as a whole. The deleted
 * records are replaced by the state of each thread at the end of the last deleted batch, as open
 * slices on the threads' lanes, so that the states of threads can be derived as from any other
 * trace.
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
	/* Write a chunk of slices with this unused chunk.id. Return 0 or a negative errno. */
	int (*write)(void *context, uint64_t id, const struct columns *slices, struct error *err);
	void *context;
};

/*
 * Make the state for keeping the last time ns of the recording. db belongs to the writer and must
 * outlive *out. Return 0 or a negative errno.
 */
int retention_new(struct retention **out, sqlite3 *db, uint64_t time,
		  const struct retention_events *events, struct error *err);
void retention_free(struct retention *k);

/* Call this for every record, before it is written. Return 0 or a negative errno. */
int retention_put(struct retention *k, enum record_kind kind, const void *record,
		  struct error *err);
/*
 * Keep this stack as long as the current batch: a record that is not written yet refers to it. Its
 * time is not that of the records now written, so it does not count for the batch.
 */
void retention_hold_stack(struct retention *k, uint64_t stack);
/*
 * Begin a new epoch: later records refer to none of the stacks, frames and functions put so far.
 * Return 0 or a negative errno.
 */
int retention_end_epoch(struct retention *k, struct error *err);
/* Call this after a chunk was written with that chunk.id. */
void retention_add_chunk(struct retention *k, uint64_t id);
/*
 * End a batch. Call this in the transaction of the batch, after everything is written. Return 0 or
 * a negative errno.
 */
int retention_end_batch(struct retention *k, struct error *err);
/*
 * Delete the batches whose records all ended before now (ns) less the time to keep, or at the
 * latest when their times are before now less twice that time. The last batch stays. Call this
 * after retention_end_batch(). Return 0 or a negative errno.
 */
int retention_delete_old(struct retention *k, uint64_t now, struct error *err);

/*
 * Let retention_delete_old() delete more while the file has more than so many bytes in use: an
 * eighth of the time to keep less at each call, but at least a second stays.
 */
void retention_limit(struct retention *k, uint64_t bytes);

/* Return the start of the kept part, ns; 0: nothing was deleted so far. */
uint64_t retention_start(const struct retention *k);

#endif
