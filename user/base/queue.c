// SPDX-License-Identifier: Apache-2.0
/* A first-in, first-out queue of linked items (queue.h). */
#include "base/queue.h"

void queue_put(struct queue *q, struct queue_item *item, size_t bytes)
{
	item->next = NULL;
	item->bytes = bytes;
	if (q->last)
		q->last->next = item;
	else
		q->first = item;
	q->last = item;
	q->count++;
	q->bytes += bytes;
}

struct queue_item *queue_take(struct queue *q)
{
	struct queue_item *item = q->first;

	if (!item)
		return NULL;
	q->first = item->next;
	if (!q->first)
		q->last = NULL;
	q->count--;
	q->bytes -= item->bytes;
	return item;
}

void queue_append(struct queue *q, struct queue *tail)
{
	if (!tail->first)
		return;
	if (q->last)
		q->last->next = tail->first;
	else
		q->first = tail->first;
	q->last = tail->last;
	q->count += tail->count;
	q->bytes += tail->bytes;
	*tail = (struct queue){0};
}
