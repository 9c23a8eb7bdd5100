// SPDX-License-Identifier: Apache-2.0
/* Divide the exact times of waits among the stacks that were taken (wait_division.h). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/entity_store.h"
#include "analyze/names.h"
#include "analyze/sched.h"
#include "analyze/wait_division_private.h"
#include "analyze/wait_sum.h"

/* The waits of one class in a group of threads: what is divided. */
struct wait_cell {
	struct wait_sum sum;
	uint64_t exact; /* ns, from the records of switches */
	struct wait_shares shares;
	/*
	 * Weights become whole ns by rounding sums: the parts so far, ns, and what of them has been
	 * put; the index of the last sum, to which the rest is added.
	 */
	double parts;
	uint64_t put;
	uint32_t last;
	/* the same for time without a stack; whole: of all threads that miss some, ns */
	double whole, missing;
	uint64_t missing_put;
};

/* The waits of one class of one thread. */
struct wait_lot {
	uint64_t thread; /* thread.id */
	uint32_t cell;
	uint64_t exact, given; /* ns: from the records; of the stacks */
};

/* Stacks with equal keys. The bytes of the key are interned, so it has no padding. */
struct wait_part {
	struct {
		uint64_t event, thread, stack, flags, wait, certain;
	} key;
	uint64_t count, weight;
	double squares; /* as wait_sum.squares */
};

#define UNSELECTED (INDEX_NONE - 1) /* in wait_divider.groups */

static const struct process unknown_process = {
	.comm = "", .exe = "", .cgroup = "", .container = "", .service = ""};

struct wait_divider {
	struct sink sink;
	const struct wait_division *division;
	const struct index *events; /* event.id of stacks of waits */
	struct entity_store processes;
	struct index groups; /* thread.id -> number of the group; or UNSELECTED */
	uint64_t event; /* id of the first event of waits: that of time without a stack */
	double largest; /* ns: the largest period T */
	struct names keys; /* of parts; the number is the index */
	VECTOR(struct wait_part) parts;
	VECTOR(struct wait_cell) cells; /* by group and class */
	struct index lot_of[WAIT_COUNT]; /* by class: thread.id -> index in lots */
	VECTOR(struct wait_lot) lots;
};

static int divider_take_event(struct wait_divider *d, const struct event *e)
{
	if (index_get(d->events, e->id) == INDEX_NONE)
		return 0;
	d->event = d->event ? d->event : e->id;
	d->largest = fmax(d->largest, (double)e->period);
	return 0;
}

static int divider_take_thread(struct wait_divider *d, const struct thread *t)
{
	struct entity_store_item *p = entity_store_find(&d->processes, t->process);
	struct thread named = *t;
	uint32_t group;
	int ret;

	named.comm = t->comm ? t->comm : "";
	ret = d->division->group(d->division->context,
				 p ? entity_store_record(p) : &unknown_process, &named, &group);
	return ret < 0 ? ret : index_put(&d->groups, t->id, ret ? UNSELECTED : group);
}

static int divider_take_sample(struct wait_divider *d, const struct sample *s)
{
	struct wait_part fresh = {
		.key = {s->event, s->thread, s->stack, s->flags & SAMPLE_FLAGS_OF_RUNTIME,
			s->wait < WAIT_COUNT ? s->wait : 0, s->weight <= s->length},
	};
	uint32_t at;

	if (index_get(d->events, s->event) == INDEX_NONE)
		return 0;
	if (names_intern(&d->keys, &fresh.key, sizeof(fresh.key), &at) < 0 ||
	    (at == d->parts.count && vector_push(&d->parts, fresh) < 0))
		return -ENOMEM;
	if (!fresh.key.certain)
		d->largest = fmax(d->largest, (double)s->weight);
	d->parts.items[at].count++;
	d->parts.items[at].weight += s->weight;
	d->parts.items[at].squares += (double)s->weight * (double)s->weight;
	return 0;
}

static int divider_put(struct sink *sink, enum record_kind kind, const void *record,
		       struct error *err)
{
	struct wait_divider *d = (struct wait_divider *)sink;
	int ret = 0;

	if (kind == KIND_EVENT)
		ret = divider_take_event(d, record);
	if (kind == KIND_PROCESS)
		ret = entity_store_put(&d->processes, record, 0);
	if (kind == KIND_THREAD)
		ret = divider_take_thread(d, record);
	if (kind == KIND_SAMPLE)
		ret = divider_take_sample(d, record);
	return ret < 0 ? error_errno(err, ret, "cannot read the waits") : 0;
}

/*
 * Get the index of the waits of a class of a thread; made if there is none. Return 0, 1 if the
 * thread is not selected, or -ENOMEM.
 */
static int find_lot(struct wait_divider *d, uint64_t thread, uint32_t wait, uint32_t *out)
{
	const struct thread unknown = {.id = thread, .comm = ""};
	struct wait_lot fresh = {.thread = thread};
	uint32_t group = index_get(&d->groups, thread);
	int ret = group == UNSELECTED;

	*out = index_get(&d->lot_of[wait], thread);
	if (*out != INDEX_NONE)
		return 0;
	if (group == INDEX_NONE)
		ret = d->division->group(d->division->context, &unknown_process, &unknown, &group);
	fresh.cell = group * WAIT_COUNT + wait;
	while (!ret && d->cells.count <= fresh.cell)
		ret = vector_push(&d->cells, (struct wait_cell){0});
	*out = (uint32_t)d->lots.count;
	if (!ret)
		ret = vector_push(&d->lots, fresh);
	return ret ? ret : index_put(&d->lot_of[wait], thread, *out);
}

static int add_parts_to_cells(struct wait_divider *d)
{
	for (size_t i = 0; i < d->parts.count; i++) {
		const struct wait_part *p = &d->parts.items[i];
		struct wait_sum *sum;
		uint32_t lot;
		int ret = find_lot(d, p->key.thread, (uint32_t)p->key.wait, &lot);

		if (ret < 0)
			return ret;
		if (ret)
			continue;
		sum = &d->cells.items[d->lots.items[lot].cell].sum;
		sum->count += p->count;
		if (p->key.certain) {
			sum->certain += p->weight;
			continue;
		}
		sum->chance += (double)p->weight;
		sum->squares += p->squares;
	}
	return 0;
}

static int add_exact_to_cells(struct wait_divider *d, const struct sched *s)
{
	for (size_t i = 0; i < s->threads.count; i++) {
		const struct sched_thread *t = &s->threads.items[i];

		for (uint32_t wait = 0; wait < WAIT_COUNT; wait++) {
			uint32_t lot;
			int ret;

			if (!t->times.blocked[wait])
				continue;
			ret = find_lot(d, t->id, wait, &lot);
			if (ret < 0)
				return ret;
			if (ret)
				break;
			d->lots.items[lot].exact += t->times.blocked[wait];
			d->cells.items[d->lots.items[lot].cell].exact += t->times.blocked[wait];
		}
	}
	return 0;
}

/* Return how much the part of a sum is in whole ns, so that such numbers add up. */
static uint64_t next_whole(double *parts, uint64_t *put, double part)
{
	uint64_t before = *put;

	*parts += part;
	if (*parts >= 0.5)
		*put = (uint64_t)(*parts + 0.5);
	return *put - before;
}

static int put_part_sum(struct wait_divider *d, const struct wait_part *p, struct divided_sums *out)
{
	uint32_t lot = index_get(&d->lot_of[p->key.wait], p->key.thread);
	struct sum s = {
		.event = p->key.event,
		.thread = p->key.thread,
		.stack = p->key.stack,
		.flags = p->key.flags,
		.count = p->count,
		.wait = p->key.wait,
	};
	struct wait_cell *c;

	if (lot == INDEX_NONE) /* not selected; the inner source should not have passed it */
		return 0;
	c = &d->cells.items[d->lots.items[lot].cell];
	s.weight = next_whole(&c->parts, &c->put,
			      (double)p->weight *
				      (p->key.certain ? c->shares.certain : c->shares.chance));
	d->lots.items[lot].given += s.weight;
	c->last = (uint32_t)out->list.count;
	return vector_push(&out->list, s);
}

/* Add what rounding has left of the time that stacks have to the last sum of each cell. */
static void put_rests(struct wait_divider *d, struct divided_sums *out)
{
	for (size_t i = 0; i < d->cells.count; i++) {
		struct wait_cell *c = &d->cells.items[i];
		struct sum *last = c->sum.count ? &out->list.items[c->last] : NULL;
		int64_t rest = (int64_t)(c->exact - c->shares.without - c->put);

		if (last && (int64_t)last->weight + rest >= 0)
			last->weight += (uint64_t)rest;
	}
}

/* A thread misses what its stacks have less than the exact time. */
static double lot_missing(const struct wait_lot *l)
{
	return l->exact > l->given ? (double)(l->exact - l->given) : 0;
}

/* Give the time of each cell without a stack to the threads that miss time. */
static int put_missing(struct wait_divider *d, struct divided_sums *out)
{
	for (size_t i = 0; i < d->lots.count; i++)
		d->cells.items[d->lots.items[i].cell].whole += lot_missing(&d->lots.items[i]);
	for (size_t i = 0; i < d->lots.count; i++) {
		const struct wait_lot *l = &d->lots.items[i];
		struct wait_cell *c = &d->cells.items[l->cell];
		struct sum s = {
			.event = d->event,
			.thread = l->thread,
			.stack = DIVIDED_NOT_TAKEN,
			.wait = l->cell % WAIT_COUNT,
		};

		if (!c->shares.without || c->whole <= 0)
			continue;
		s.weight = next_whole(&c->missing, &c->missing_put,
				      lot_missing(l) / c->whole * (double)c->shares.without);
		if (s.weight && vector_push(&out->list, s) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int divide_waits(struct wait_divider *d, const struct sched *s, struct divided_sums *out)
{
	int ret = add_parts_to_cells(d);

	if (!ret)
		ret = add_exact_to_cells(d, s);
	for (size_t i = 0; i < d->cells.count; i++) {
		struct wait_cell *c = &d->cells.items[i];

		c->shares = wait_sum_divide(&c->sum, d->largest, c->exact);
	}
	for (size_t i = 0; i < d->parts.count && !ret; i++)
		ret = put_part_sum(d, &d->parts.items[i], out);
	if (ret)
		return ret;
	put_rests(d, out);
	return put_missing(d, out);
}

static void divider_free(struct wait_divider *d)
{
	entity_store_free(&d->processes);
	index_free(&d->groups);
	names_free(&d->keys);
	vector_free(&d->parts);
	vector_free(&d->cells);
	vector_free(&d->lots);
	for (int wait = 0; wait < WAIT_COUNT; wait++)
		index_free(&d->lot_of[wait]);
}

static const struct sink_ops divider_ops = {.put = divider_put};

int divided_sums_read(struct divided_sums *out, struct source *source,
		      const struct wait_division *division, const struct index *events,
		      struct error *err)
{
	struct wait_divider d = {
		.sink = {.ops = &divider_ops,
			 .wants = WANTS(WANT(EVENT) | WANT(PROCESS) | WANT(THREAD) | WANT(SAMPLE))},
		.division = division,
		.events = events,
	};
	const struct sched_query query = {.from = division->from, .to = division->to};
	struct sched *sched = NULL;
	int ret;

	entity_store_init(&d.processes, KIND_PROCESS);
	ret = source->ops->run(source, &d.sink, err);
	if (!ret)
		ret = sched_read(&sched, division->records, &query, err);
	if (!ret && sched->slices) {
		out->made = true;
		ret = divide_waits(&d, sched, out);
		if (ret < 0)
			error_errno(err, ret, "cannot divide the time of waits");
	}
	sched_free(sched);
	divider_free(&d);
	return ret;
}
