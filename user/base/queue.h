/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of structs that begin with a struct queue_item. Zeroed memory is an empty queue.
 *
 *	struct request { struct queue_item item; ... };
 *	queue_put(&q, &r->item, sizeof(*r));
 *	r = (struct request *)queue_take(&q);
 */
#ifndef SKEIN_BASE_QUEUE_H
#define SKEIN_BASE_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct queue_item {
	struct queue_item *next;
	size_t bytes; /* memory that the item counts for, as passed to queue_put() */
};

struct queue {
	struct queue_item *first, *last;
	uint64_t count;
	size_t bytes;
};

void queue_put(struct queue *q, struct queue_item *item, size_t bytes);
/* Remove and return the first item; NULL if there is none. */
struct queue_item *queue_take(struct queue *q);
/* Append all items of tail to q, in order; tail is empty afterwards. */
void queue_append(struct queue *q, struct queue *tail);

#endif
