/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a trace's tables that nothing refers to, once what happened before a time is deleted. */
#ifndef SKEIN_TRACE_OLD_ROWS_H
#define SKEIN_TRACE_OLD_ROWS_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"
#include "base/record.h"

struct old_rows;

int old_rows_new(struct old_rows **ret, sqlite3 *db, struct error *err);
/* Accepts NULL. */
void old_rows_free(struct old_rows *o);

/* Of what is put: so that rows are looked through only when there is something to find. */
void old_rows_put(struct old_rows *o, enum record_kind kind, const void *record);

/*
 * Records before start (ns) are gone, and chunks up to that id but for stacks. Entities go when
 * they ended so long (ns) before: what came late, or began before start, may still refer to them.
 */
int old_rows_delete(struct old_rows *o, uint64_t start, uint64_t margin, uint64_t chunk,
		    struct error *err);
/* Nothing refers to stacks, frames (with what is inlined there) and functions up to these ids. */
int old_rows_stacks(struct old_rows *o, uint64_t stack, uint64_t frame, uint64_t function,
		    struct error *err);

#endif
