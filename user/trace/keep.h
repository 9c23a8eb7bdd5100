/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace that keeps only the last while: what is older is deleted, chunk by chunk, with the
 * entities that nothing refers to any more. The file and the memory of its writer stay as large as
 * what is kept.
 *
 * Everything that was put between two commits is one batch, and goes as a whole. What
 * each thread did when the first batch that is kept began is put in place of what is deleted, as
 * open slices on the threads' lanes: so the states of threads follow from a trace like any other.
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
	/* Write a chunk of slices under that id, which is free. 0 or a negative errno. */
	int (*write)(void *context, uint64_t id, const struct columns *slices, struct error *err);
	void *context;
};

/* time: ns to keep. The database is the writer's, and outlives it. */
int keep_new(struct keep **ret, sqlite3 *db, uint64_t time, const struct keep_events *events,
	     struct error *err);
void keep_free(struct keep *k);

/* Of everything that the writer is given, before it is written. 0 or a negative errno. */
int keep_put(struct keep *k, enum record_kind kind, const void *record, struct error *err);
/* Stacks, frames and functions put so far will not be referred to by what comes. */
int keep_forget(struct keep *k, struct error *err);
/* A chunk was written. */
void keep_chunk(struct keep *k, uint64_t id);
/* A batch ends: in its transaction, when all is written. 0 or a negative errno. */
int keep_commit(struct keep *k, struct error *err);
/* After keep_commit(): delete what is older than now (ns) less what is to be kept. */
int keep_drop(struct keep *k, uint64_t now, struct error *err);

/* When what is kept begins, ns; 0: nothing was deleted so far. */
uint64_t keep_start(const struct keep *k);

#endif
