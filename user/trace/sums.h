/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples added up per (event, thread, stack) between two commits, in a table
 * of fixed size: when it is full, the commit comes early.
 */
#ifndef SKEIN_TRACE_SUMS_H
#define SKEIN_TRACE_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"

struct sums {
	struct sum *slots; /* count 0: free */
	uint32_t *used;	   /* indexes of the slots in use */
	uint32_t count;
};

int sums_init(struct sums *s); /* 0 or -ENOMEM */
void sums_free(struct sums *s);
void sums_clear(struct sums *s);

/* False, and nothing added, if there is no room for one more key. */
bool sums_add(struct sums *s, const struct sample *r);

/* Bring the used slots into the order of their keys, which is the order of the file. */
void sums_sort(struct sums *s);

#endif
