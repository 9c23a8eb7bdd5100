/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entities that wait for the next commit. A program that lives for milliseconds is put when a
 * sample meets it, when it gets its name and when it ends, and each row costs SQLite 5 us and more.
 * So only the last record of an id since the last commit becomes a row.
 */
#ifndef SKEIN_TRACE_WAITING_H
#define SKEIN_TRACE_WAITING_H

#include <stdbool.h>

#include "analyze/shelf.h"
#include "base/error.h"
#include "base/record.h"

/* So many entities wait at most, about 1 MiB of them. */
#define WAITING_MAX 4096

struct waiting_rows {
	struct shelf shelves[KIND_COUNT];
};

typedef int (*waiting_row)(void *context, enum record_kind kind, const void *record,
			   struct error *err);

void waiting_init(struct waiting_rows *w);
void waiting_free(struct waiting_rows *w);

/* Whether records of the kind replace each other by their id: the others cannot wait. */
bool waiting_takes(enum record_kind kind);

/* Copies the record. Returns whether as many wait as may (1), else 0, or a negative errno. */
int waiting_put(struct waiting_rows *w, enum record_kind kind, const void *record,
		struct error *err);

/*
 * Give every record to row(), kind by kind in the order in which their ids came. None waits any
 * more then, also if row() fails, whose error is returned.
 */
int waiting_write(struct waiting_rows *w, waiting_row row, void *context, struct error *err);

#endif
