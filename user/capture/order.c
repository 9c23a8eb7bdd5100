// SPDX-License-Identifier: Apache-2.0
/* One order out of many rings: a queue per ring, merged up to the watermark. */
#include "capture/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* Bytes that a queue may keep, whether it needs them or not. */
#define LARGE (256U << 10)

struct entry {
	uint64_t time;
	size_t offset; /* of the copy in the queue's bytes */
	uint32_t size;
	bool late;
};

struct queue {
	VECTOR(struct entry) entries; /* by time; those before head are released */
	VECTOR(char) bytes;
	size_t head;
	size_t most; /* bytes held at one time since order_tidy() */
	uint64_t passed;
	bool dropped;
};

struct order {
	VECTOR(struct queue) queues;
	uint64_t released; /* time of the youngest record released */
};

struct order *order_new(void)
{
	return calloc(1, sizeof(struct order));
}

void order_free(struct order *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->queues.count; i++) {
		vector_free(&o->queues.items[i].entries);
		vector_free(&o->queues.items[i].bytes);
	}
	vector_free(&o->queues);
	free(o);
}

int order_add_ring(struct order *o)
{
	struct queue q = {.passed = UINT64_MAX};

	if (vector_push(&o->queues, q) < 0)
		return -ENOMEM;
	return (int)o->queues.count - 1;
}

void order_drop_ring(struct order *o, int ring)
{
	o->queues.items[ring].dropped = true;
}

void order_reopen_ring(struct order *o, int ring)
{
	o->queues.items[ring].dropped = false;
	o->queues.items[ring].passed = UINT64_MAX;
}

/* Records of a ring are nearly sorted: the new one moves forward past a few at most. */
static void sort_last(struct queue *q)
{
	struct entry *e = q->entries.items;
	size_t i = q->entries.count - 1;
	struct entry last = e[i];

	for (; i > q->head && e[i - 1].time > last.time; i--)
		e[i] = e[i - 1];
	e[i] = last;
}

int order_push(struct order *o, int ring, uint64_t time, const void *data, uint32_t size)
{
	struct queue *q = &o->queues.items[ring];
	struct entry e = {
		.time = time,
		.offset = q->bytes.count,
		.size = size,
		.late = time < o->released,
	};
	size_t padded = (size + 7UL) & ~7UL;

	if (vector_reserve(&q->bytes, padded) < 0 || vector_push(&q->entries, e) < 0)
		return -ENOMEM;
	memcpy(q->bytes.items + q->bytes.count, data, size);
	q->bytes.count += padded;
	sort_last(q);
	return 0;
}

void order_passed(struct order *o, int ring, uint64_t time)
{
	o->queues.items[ring].passed = time;
}

void order_close(struct order *o)
{
	for (size_t i = 0; i < o->queues.count; i++)
		o->queues.items[i].passed = UINT64_MAX;
}

static uint64_t watermark(const struct order *o, uint64_t limit)
{
	for (size_t i = 0; i < o->queues.count; i++) {
		const struct queue *q = &o->queues.items[i];

		if (!q->dropped && q->passed < limit)
			limit = q->passed;
	}
	return limit;
}

uint64_t order_mark(const struct order *o)
{
	return watermark(o, UINT64_MAX);
}

static uint64_t head_time(const struct queue *q)
{
	return q->head < q->entries.count ? q->entries.items[q->head].time : UINT64_MAX;
}

uint64_t order_next(const struct order *o)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < o->queues.count; i++) {
		uint64_t time = head_time(&o->queues.items[i]);

		if (time < next)
			next = time;
	}
	return next;
}

/* The queue with the oldest head, and in *next the oldest head of the others. */
static struct queue *oldest(struct order *o, uint64_t *next)
{
	struct queue *best = NULL;
	uint64_t best_time = UINT64_MAX;

	*next = UINT64_MAX;
	for (size_t i = 0; i < o->queues.count; i++) {
		uint64_t time = head_time(&o->queues.items[i]);

		if (time < best_time) {
			*next = best_time;
			best_time = time;
			best = &o->queues.items[i];
		} else if (time < *next) {
			*next = time;
		}
	}
	return best;
}

/*
 * Once a queue is used up its memory is used again from the start. What is left is moved there
 * only when it is less than what is done: order_release() may be called for every record.
 */
static void compact(struct queue *q)
{
	size_t left = q->entries.count - q->head;
	size_t used = 0;

	if (!q->head || q->head < left)
		return;
	if (q->bytes.count > q->most)
		q->most = q->bytes.count;
	memmove(q->entries.items, q->entries.items + q->head, left * sizeof(struct entry));
	q->entries.count = left;
	q->head = 0;
	if (!left) {
		q->bytes.count = 0;
		return;
	}
	used = q->entries.items[0].offset;
	for (size_t i = 1; i < left; i++)
		if (q->entries.items[i].offset < used)
			used = q->entries.items[i].offset;
	memmove(q->bytes.items, q->bytes.items + used, q->bytes.count - used);
	q->bytes.count -= used;
	for (size_t i = 0; i < left; i++)
		q->entries.items[i].offset -= used;
}

int order_release(struct order *o, uint64_t limit, order_handler handle, void *context)
{
	uint64_t mark = watermark(o, limit), next;
	struct queue *q;
	int ret = 0;

	while (!ret && (q = oldest(o, &next)) && head_time(q) <= mark) {
		while (!ret && q->head < q->entries.count && head_time(q) <= mark &&
		       head_time(q) <= next) {
			struct entry *e = &q->entries.items[q->head++];

			if (e->time > o->released)
				o->released = e->time;
			ret = handle(context, (int)(q - o->queues.items), e->time,
				     q->bytes.items + e->offset, e->size, e->late);
		}
	}
	for (size_t i = 0; i < o->queues.count; i++)
		compact(&o->queues.items[i]);
	return ret;
}

void order_tidy(struct order *o)
{
	for (size_t i = 0; i < o->queues.count; i++) {
		struct queue *q = &o->queues.items[i];

		if (q->bytes.capacity > LARGE && q->most < q->bytes.capacity / 4) {
			vector_fit(&q->entries);
			vector_fit(&q->bytes);
		}
		q->most = q->bytes.count;
	}
}
