/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hold entities until the next commit. A program that lives for milliseconds is put when a sample
 * first refers to it, when its name becomes known and when it ends, and each row costs SQLite 5 us
 * or more. So only the last record of an id since the last commit becomes a row.
 */
#ifndef SKEIN_TRACE_WAITING_H
#define SKEIN_TRACE_WAITING_H

#include <stdbool.h>

#include "analyze/entity_store.h"
#include "base/error.h"
#include "base/record.h"

/* Maximum number of entities of one kind that are held; they take about 1 MiB. */
#define WAITING_MAX 4096

struct waiting_rows {
	struct entity_store shelves[KIND_COUNT];
};

typedef int (*waiting_row)(void *context, enum record_kind kind, const void *record,
			   struct error *err);

void waiting_init(struct waiting_rows *w);
void waiting_free(struct waiting_rows *w);

/*
 * Return whether records of the kind replace each other by their id: only such records can be held.
 */
bool waiting_takes(enum record_kind kind);

/*
 * Hold a copy of the record. Return 1 if no more may be held (call waiting_write()), else 0 or a
 * negative errno.
 */
int waiting_put(struct waiting_rows *w, enum record_kind kind, const void *record,
		struct error *err);

/*
 * Pass every record to row(), kind by kind in the order in which their ids were first put. No
 * record is held after that, even if row() fails; its error is returned.
 */
int waiting_write(struct waiting_rows *w, waiting_row row, void *context, struct error *err);

#endif
