/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings the records of many rings into one order by time. A record is released when every ring has
 * passed its time: a ring passes the time of the last record read from it or, when it was found
 * empty, that moment less a margin for records that are stamped but not yet visible. So a sample is
 * always processed with the processes and mappings of its moment.
 */
#ifndef SKEIN_CAPTURE_ORDER_H
#define SKEIN_CAPTURE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct order;

/* Return a new order, or NULL without memory. */
struct order *order_new(void);
void order_free(struct order *o);

/* Add a ring; it holds nothing back until it has been read once. Return its number, or -ENOMEM. */
int order_add_ring(struct order *o);
/* The ring is gone: it no longer holds records back; those already pushed are still released. */
void order_drop_ring(struct order *o, int ring);
/* A dropped ring is back, under its old number. */
void order_reopen_ring(struct order *o, int ring);

/*
 * Push a copy of a record; time: ns. Records of one ring may be slightly out of order. Return 0 or
 * -ENOMEM.
 */
int order_push(struct order *o, int ring, uint64_t time, const void *data, uint32_t size);
/* No record older than time, ns, is expected from the ring any more. */
void order_passed(struct order *o, int ring, uint64_t time);

/*
 * Call handle for every record that may be released, in order of time, until one call returns
 * non-zero, and return that value. late: the record was pushed after younger ones had been
 * released. limit: release no record younger than this time, ns (UINT64_MAX: no limit).
 */
typedef int (*order_handler)(void *context, int ring, uint64_t time, const void *data,
			     uint32_t size, bool late);
int order_release(struct order *o, uint64_t limit, order_handler handle, void *context);

/* Free the memory that has not been needed since the last call. */
void order_tidy(struct order *o);

/* Return the time of the oldest record held, ns; UINT64_MAX: none. */
uint64_t order_next(struct order *o);

/* Return the time, ns, that every ring has passed: no older records are expected from any ring. */
uint64_t order_mark(struct order *o);

/* Mark all rings as having passed everything, to release all records at the end. */
void order_close(struct order *o);

#endif
