/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the trace writer keeps beside the records so that a window of any length can be shown at
 * once: the zoom pyramid and checkpoints, made from the records as they are put.
 */
#ifndef SKEIN_TRACE_ZOOM_H
#define SKEIN_TRACE_ZOOM_H

#include <stdbool.h>

#include "base/pipe.h"
#include "trace/pyramid.h"
#include "trace/sql.h"

struct zoom;

/* Called before each row is put into db, which is the transaction's. */
struct zoom_events {
	int (*begin)(void *context, struct error *err);
	void *context;
};

int zoom_new(struct zoom **ret, sqlite3 *db, const struct zoom_events *events, struct error *err);
/* Accepts NULL. Before db is closed. */
void zoom_free(struct zoom *z);

/* Of a sink of trace_writer(). */
struct zoom *trace_writer_zoom(struct sink *s);

/* For tests, before the first record is put: smaller blocks, nearer checkpoints. */
void zoom_set(struct zoom *z, const struct pyramid_options *options);

/* Any record that the writer was given. */
int zoom_put(struct zoom *z, enum record_kind kind, const void *record, struct error *err);

/* Whether it is time for a checkpoint: once slices and edges are all in chunks. */
bool zoom_is_due(const struct zoom *z);
/* They are, in those with an id up to chunk. */
int zoom_checkpoint(struct zoom *z, uint64_t chunk, struct error *err);

/* Checkpoints may have been deleted: the next tells of every lane, and leans on no other. */
void zoom_lean_on_none(struct zoom *z);

/* There will be no more records. */
int zoom_finish(struct zoom *z, struct error *err);

#endif
