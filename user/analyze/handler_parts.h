/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up parts of the sums of what served interrupts: those of windows that are added up, and
 * those that a source puts for windows and flights (capture_interrupts.parts).
 */
#ifndef SKEIN_ANALYZE_HANDLER_PARTS_H
#define SKEIN_ANALYZE_HANDLER_PARTS_H

#include <stdbool.h>

#include "analyze/index.h"
#include "base/pipe.h"
#include "base/vector.h"

struct handler_part {
	struct handler sum;
	char *name; /* of sum */
	bool changed; /* since it was taken last */
};

/* Zeroed memory is empty. */
struct handler_parts {
	VECTOR(struct handler_part) list; /* of a handler on a CPU each, all that there ever was */
	struct index of; /* lane and number -> index in list */
};

/* Find the sum of the handler and CPU of a record, made if need be. Return 0 or -ENOMEM. */
int handler_parts_find(struct handler_parts *p, const struct handler *r, uint32_t *out);
/* Add what a record has to sum number i. */
void handler_parts_add(struct handler_parts *p, uint32_t i, const struct handler *r);
/* Take a record: the two functions above. Return 0 or -ENOMEM. */
int handler_parts_take(struct handler_parts *p, const struct handler *r);
/*
 * Return sum number i (below p->list.count) if it has changed since the last call, else NULL. It is
 * valid until the next change.
 */
const struct handler *handler_parts_changed(struct handler_parts *p, size_t i);
/* Put all sums, also those that are 0. Return 0 or a negative errno. */
int handler_parts_put(const struct handler_parts *p, struct sink *to, struct error *err);
/* Begin the next window: all sums are 0. */
void handler_parts_next(struct handler_parts *p);
/* Begin a file of the window, which has nothing yet. */
void handler_parts_again(struct handler_parts *p);
void handler_parts_free(struct handler_parts *p);

#endif
