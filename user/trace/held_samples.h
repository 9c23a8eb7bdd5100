/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of waits that have not ended, which a live recording puts for a copy of the trace and at
 * its end. The trace that goes on must not have those of a copy, since they come again. Their
 * lengths are known only when a trace ends: a wait lasts until then, and of a trace that keeps only
 * its last part, it counts from the start of this part on, as in the totals of all waits.
 */
#ifndef SKEIN_TRACE_HELD_SAMPLES_H
#define SKEIN_TRACE_HELD_SAMPLES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/record.h"
#include "base/vector.h"

struct held_samples {
	VECTOR(struct sample) list;
	bool wanted; /* such samples are held */
	uint64_t start, end; /* of the trace that gets the samples, ns; start 0: all are kept */
};

/* Return whether a record is to be held. */
static inline bool held_samples_take(const struct held_samples *h, enum record_kind kind,
				     const void *record)
{
	return h->wanted && kind == KIND_SAMPLE &&
	       ((const struct sample *)record)->flags & SAMPLE_FLAG_NOT_ENDED;
}

/* Set the end of a wait to end, and cut off its part before start; both ns. */
void held_sample_clip(struct sample *s, uint64_t start, uint64_t end);

/* Write the samples into a copy of the trace. Return 0 or a negative errno. */
int held_samples_write(const struct held_samples *h, sqlite3 *to, struct error *err);

#endif
