/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delete the rows of a trace's tables to which no record refers any more, after records before a
 * time were deleted (--keep).
 */
#ifndef SKEIN_TRACE_OLD_ROWS_H
#define SKEIN_TRACE_OLD_ROWS_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"
#include "base/record.h"

struct old_rows;

/* Make the state for deleting rows of db, which must outlive *out. Return 0 or -ENOMEM. */
int old_rows_new(struct old_rows **out, sqlite3 *db, struct error *err);
/* Free the state; o may be NULL. */
void old_rows_free(struct old_rows *o);

/* Count the records put, so that tables are searched only when there is enough to delete. */
void old_rows_put(struct old_rows *o, enum record_kind kind, const void *record);

/*
 * Delete entities that ended more than margin ns before start: later entities may still be referred
 * to by late records, or by records that began before start. Call this after the records before
 * start (ns), and all chunks up to id chunk except those of stacks, were deleted.
 */
int old_rows_delete(struct old_rows *o, uint64_t start, uint64_t margin, uint64_t chunk,
		    struct error *err);
/*
 * Delete stacks, frames (with their inlined functions) and functions up to these ids, to which no
 * record refers any more.
 */
int old_rows_stacks(struct old_rows *o, uint64_t stack, uint64_t frame, uint64_t function,
		    struct error *err);

#endif
