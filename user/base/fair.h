/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue that is fair among owners. Each owner has a queue of its own, and the owner that has used
 * least of the server's time goes next, so that the requests of one owner, however many or slow
 * they are, cost another owner no more than an equal share. Within an owner's queue the lowest rank
 * goes first.
 *
 * The server takes one request after the other and replies in that order. The time that a request
 * took is charged to its owner when the request has been served. Zeroed memory is an empty queue.
 */
#ifndef SKEIN_BASE_FAIR_H
#define SKEIN_BASE_FAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/queue.h"

#define FAIR_RANKS 3

struct fair_owner {
	uint32_t uid;
	/* ns of the server's time; raised to floor when requests come after a time without any */
	uint64_t used;
	uint64_t usual; /* ns that a request of the owner takes: a moving average */
	uint64_t held; /* time (ns) until which the owner has no turn */
	unsigned int strikes; /* number of times the owner was held; at most 8 are counted */
	struct queue ranks[FAIR_RANKS];
	size_t bytes;
	UT_hash_handle hh;
};

struct fair {
	struct fair_owner *owners;
	uint64_t count;
	size_t bytes;
	uint64_t now; /* ns of a steady clock; set by the user of the queue */
	uint64_t floor; /* largest value of used with which an owner has had a turn */
	uint64_t served; /* ns of CLOCK_MONOTONIC from which the server's time is charged */
};

/* Add a request of an owner. Return 0 or -ENOMEM. */
int fair_put(struct fair *f, uint32_t uid, unsigned int rank, struct queue_item *item,
	     size_t bytes);
/*
 * Put back a request that was taken but not served, before all others of that owner and rank.
 * Return 0 or -ENOMEM.
 */
int fair_return(struct fair *f, uint32_t uid, unsigned int rank, struct queue_item *item);

/*
 * Return the owner whose turn it is; NULL if there are no requests, or only those of held owners.
 */
struct fair_owner *fair_next_owner(const struct fair *f);
/*
 * Return the first request of an owner; NULL if there is none. fair_take() also removes the
 * request, and charges a small cost to the owner at once.
 */
struct queue_item *fair_first(const struct fair_owner *w);
struct queue_item *fair_take(struct fair *f, struct fair_owner *w);
/* Return the owner of that uid; NULL if the uid has had no requests, or was forgotten. */
struct fair_owner *fair_owner_of(const struct fair *f, uint32_t uid);
/*
 * Remove and return the requests of an owner for which pick() returns true, in their order, rank by
 * rank.
 */
struct queue fair_pick(struct fair *f, struct fair_owner *w,
		       bool (*pick)(const struct queue_item *item, const void *context),
		       const void *context);
/* Return the owner whose requests take the most bytes; NULL if there are no requests. */
struct fair_owner *fair_largest_owner(const struct fair *f);

/*
 * Call fair_begin() when a request is sent to an idle server, and fair_served() when the server has
 * served a request of that owner, or has failed at it. The time since the last of these calls is
 * charged to the owner.
 */
void fair_begin(struct fair *f);
void fair_served(struct fair *f, uint32_t uid);
/*
 * Give the owner, which has made the server hang, no turn for two seconds, and for twice as long
 * each further time, up to 8.5 minutes. Nothing happens without memory for a new owner.
 */
void fair_hold(struct fair *f, uint32_t uid);

/*
 * Remove a request of any owner and return it. Return NULL when no requests are left; no owners are
 * left then, either.
 */
struct queue_item *fair_drain(struct fair *f);

#endif
