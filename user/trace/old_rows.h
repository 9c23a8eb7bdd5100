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

/*
 * Count the losses and the ended processes and threads among the records put, so that tables are
 * searched only when there is enough to delete.
 */
void old_rows_put(struct old_rows *o, enum record_kind kind, const void *record);

/*
 * Set start (ns) as the start of all hosts, delete the blocks of the pyramid and the checkpoints
 * that belong to deleted records, and set the info row CHUNKS_DROPPED. If enough entities have
 * ended, also delete those that ended more than margin ns before start: late records, or records
 * that began before start, may still refer to entities that ended later. Call this after the
 * records before start, and all chunks up to id chunk except those of stacks, were deleted. Return
 * 0 or a negative errno.
 */
int old_rows_delete(struct old_rows *o, uint64_t start, uint64_t margin, uint64_t chunk,
		    struct error *err);
/* Last ids to be deleted. */
struct old_ids {
	uint64_t stack, frame, function, name;
};

/*
 * Delete frames (with their inlined functions), functions and names up to these ids, and the chunks
 * whose stacks all have ids up to last->stack. No record that is kept may refer to these rows.
 * Return 0 or a negative errno.
 */
int old_rows_stacks(struct old_rows *o, const struct old_ids *last, struct error *err);

#endif
