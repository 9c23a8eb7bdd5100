/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One order out of many rings. A record is released when every ring has
 * passed its time: a ring passes the time of what was last read from it, or,
 * when it was found empty, that moment less a margin for records that were
 * stamped but not yet visible. So a sample always meets the processes and
 * mappings of its moment.
 */
#ifndef SKEIN_CAPTURE_ORDER_H
#define SKEIN_CAPTURE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct order;

/* NULL without memory. */
struct order *order_new(void);
void order_free(struct order *o);

/* A new ring; it holds nothing back until it has been read once. Its number, or -ENOMEM. */
int order_add_ring(struct order *o);
/* The ring is gone: it holds nothing back any more; what it gave is still released. */
void order_drop_ring(struct order *o, int ring);
/* A ring that was dropped is there again, under its number. */
void order_reopen_ring(struct order *o, int ring);

/* Take a copy of a record. Records of one ring may be slightly out of order. */
int order_push(struct order *o, int ring, uint64_t time, const void *data, uint32_t size);
/* Nothing older than time will come from the ring, as far as can be told. */
void order_passed(struct order *o, int ring, uint64_t time);

/*
 * Call handle for every record that may be released, in order of time, until
 * one returns non-zero, which is returned. late: it came after younger ones had been
 * released. limit: release nothing younger (UINT64_MAX: no limit).
 */
typedef int (*order_handler)(void *context, int ring, uint64_t time, const void *data,
			     uint32_t size, bool late);
int order_release(struct order *o, uint64_t limit, order_handler handle, void *context);

/* Give back what memory has not been needed since the last call. */
void order_tidy(struct order *o);

/* Time of the oldest record that is held, ns; UINT64_MAX: none. */
uint64_t order_next(struct order *o);

/* What is older than this, ns, has come from every ring, as far as can be told. */
uint64_t order_mark(struct order *o);

/* Every ring has passed everything: release all at the end. */
void order_close(struct order *o);

#endif
