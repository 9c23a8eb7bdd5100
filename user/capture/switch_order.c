// SPDX-License-Identifier: Apache-2.0
/* A queue per CPU and a heap of CPUs by their oldest record. */
#include "capture/switch_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "capture/clock.h"

/* Records copied at once, of all CPUs and of each. */
#define BATCH_ALL (1U << 18)
#define BATCH_LEAST 4096

#define TIME_MASK ((1ULL << WIRE_TIME_BITS) - 1)

struct queue {
	VECTOR(struct wire_switch) records;
	size_t head; /* those before are done */
	uint64_t last; /* head of the record that was done last */
	uint64_t passed; /* all that is older has been copied, ns; 0: what is before its last record */
};

struct switch_order {
	struct switches *switches;
	unsigned int count, batch;
	struct queue *queues; /* by CPU */
	unsigned int *heap; /* CPUs with records, the oldest first */
	unsigned int heap_count;
	uint64_t turn; /* until when the oldest CPU has its turn, ns */
	uint64_t now; /* after the last copying: what the 48 bits of a stamp count back from */
	bool more;
};

struct switch_order *switch_order_new(struct switches *switches)
{
	struct switch_order *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->switches = switches;
	o->count = switches_cpus(switches);
	o->batch = BATCH_ALL / o->count;
	if (o->batch < BATCH_LEAST)
		o->batch = BATCH_LEAST;
	o->queues = calloc(o->count, sizeof(*o->queues));
	o->heap = calloc(o->count, sizeof(*o->heap));
	if (o->queues && o->heap)
		return o;
	switch_order_free(o);
	return NULL;
}

void switch_order_free(struct switch_order *o)
{
	if (!o)
		return;
	for (unsigned int i = 0; o->queues && i < o->count; i++)
		vector_free(&o->queues[i].records);
	free(o->queues);
	free(o->heap);
	free(o);
}

static uint64_t time_of(const struct switch_order *o, uint64_t head)
{
	return o->now - ((o->now - head) & TIME_MASK);
}

static void drop_done(struct queue *q)
{
	size_t left = q->records.count - q->head;

	if (!q->head)
		return;
	q->last = q->records.items[q->head - 1].head;
	memmove(q->records.items, q->records.items + q->head, left * sizeof(*q->records.items));
	q->records.count = left;
	q->head = 0;
}

/* Head of the youngest record that was copied of a CPU. */
static uint64_t youngest(const struct queue *q)
{
	return q->records.count ? q->records.items[q->records.count - 1].head : q->last;
}

static int take_from(struct switch_order *o, unsigned int cpu, uint64_t now)
{
	struct queue *q = &o->queues[cpu];
	struct wire_switch *end;
	uint64_t lost;
	size_t count;
	bool more;

	drop_done(q);
	if (vector_reserve(&q->records, o->batch + 1) < 0)
		return -ENOMEM;
	/* one place is kept for what tells of a gap */
	end = q->records.items + q->records.count;
	count = switches_take(o->switches, cpu, end + 1, o->batch, &lost, &more);
	if (lost) {
		end->head = (youngest(q) & TIME_MASK) | (uint64_t)SWITCH_GAP << WIRE_TIME_BITS;
		end->body = lost;
		count++;
	} else {
		memmove(end, end + 1, count * sizeof(*end));
	}
	q->records.count += count;
	q->passed = more ? 0 : now;
	o->more |= more;
	return 0;
}

static uint64_t next_time(const struct switch_order *o, unsigned int cpu)
{
	const struct queue *q = &o->queues[cpu];

	return time_of(o, q->records.items[q->head].head);
}

static void sift_down(struct switch_order *o, unsigned int at)
{
	unsigned int cpu = o->heap[at], child;
	uint64_t time = next_time(o, cpu);

	while ((child = 2 * at + 1) < o->heap_count) {
		if (child + 1 < o->heap_count &&
		    next_time(o, o->heap[child + 1]) < next_time(o, o->heap[child]))
			child++;
		if (next_time(o, o->heap[child]) >= time)
			break;
		o->heap[at] = o->heap[child];
		at = child;
	}
	o->heap[at] = cpu;
}

/* The oldest CPU has its turn as long as no other one is older. */
static void take_turns(struct switch_order *o)
{
	o->turn = UINT64_MAX;
	for (unsigned int i = 1; i < 3 && i < o->heap_count; i++)
		if (next_time(o, o->heap[i]) < o->turn)
			o->turn = next_time(o, o->heap[i]);
}

static void make_heap(struct switch_order *o)
{
	o->heap_count = 0;
	for (unsigned int i = 0; i < o->count; i++)
		if (o->queues[i].head < o->queues[i].records.count)
			o->heap[o->heap_count++] = i;
	for (unsigned int i = o->heap_count / 2; i-- > 0;)
		sift_down(o, i);
	take_turns(o);
}

int switch_order_take(struct switch_order *o)
{
	uint64_t now = boot_now();
	int ret = 0;

	o->more = false;
	for (unsigned int i = 0; !ret && i < o->count; i++)
		ret = take_from(o, i, now);
	o->now = boot_now();
	make_heap(o);
	return ret;
}

bool switch_order_has_more(const struct switch_order *o)
{
	return o->more;
}

uint64_t switch_order_mark(const struct switch_order *o)
{
	uint64_t mark = UINT64_MAX;

	for (unsigned int i = 0; i < o->count; i++) {
		const struct queue *q = &o->queues[i];
		uint64_t passed = q->passed ? q->passed : time_of(o, youngest(q));

		if (passed < mark)
			mark = passed;
	}
	return mark > ORDER_MARGIN ? mark - ORDER_MARGIN : 0;
}

/* The oldest CPU's record is done: another one may be the oldest now. */
static void step(struct switch_order *o, struct queue *q)
{
	if (q->head < q->records.count && next_time(o, o->heap[0]) <= o->turn)
		return;
	if (q->head == q->records.count)
		o->heap[0] = o->heap[--o->heap_count];
	if (o->heap_count)
		sift_down(o, 0);
	take_turns(o);
}

/* A wake-up is followed at once by what moves the thread to another CPU, if that is so. */
static bool take_move(struct queue *q, const struct wire_switch *woken, unsigned int *cpu)
{
	unsigned int kind = switch_kind(woken);
	const struct wire_switch *next = q->records.items + q->head;

	if ((kind != WIRE_WAKING && kind != WIRE_NEW) || q->head == q->records.count ||
	    switch_kind(next) != WIRE_MIGRATE || switch_first(next) != switch_first(woken))
		return false;
	*cpu = switch_number(next);
	q->head++;
	return true;
}

bool switch_order_next(struct switch_order *o, uint64_t mark, struct switch_record *ret)
{
	struct queue *q;

	if (!o->heap_count)
		return false;
	ret->cpu = o->heap[0];
	ret->time = next_time(o, ret->cpu);
	if (ret->time > mark)
		return false;
	q = &o->queues[ret->cpu];
	ret->wire = q->records.items[q->head++];
	if (!take_move(q, &ret->wire, &ret->target))
		ret->target = switch_number(&ret->wire);
	step(o, q);
	return true;
}

uint64_t switch_order_next_switch(const struct switch_order *o, unsigned int cpu)
{
	const struct queue *q = &o->queues[cpu];

	for (size_t i = q->head; i < q->records.count; i++)
		if (switch_kind(&q->records.items[i]) == WIRE_SWITCH)
			return time_of(o, q->records.items[i].head);
	return o->now;
}
