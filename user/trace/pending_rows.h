/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hold entities until the next commit. A program that lives for milliseconds is put when a sample
 * first refers to it, when its name becomes known and when it ends, and each row costs SQLite 5 us
 * or more. So only the last record of an id since the last commit becomes a row.
 */
#ifndef SKEIN_TRACE_PENDING_ROWS_H
#define SKEIN_TRACE_PENDING_ROWS_H

#include <stdbool.h>

#include "analyze/entity_store.h"
#include "base/error.h"
#include "base/record.h"

/* Maximum number of entities of one kind that are held; they take about 1 MiB. */
#define PENDING_ROWS_MAX 4096

struct pending_rows {
	struct entity_store by_kind[KIND_COUNT];
};

typedef int (*pending_row_writer)(void *context, enum record_kind kind, const void *record,
				  struct error *err);

void pending_rows_init(struct pending_rows *w);
void pending_rows_free(struct pending_rows *w);

/*
 * Return whether records of the kind replace each other by their id: only such records can be held.
 */
bool pending_rows_can_hold(enum record_kind kind);

/*
 * Hold a copy of the record, in place of an earlier record with its id. Return 0; 1 if the maximum
 * is reached, so that pending_rows_write() must be called now; or a negative errno.
 */
int pending_rows_put(struct pending_rows *w, enum record_kind kind, const void *record,
		     struct error *err);

/*
 * Pass every record to row(), kind by kind in the order in which their ids were first put, until
 * row() fails, and return 0 or its error. No record is held after that, even if row() failed.
 */
int pending_rows_write(struct pending_rows *w, pending_row_writer row, void *context,
		       struct error *err);

#endif
