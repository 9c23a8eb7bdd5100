// SPDX-License-Identifier: Apache-2.0
/* Read the samples of waits, and pair each with the stack of its waker (off_cpu.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/off_cpu_private.h"

enum read_event { READ_NONE, READ_WAIT, READ_WAKER };

struct off_cpu_run {
	struct sink sink;
	const struct off_cpu_query *query;
	struct index events; /* event.id -> enum read_event */
	struct read_waits read;
	VECTOR(struct read_wait) wakers;
	uint64_t largest; /* as struct off_cpu */
};

static int note_event(struct off_cpu_run *r, const struct event *e)
{
	bool wait = e->name && !strcmp(e->name, EVENT_OFF_CPU);
	bool waker = e->name && !strcmp(e->name, EVENT_OFF_CPU_WAKERS);

	if (wait && e->period > r->largest)
		r->largest = e->period;
	return wait || waker ? index_put(&r->events, e->id, wait ? READ_WAIT : READ_WAKER) : 0;
}

/* Return whether the wait of a sample is selected: by its time, and by the thread that waited. */
static bool is_wait_selected(const struct off_cpu_run *r, uint64_t time, uint64_t thread)
{
	const struct off_cpu_query *q = r->query;
	const struct thread unknown = {.id = thread, .comm = ""};
	const struct thread *known = sched_names_thread(q->names, thread);
	uint64_t start = q->profile->host.start;

	if (time < start + q->from || (q->to && time > start + q->to))
		return false;
	return !q->selected || q->selected(q->context, known ? known : &unknown);
}

static int keep_wait(struct off_cpu_run *r, const struct sample *s)
{
	const struct read_wait w = {
		.time = s->time,
		.weight = s->weight,
		.length = s->length,
		.address = s->address,
		.thread = s->thread,
		.waker = s->other,
		.stack = profile_stack_by_id(r->query->profile, s->stack),
		.wait = s->wait < WAIT_COUNT ? (uint32_t)s->wait : 0,
		.flags = (uint32_t)s->flags,
		.waker_stack = PROFILE_NONE,
	};

	if (s->weight > s->length && s->weight > r->largest)
		r->largest = s->weight;
	return vector_push(&r->read.waits, w);
}

static int keep_waker(struct off_cpu_run *r, const struct sample *s)
{
	const struct read_wait w = {
		.time = s->time,
		.length = s->length,
		.thread = s->other,
		.waker_stack = profile_stack_by_id(r->query->profile, s->stack),
	};

	return vector_push(&r->wakers, w);
}

static int keep_interrupt(struct off_cpu_run *r, const struct lane *l)
{
	if (l->kind != LANE_INTERRUPT || l->number >= INTERRUPT_COUNT)
		return 0;
	return index_put(&r->read.interrupts, l->id, SCHED_INTERRUPT + (uint32_t)l->number);
}

static int keep_wake(struct off_cpu_run *r, const struct edge *e)
{
	const struct read_wake w = {.time = e->time, .from = e->from, .to = e->to};

	return e->kind == EDGE_WAKEUP && e->to ? vector_push(&r->read.wakes, w) : 0;
}

static int off_cpu_put(struct sink *sink, enum record_kind kind, const void *record,
		       struct error *err)
{
	struct off_cpu_run *r = (struct off_cpu_run *)sink;
	const struct sample *s = record;
	uint32_t event;
	int ret = 0;

	if (kind == KIND_EVENT)
		ret = note_event(r, record);
	if (kind == KIND_LANE)
		ret = keep_interrupt(r, record);
	if (kind == KIND_EDGE)
		ret = keep_wake(r, record);
	if (kind == KIND_SAMPLE) {
		event = index_get(&r->events, s->event);
		if (event == READ_WAIT && is_wait_selected(r, s->time, s->thread))
			ret = keep_wait(r, s);
		else if (event == READ_WAKER && is_wait_selected(r, s->time, s->other))
			ret = keep_waker(r, s);
	}
	return ret < 0 ? error_errno(err, ret, "cannot read the waits") : 0;
}

static int compare_waits(const void *a, const void *b)
{
	const struct read_wait *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

/*
 * Give each wait the stack of its waker. Both samples have the same length; the waker's is the
 * earlier one, and no other wait of the thread with just that length lies between.
 */
static void pair_wakers(struct off_cpu_run *r)
{
	size_t at = 0;

	if (r->read.waits.count)
		qsort(r->read.waits.items, r->read.waits.count, sizeof(struct read_wait),
		      compare_waits);
	if (r->wakers.count)
		qsort(r->wakers.items, r->wakers.count, sizeof(struct read_wait), compare_waits);
	for (size_t i = 0; i < r->read.waits.count; i++) {
		struct read_wait *w = &r->read.waits.items[i];

		while (at < r->wakers.count && compare_waits(&r->wakers.items[at], w) <= 0)
			at++;
		if (at && r->wakers.items[at - 1].thread == w->thread &&
		    r->wakers.items[at - 1].length == w->length)
			w->waker_stack = r->wakers.items[at - 1].waker_stack;
	}
}

static int compare_read_wakes(const void *a, const void *b)
{
	const struct read_wake *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static const struct sink_ops off_cpu_run_ops = {.put = off_cpu_put};

int off_cpu_read(struct off_cpu **out, struct source *source, const struct off_cpu_query *q,
		 struct error *err)
{
	struct off_cpu_run r = {
		.sink = {.ops = &off_cpu_run_ops,
			 .wants = WANTS(WANT(EVENT) | WANT(LANE) | WANT(SAMPLE) | WANT(EDGE))},
		.query = q,
	};
	struct off_cpu *made = calloc(1, sizeof(*made));
	int ret;

	if (q->no_chains)
		r.sink.wants = WANTS(WANT(EVENT) | WANT(SAMPLE));
	ret = made ? source->ops->run(source, &r.sink, err)
		   : error_errno(err, -ENOMEM, "cannot read the waits");

	if (!ret) {
		made->largest = r.largest;
		pair_wakers(&r);
		if (r.read.wakes.count)
			qsort(r.read.wakes.items, r.read.wakes.count, sizeof(struct read_wake),
			      compare_read_wakes);
		ret = off_cpu_add_up(made, q, &r.read);
		if (ret < 0)
			error_errno(err, ret, "cannot add up the waits");
	}
	index_free(&r.events);
	index_free(&r.read.interrupts);
	vector_free(&r.read.waits);
	vector_free(&r.read.wakes);
	vector_free(&r.wakers);
	if (ret < 0)
		off_cpu_free(made);
	else
		*out = made;
	return ret;
}

void off_cpu_free(struct off_cpu *o)
{
	if (!o)
		return;
	for (int kind = 0; kind < OFF_CPU_KINDS; kind++)
		vector_free(&o->tables[kind].list);
	vector_free(&o->nodes);
	vector_free(&o->groups);
	vector_free(&o->wakers);
	vector_free(&o->chains);
	vector_free(&o->functions);
	free(o);
}

double off_cpu_half_width(const struct off_cpu *o, const struct wait_sum *s)
{
	return wait_sum_half_width(s, (double)o->largest);
}

uint64_t off_cpu_without_stack(const struct off_cpu *o, const struct wait_sum *s, uint64_t exact)
{
	return wait_sum_divide(s, (double)o->largest, exact).without;
}
