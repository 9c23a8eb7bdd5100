/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples added up per (event, thread, stack, SAMPLE_FLAGS_OF_RUNTIME) in a
 * table of fixed size: when it is full, what it holds is passed on as one part
 * of the sums, and it begins anew.
 */
#ifndef SKEIN_TRACE_SUMS_H
#define SKEIN_TRACE_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"

struct sums_slot;

struct sums {
	struct sums_slot *slots;
	struct sum *items; /* in the order of their coming */
	uint32_t count;
};

int sums_init(struct sums *s); /* 0 or -ENOMEM */
void sums_free(struct sums *s);
void sums_clear(struct sums *s);

/* False, and nothing added, if there is no room for one more key. */
bool sums_add(struct sums *s, const struct sample *r);

/* Have what sums_add() will look at fetched from memory, for a sample that comes soon. */
void sums_foresee(const struct sums *s, const struct sample *r);

#endif
