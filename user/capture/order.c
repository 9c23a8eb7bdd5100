// SPDX-License-Identifier: Apache-2.0
/*
 * Orders the records of many rings by time: a queue per ring, and the time that every ring has
 * passed.
 */
#include "capture/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time_sorter.h"
#include "base/vector.h"

/* order_tidy() frees memory only of arrays larger than this, in bytes. */
#define LARGE (256U << 10)

struct ring_record {
	uint64_t time;
	size_t offset; /* offset of the copy in the queue's bytes */
	uint32_t size;
	bool late;
};

struct ring_queue {
	VECTOR(struct ring_record) entries; /* sorted by time; those before head are released */
	VECTOR(char) bytes;
	size_t head;
	size_t most; /* largest bytes.count since order_tidy(), as far as compact() saw it */
	uint64_t passed;
	bool dropped;
};

struct order {
	VECTOR(struct ring_queue) queues;
	size_t held; /* number of records in all queues */
	/*
	 * Records whose time every ring had passed when gather() ran, by time; the source of each
	 * is the number of its ring.
	 */
	struct time_sorter due;
	size_t next; /* index into due: records before it are released */
	/* due is up to date: since gather() no record was pushed, and no ring changed */
	bool gathered;
	uint64_t released; /* time of the youngest record released, ns */
	uint64_t mark; /* time (ns) that every ring has passed, valid if mark_known */
	bool mark_known;
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
	time_sorter_free(&o->due);
	free(o);
}

int order_add_ring(struct order *o)
{
	struct ring_queue q = {.passed = UINT64_MAX};

	if (vector_push(&o->queues, q) < 0)
		return -ENOMEM;
	return (int)o->queues.count - 1;
}

void order_drop_ring(struct order *o, int ring)
{
	o->queues.items[ring].dropped = true;
	o->mark_known = o->gathered = false;
}

void order_reopen_ring(struct order *o, int ring)
{
	o->queues.items[ring].dropped = false;
	o->queues.items[ring].passed = UINT64_MAX;
	o->mark_known = o->gathered = false;
}

/*
 * Move the last record of a queue to its place. Records of a ring are nearly sorted, so the record
 * moves past a few others at most.
 */
static void sort_last(struct ring_queue *q)
{
	struct ring_record *e = q->entries.items;
	size_t i = q->entries.count - 1;
	struct ring_record last = e[i];

	for (; i > q->head && e[i - 1].time > last.time; i--)
		e[i] = e[i - 1];
	e[i] = last;
}

/*
 * Reuse the memory of released records. The other records are moved to the start only when they are
 * not more than the released ones, so that the cost of a record does not depend on how many are
 * held.
 */
static void compact(struct ring_queue *q)
{
	size_t left = q->entries.count - q->head;
	size_t used = 0;

	if (!q->head || q->head < left)
		return;
	if (q->bytes.count > q->most)
		q->most = q->bytes.count;
	memmove(q->entries.items, q->entries.items + q->head, left * sizeof(struct ring_record));
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

int order_push(struct order *o, int ring, uint64_t time, const void *data, uint32_t size)
{
	struct ring_queue *q = &o->queues.items[ring];
	struct ring_record e = {
		.time = time,
		.size = size,
		.late = time < o->released,
	};
	size_t padded = (size + 7UL) & ~7UL;

	if (q->head == q->entries.count)
		compact(q);
	e.offset = q->bytes.count;
	if (time_sorter_reserve(&o->due, o->held + 1) < 0 ||
	    vector_reserve(&q->bytes, padded) < 0 || vector_push(&q->entries, e) < 0)
		return -ENOMEM;
	memcpy(q->bytes.items + q->bytes.count, data, size);
	q->bytes.count += padded;
	sort_last(q);
	o->held++;
	o->gathered = false;
	return 0;
}

void order_set_passed(struct order *o, int ring, uint64_t time)
{
	o->queues.items[ring].passed = time;
	o->mark_known = o->gathered = false;
}

void order_close(struct order *o)
{
	for (size_t i = 0; i < o->queues.count; i++)
		o->queues.items[i].passed = UINT64_MAX;
	o->mark_known = o->gathered = false;
}

/* The mark is cached until order_set_passed() or another call changes a ring. */
uint64_t order_mark(struct order *o)
{
	if (o->mark_known)
		return o->mark;
	o->mark = UINT64_MAX;
	for (size_t i = 0; i < o->queues.count; i++) {
		const struct ring_queue *q = &o->queues.items[i];

		if (!q->dropped && q->passed < o->mark)
			o->mark = q->passed;
	}
	o->mark_known = true;
	return o->mark;
}

/* Sort by time all records that every ring has passed. order_push() has reserved the memory. */
static void gather(struct order *o)
{
	uint64_t mark = order_mark(o);

	o->due.list.count = o->next = 0;
	for (uint32_t i = 0; i < o->queues.count; i++) {
		struct ring_queue *q = &o->queues.items[i];
		size_t at;

		compact(q);
		for (at = q->head; at < q->entries.count && q->entries.items[at].time <= mark; at++)
			o->due.list.items[o->due.list.count++] =
				(struct timed_item){.time = q->entries.items[at].time, .source = i};
	}
	(void)time_sorter_sort(&o->due);
	o->gathered = true;
}

uint64_t order_next_time(struct order *o)
{
	if (!o->gathered)
		gather(o);
	return o->next < o->due.list.count ? o->due.list.items[o->next].time : UINT64_MAX;
}

void order_release(struct order *o, struct ordered_record *out)
{
	uint32_t ring = o->due.list.items[o->next++].source;
	struct ring_queue *q = &o->queues.items[ring];
	const struct ring_record *e = &q->entries.items[q->head++];

	o->held--;
	if (e->time > o->released)
		o->released = e->time;
	*out = (struct ordered_record){
		.time = e->time,
		.data = q->bytes.items + e->offset,
		.size = e->size,
		.ring = (int)ring,
		.late = e->late,
	};
}

void order_tidy(struct order *o)
{
	for (size_t i = 0; i < o->queues.count; i++) {
		struct ring_queue *q = &o->queues.items[i];

		compact(q);
		if (q->bytes.capacity > LARGE && q->most < q->bytes.capacity / 4) {
			vector_fit(&q->entries);
			vector_fit(&q->bytes);
		}
		q->most = q->bytes.count;
	}
	if (o->due.list.capacity * sizeof(struct timed_item) > LARGE &&
	    o->held < o->due.list.capacity / 4) {
		time_sorter_shrink(&o->due, o->held);
		o->gathered = false;
	}
}
