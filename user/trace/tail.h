/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each thread did where a trace begins from which older slices and edges are deleted: they
 * are read once more before they go.
 */
#ifndef SKEIN_TRACE_TAIL_H
#define SKEIN_TRACE_TAIL_H

#include "base/pipe.h"
#include "trace/open.h"

struct tail;

int tail_new(struct tail **ret, struct error *err);
/* Accepts NULL. */
void tail_free(struct tail *t);

/* A lane or thread, when it is put. */
int tail_put(struct tail *t, enum record_kind kind, const void *record, struct error *err);

/* Slices and edges in chunks above after, up to until, are going to be deleted. */
int tail_pass(struct tail *t, struct trace *db, uint64_t after, uint64_t until, struct error *err);

/*
 * Every thread of which something was heard, as a slice on its lane that is open from time (ns) on:
 * the state that it was in then, UNKNOWN maybe. Valid until the next call of any of these. *count of them; NULL without memory.
 */
const struct slice *tail_open(struct tail *t, uint64_t time, size_t *count);

#endif
