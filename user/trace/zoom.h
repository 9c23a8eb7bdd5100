/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write the zoom pyramid and checkpoints beside the records, computed from the records as they are
 * put, so that a window of any length can be shown quickly.
 */
#ifndef SKEIN_TRACE_ZOOM_H
#define SKEIN_TRACE_ZOOM_H

#include <stdbool.h>

#include "base/pipe.h"
#include "trace/pyramid.h"
#include "trace/sql.h"

struct zoom;

/*
 * begin() is called before each change of db, to open the transaction if it is not open. It returns
 * 0 or a negative errno.
 */
struct zoom_events {
	int (*begin)(void *context, struct error *err);
	void *context;
};

/*
 * Prepare to write to db, which must outlive *out. Return 0 or a negative errno, like all functions
 * below.
 */
int zoom_new(struct zoom **out, sqlite3 *db, const struct zoom_events *events, struct error *err);
/* Free the zoom; z may be NULL. Call this before db is closed. */
void zoom_free(struct zoom *z);

/* Return the zoom of a sink of trace_writer(). */
struct zoom *trace_writer_zoom(struct sink *s);

/* For tests, before the first record is put: make blocks smaller and checkpoints more frequent. */
void zoom_set(struct zoom *z, const struct pyramid_options *options);

/* Process any record that the writer gets; kinds that do not matter are ignored. */
int zoom_put(struct zoom *z, enum record_kind kind, const void *record, struct error *err);

/*
 * Return whether a checkpoint is due. The caller then writes all slices and edges put so far into
 * chunks, and calls zoom_checkpoint().
 */
bool zoom_is_due(const struct zoom *z);
/* Write a checkpoint. All slices and edges put so far must be in chunks with ids up to chunk. */
int zoom_checkpoint(struct zoom *z, uint64_t chunk, struct error *err);

/*
 * Call this when checkpoints may have been deleted: the next checkpoint holds every lane and refers
 * to no earlier checkpoint.
 */
void zoom_forget_base(struct zoom *z);

/* Write the remaining blocks of the pyramid, after the last record. */
int zoom_finish(struct zoom *z, struct error *err);

#endif
