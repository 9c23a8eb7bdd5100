/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add samples up per (event, thread, stack, flags of SAMPLE_FLAGS_OF_RUNTIME, class of wait) in a
 * table of fixed size: when the table is full, its owner passes the contents on as one part of the
 * sums and clears the table.
 */
#ifndef SKEIN_TRACE_SUMS_H
#define SKEIN_TRACE_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"

struct sums_slot;

struct sums {
	struct sums_slot *slots;
	struct sum *items; /* the sums, in the order in which their keys first came */
	uint32_t count;
};

int sums_init(struct sums *s); /* returns 0 or -ENOMEM; call sums_free() in both cases */
void sums_free(struct sums *s);
void sums_clear(struct sums *s);

/* Add a sample. Return false and add nothing if there is no room for one more key. */
bool sums_add(struct sums *s, const struct sample *r);

/* Prefetch the memory that sums_add() will access, for a sample that follows soon. */
void sums_prefetch(const struct sums *s, const struct sample *r);

#endif
