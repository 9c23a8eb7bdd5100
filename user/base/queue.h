/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of things that begin with a struct queue_item. Zeroed memory is an empty one.
 *
 *	struct ask { struct queue_item item; ... };
 *	queue_put(&q, &a->item, sizeof(*a));
 *	a = (struct ask *)queue_take(&q);
 */
#ifndef SKEIN_BASE_QUEUE_H
#define SKEIN_BASE_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct queue_item {
	struct queue_item *next;
	size_t bytes; /* that it counts for */
};

struct queue {
	struct queue_item *first, *last;
	uint64_t count;
	size_t bytes;
};

void queue_put(struct queue *q, struct queue_item *item, size_t bytes);
/* The first one, NULL if there is none. */
struct queue_item *queue_take(struct queue *q);
/* Put all of the second queue behind the first one's, in order: the second is empty then. */
void queue_append(struct queue *q, struct queue *behind);

#endif
