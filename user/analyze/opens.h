/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every thread was in at one time, as the slices with which a recording begins: for who
 * leaves out what was before.
 */
#ifndef SKEIN_ANALYZE_OPENS_H
#define SKEIN_ANALYZE_OPENS_H

#include <stddef.h>

#include "base/error.h"
#include "base/record.h"

struct opens;

int opens_new(struct opens **ret, struct error *err);
/* Accepts NULL. */
void opens_free(struct opens *o);

/* Lanes and threads; slices and edges that are left out, in their order. */
int opens_put(struct opens *o, enum record_kind kind, const void *record, struct error *err);

/*
 * Every thread of which something was heard, as a slice on its lane that is open from time (ns) on:
 * the state that it was in then, UNKNOWN maybe. Valid until the next call of any of these.
 * *count of them; NULL without memory.
 */
const struct slice *opens_at(struct opens *o, uint64_t time, size_t *count);

#endif
