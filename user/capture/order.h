/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings the records of many rings into one order by time. A record is released when every ring has
 * passed its time. A ring passes the time of each record read from it; when a ring is found empty,
 * it passes the present time less a margin for records that are stamped but not yet visible. So a
 * sample is processed with the processes and mappings that existed at its time, unless a record
 * comes even later than the margin (ordered_record.late).
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

/*
 * Add a ring. Until the first order_set_passed() for the ring, it does not hold back records of
 * other rings. Return its number, or -ENOMEM.
 */
int order_add_ring(struct order *o);
/*
 * Drop a ring that is gone: it no longer holds back records of other rings; its own records are
 * still released.
 */
void order_drop_ring(struct order *o, int ring);
/* Use a dropped ring again, under its old number and as after order_add_ring(). */
void order_reopen_ring(struct order *o, int ring);

/*
 * Push a copy of a record; time: ns. Records of one ring may be slightly out of order. Return 0 or
 * -ENOMEM.
 */
int order_push(struct order *o, int ring, uint64_t time, const void *data, uint32_t size);
/*
 * Set the time that a ring has passed: no record older than time, ns, is expected from it any more.
 */
void order_set_passed(struct order *o, int ring, uint64_t time);

struct ordered_record {
	uint64_t time; /* ns */
	const void *data; /* valid until the next call of a function of the order */
	uint32_t size; /* bytes */
	int ring;
	bool late; /* the record was pushed after younger ones had been released */
};

/*
 * Return the time, ns, of the oldest record whose time every ring has passed; UINT64_MAX if there
 * is none. Cheap enough to be called for every record.
 */
uint64_t order_next_time(struct order *o);
/* Release the record whose time order_next_time() has just returned. */
void order_release(struct order *o, struct ordered_record *out);

/* Free large memory of which less than a quarter was needed since the last call. */
void order_tidy(struct order *o);

/*
 * Return the time, ns, that every ring has passed: no older records are expected from any ring.
 * UINT64_MAX if no ring holds back records.
 */
uint64_t order_mark(struct order *o);

/* Mark all rings as having passed everything, to release all records at the end. */
void order_close(struct order *o);

#endif
