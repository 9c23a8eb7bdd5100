// SPDX-License-Identifier: Apache-2.0
/* Keeps a queue of switch records per CPU, and merges the queues by time. */
#include "capture/switch_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time_sorter.h"
#include "base/vector.h"
#include "capture/clock.h"

/*
 * Maximum number of records copied at once: for all CPUs together, but at least BATCH_LEAST for
 * each CPU.
 */
#define BATCH_ALL (1U << 18)
#define BATCH_LEAST 4096
/*
 * Number of records that are sorted at a time: together with the memory for sorting them, 200 KiB,
 * they fit into a core's own cache. All records that 256 CPUs have at one read do not fit, and cost
 * up to twice as much each.
 */
#define WINDOW 4096

#define TIME_MASK ((1ULL << WIRE_TIME_BITS) - 1)

struct cpu_queue {
	VECTOR(struct wire_switch) records;
	size_t head; /* number of records that are released */
	size_t added; /* number of records that are released or in the window */
	uint64_t latest; /* time of the last record added to the window, ns */
	uint64_t last; /* wire_switch.head of the last record that was removed */
	/*
	 * all records older than this time (ns) have been copied; 0: only those before the last
	 * record copied
	 */
	uint64_t passed;
};

struct switch_order {
	struct switches *switches;
	unsigned int count, batch;
	struct cpu_queue *queues; /* by CPU */
	struct time_sorter
		window; /* the oldest records of all queues: CPU, and index in its queue */
	size_t next; /* index of the next record in the window */
	/* time of the first record of the next window, ns; UINT64_MAX: none is left */
	uint64_t begin;
	uint64_t width; /* length of a window, ns */
	/*
	 * Time after the records were last copied, ns. The 48-bit stamps of records are taken as
	 * times up to 78 hours before it.
	 */
	uint64_t now;
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
	if (o->queues)
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
	time_sorter_free(&o->window);
	free(o);
}

static uint64_t switch_record_time(const struct switch_order *o, uint64_t head)
{
	return o->now - ((o->now - head) & TIME_MASK);
}

static void drop_done_records(struct cpu_queue *q)
{
	size_t left = q->records.count - q->head;

	if (!q->head)
		return;
	q->last = q->records.items[q->head - 1].head;
	memmove(q->records.items, q->records.items + q->head, left * sizeof(*q->records.items));
	q->records.count = left;
	q->head = 0;
}

/* Return wire_switch.head of the youngest record copied of a CPU. */
static uint64_t youngest_head(const struct cpu_queue *q)
{
	return q->records.count ? q->records.items[q->records.count - 1].head : q->last;
}

static int copy_cpu_records(struct switch_order *o, unsigned int cpu, uint64_t now)
{
	struct cpu_queue *q = &o->queues[cpu];
	struct switch_batch batch;

	drop_done_records(q);
	if (vector_reserve(&q->records, o->batch + 1) < 0)
		return -ENOMEM;
	/* Keep one place for a gap record. */
	batch.records = q->records.items + q->records.count;
	switches_take(o->switches, cpu, o->batch, &batch);
	if (batch.lost) {
		memmove(batch.records + 1, batch.records, batch.count * sizeof(*batch.records));
		*batch.records = (struct wire_switch){
			.head = (youngest_head(q) & TIME_MASK) | (uint64_t)SWITCH_GAP
									 << WIRE_TIME_BITS,
			.body = batch.lost,
		};
		batch.count++;
	}
	q->records.count += batch.count;
	q->passed = batch.more ? 0 : now;
	o->more |= batch.more;
	return 0;
}

/*
 * Return the time of a CPU's next record that is not in the window; UINT64_MAX: there is none.
 * Records of one CPU stay in the order in which they were written. A stamp that is before its
 * predecessor's, because the clock jumped, is replaced by the predecessor's.
 */
static uint64_t next_time(const struct switch_order *o, const struct cpu_queue *q)
{
	uint64_t time;

	if (q->added >= q->records.count)
		return UINT64_MAX;
	time = switch_record_time(o, q->records.items[q->added].head);
	return time > q->latest ? time : q->latest;
}

/*
 * Add the records of a CPU that are older than the window's end. Return the time of the CPU's next
 * record, UINT64_MAX if none is left.
 */
static uint64_t add_to_window(struct switch_order *o, unsigned int cpu, uint64_t end)
{
	struct cpu_queue *q = &o->queues[cpu];
	uint64_t time;

	while ((time = next_time(o, q)) < end) {
		o->window.list.items[o->window.list.count++] =
			(struct timed_item){time, cpu, (uint32_t)q->added++};
		q->latest = time;
	}
	return time;
}

/*
 * Fill and sort the next window; begin_windows() has reserved the memory. Return false if no
 * records are left.
 */
static bool next_window(struct switch_order *o)
{
	uint64_t end = o->begin + o->width;

	o->window.list.count = o->next = 0;
	if (o->begin == UINT64_MAX)
		return false;
	o->begin = UINT64_MAX;
	for (unsigned int i = 0; i < o->count; i++) {
		uint64_t time = add_to_window(o, i, end);

		o->begin = time < o->begin ? time : o->begin;
	}
	return !time_sorter_sort(&o->window);
}

/*
 * Reserve memory for a window with all records, since all may have the same time. Compute the begin
 * of the first window and the width of all windows.
 */
static int begin_windows(struct switch_order *o)
{
	size_t all = 0;

	o->window.list.count = o->next = 0;
	o->begin = UINT64_MAX;
	for (unsigned int i = 0; i < o->count; i++) {
		struct cpu_queue *q = &o->queues[i];
		uint64_t time;

		q->added = q->latest = 0;
		time = next_time(o, q);
		o->begin = time < o->begin ? time : o->begin;
		all += q->records.count;
	}
	o->width = o->begin < o->now ? (o->now - o->begin) / (all / WINDOW + 1) + 1 : 1;
	return time_sorter_reserve(&o->window, all);
}

int switch_order_copy(struct switch_order *o)
{
	uint64_t now = clock_boot_ns();
	int ret = 0;

	o->more = false;
	for (unsigned int i = 0; !ret && i < o->count; i++)
		ret = copy_cpu_records(o, i, now);
	o->now = clock_boot_ns();
	return ret ? ret : begin_windows(o);
}

bool switch_order_has_more(const struct switch_order *o)
{
	return o->more;
}

uint64_t switch_order_mark(const struct switch_order *o)
{
	uint64_t mark = UINT64_MAX;

	for (unsigned int i = 0; i < o->count; i++) {
		const struct cpu_queue *q = &o->queues[i];
		uint64_t passed = q->passed ? q->passed : switch_record_time(o, youngest_head(q));

		if (passed < mark)
			mark = passed;
	}
	return mark > ORDER_MARGIN ? mark - ORDER_MARGIN : 0;
}

/*
 * If the record after a wake-up moves the woken thread to another CPU, take this record too, and
 * store that CPU in *cpu. Return whether there is such a record.
 */
static bool take_migration(struct cpu_queue *q, const struct wire_switch *woken, unsigned int *cpu)
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

uint64_t switch_order_next_time(struct switch_order *o)
{
	do {
		for (; o->next < o->window.list.count; o->next++) {
			const struct timed_item *t = &o->window.list.items[o->next];

			if (t->index >= o->queues[t->source].head)
				return t->time;
			/*
			 * This record is a migration that was released together with its wake-up.
			 */
		}
	} while (next_window(o));
	return UINT64_MAX;
}

static uint64_t following_switch_time(const struct switch_order *o, const struct cpu_queue *q)
{
	for (size_t i = q->head; i < q->records.count; i++)
		if (switch_kind(&q->records.items[i]) == WIRE_SWITCH)
			return switch_record_time(o, q->records.items[i].head);
	return o->now;
}

void switch_order_release(struct switch_order *o, struct switch_record *out)
{
	unsigned int cpu = o->window.list.items[o->next++].source;
	struct cpu_queue *q = &o->queues[cpu];

	out->cpu = cpu;
	out->wire = q->records.items[q->head++];
	out->time = switch_record_time(o, out->wire.head);
	if (!take_migration(q, &out->wire, &out->target))
		out->target = switch_number(&out->wire);
	if (switch_kind(&out->wire) == SWITCH_GAP)
		out->end = following_switch_time(o, q);
}
