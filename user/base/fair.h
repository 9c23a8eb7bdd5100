/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue that is fair among users: each owner has a queue of its own, and whoever has used least
 * of the server's time goes next, so that one owner's requests, however many or slow they are, cost
 * another's no more than an equal share. Within an owner's queue the lower rank goes first.
 *
 * The server takes one request after the other and answers in that order; what a request took is
 * charged to its owner when it has been served. Zeroed memory is an empty queue.
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
	uint64_t used;	/* ns of the server's time; what it did not want counts as used */
	uint64_t usual; /* ns that one of its requests takes */
	uint64_t held;	/* until then, ns, it has no turn */
	unsigned int strikes; /* how often it was held in a row */
	struct queue ranks[FAIR_RANKS];
	size_t bytes;
	UT_hash_handle hh;
};

struct fair {
	struct fair_owner *owners;
	uint64_t count;
	size_t bytes;
	uint64_t now;	 /* ns of a steady clock: the user of the queue keeps it */
	uint64_t floor;	 /* used by the owner that had the last turn */
	uint64_t served; /* ns of CLOCK_MONOTONIC: the server's time is charged from there on */
};

/* 0 or -ENOMEM. */
int fair_put(struct fair *f, uint32_t uid, unsigned int rank, struct queue_item *item,
	     size_t bytes);
/* The same, but before all others of that owner and rank: it has had its turn, for nothing. */
int fair_return(struct fair *f, uint32_t uid, unsigned int rank, struct queue_item *item);

/* Whose turn it is; NULL: there is nothing, or only of owners that are held. */
struct fair_owner *fair_next(const struct fair *f);
/* The first request of an owner that has one; taken, it costs a little at once. */
struct queue_item *fair_first(const struct fair_owner *w);
struct queue_item *fair_take(struct fair *f, struct fair_owner *w);
/* NULL for one that is not known. */
struct fair_owner *fair_owner_of(const struct fair *f, uint32_t uid);
/* Take out what pick() says of an owner's requests; in their order, ranks one after the other. */
struct queue fair_pick(struct fair *f, struct fair_owner *w,
		       bool (*pick)(const struct queue_item *item, const void *context),
		       const void *context);
/* The owner whose requests take the most room; NULL if there are none. */
struct fair_owner *fair_largest(const struct fair *f);

/* The server, which was idle, begins; it has served a request of that owner, or died over it. */
void fair_begin(struct fair *f);
void fair_served(struct fair *f, uint32_t uid);
/* It has made the server hang: no turn for two seconds, and for twice as long each time. */
void fair_hold(struct fair *f, uint32_t uid);

/* Take everything out, owner by owner; NULL when nothing is left, and nobody is known. */
struct queue_item *fair_empty(struct fair *f);

#endif
