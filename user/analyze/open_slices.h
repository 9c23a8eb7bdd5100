/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find the state of every thread at one time, as open slices like those with which a recording
 * begins. This is for code that leaves out earlier records.
 */
#ifndef SKEIN_ANALYZE_OPEN_SLICES_H
#define SKEIN_ANALYZE_OPEN_SLICES_H

#include <stddef.h>

#include "base/error.h"
#include "base/record.h"

struct open_slices;

int open_slices_new(struct open_slices **out, struct error *err);
/* Free the object, which may be NULL. */
void open_slices_free(struct open_slices *o);

/*
 * Process lanes and threads, and the slices and edges that the caller leaves out, in the order of
 * the source. Return 0 or -ENOMEM.
 */
int open_slices_put(struct open_slices *o, enum record_kind kind, const void *record,
		    struct error *err);

/*
 * Return an array of *count slices: for every live thread with a known lane and a state, a slice on
 * its lane that is open from time (ns) on, with the thread's state after all records put so far.
 * The state may be UNKNOWN. The array is valid until the next open_slices_at() or
 * open_slices_free(); NULL without memory.
 */
const struct slice *open_slices_at(struct open_slices *o, uint64_t time, size_t *count);

/*
 * Drop threads that have ended without a record of that, so that memory does not grow in a run
 * without an end. Return 0 or -ENOMEM.
 */
int open_slices_drop_dead(struct open_slices *o, struct error *err);

#endif
