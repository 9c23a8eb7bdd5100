/* SPDX-License-Identifier: Apache-2.0 */
/* Write the counters of a page without a server, for user/view/embed.c. */
#ifndef SKEIN_VIEW_EMBED_COUNTERS_H
#define SKEIN_VIEW_EMBED_COUNTERS_H

#include "view/embed.h"

/* Append a number of 64 bits to columns, the smaller the shorter. Return 0 or -ENOMEM. */
int view_embed_number(struct embed_bytes *to, uint64_t value);

/*
 * Set e->times and e->values to those of the points of all counters that have rows: times as
 * differences, the first one of each counter from the base; values as doubles, little-endian.
 * Return 0, -ENOMEM, or -E2BIG if there are more than e->most of them and of stretches.
 */
int view_embed_counters(struct embedded *e);
/* Write the member "counters": the name of each lane, and the number of its points. */
void view_embed_write_counters(const struct embedded *e, struct json *j);

#endif
