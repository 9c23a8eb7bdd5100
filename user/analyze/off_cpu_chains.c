// SPDX-License-Identifier: Apache-2.0
/* Follow who woke whom from each wait back to its beginning (struct off_cpu_chain). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/off_cpu_private.h"

/* A wait as a link of a chain sees it. */
struct sampled_wait {
	uint64_t lane, time; /* lane.id of the thread; ns at which it ran again */
	uint32_t site;
};

struct chains {
	struct off_cpu_builder *builder;
	struct off_cpu *out;
	const struct off_cpu_query *query;
	const struct read_waits *from;
	struct index threads; /* lane.id -> index of the last thread entity in the profile */
	VECTOR(struct sampled_wait) sampled; /* sorted */
	struct names keys, shares; /* of chains; of site and chain */
	VECTOR(uint64_t) weights; /* by number of shares, ns */
};

static int compare_sampled(const void *a, const void *b)
{
	const struct sampled_wait *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static uint64_t lane_of(const struct chains *c, uint64_t thread)
{
	const struct thread *t = sched_names_thread(c->query->names, thread);

	return t ? t->lane : 0;
}

static int chains_begin(struct chains *c)
{
	const struct profile *p = c->query->profile;
	int ret = 0;

	for (uint32_t i = 0; i < p->count.threads && !ret; i++)
		if (p->threads[i].t.lane)
			ret = index_put(&c->threads, p->threads[i].t.lane, i);
	for (size_t i = 0; i < c->from->waits.count && !ret; i++) {
		const struct read_wait *w = &c->from->waits.items[i];
		const struct sampled_wait s = {lane_of(c, w->thread), w->time, w->site};

		ret = vector_push(&c->sampled, s);
	}
	if (c->sampled.count)
		qsort(c->sampled.items, c->sampled.count, sizeof(struct sampled_wait),
		      compare_sampled);
	return ret;
}

static void chains_end(struct chains *c)
{
	index_free(&c->threads);
	vector_free(&c->sampled);
	names_free(&c->keys);
	names_free(&c->shares);
	vector_free(&c->weights);
}

/* Return the last wake-up of a lane up to a time (ns); NULL if there is none. */
static const struct read_wake *last_wake(const struct chains *c, uint64_t lane, uint64_t time)
{
	size_t low = 0, high = c->from->wakes.count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct read_wake *w = &c->from->wakes.items[middle];

		if (w->to < lane || (w->to == lane && w->time <= time))
			low = middle + 1;
		else
			high = middle;
	}
	return low && c->from->wakes.items[low - 1].to == lane ? &c->from->wakes.items[low - 1]
							       : NULL;
}

/* Return the wait of a lane whose stack was taken in a range of time (ns); NULL: none was. */
static const struct sampled_wait *find_sampled(const struct chains *c, uint64_t lane, uint64_t from,
					       uint64_t to)
{
	const struct sampled_wait key = {.lane = lane, .time = from};
	size_t low = 0, high = c->sampled.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare_sampled(&c->sampled.items[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == c->sampled.count || c->sampled.items[low].lane != lane ||
	    c->sampled.items[low].time > to)
		return NULL;
	return &c->sampled.items[low];
}

static int name_link(struct chains *c, uint64_t lane, struct off_cpu_link *out)
{
	uint32_t interrupt = index_get(&c->from->interrupts, lane);
	uint32_t thread = index_get(&c->threads, lane);

	if (interrupt != INDEX_NONE)
		return off_cpu_waker_number(c->builder, 0, interrupt, &out->waker);
	return off_cpu_waker_number(
		c->builder, thread == INDEX_NONE ? 0 : c->query->profile->threads[thread].t.id,
		SCHED_INTERRUPT, &out->waker);
}

/* Follow the wakers of a wait; out is zeroed. */
static int follow_chain(struct chains *c, const struct read_wait *w, struct off_cpu_chain *out)
{
	const struct read_wake *wake = last_wake(c, lane_of(c, w->thread), w->time);
	uint64_t begin = w->time - w->length;
	int ret = 0;

	while (wake && wake->time >= begin && out->count < OFF_CPU_LINKS_MAX && !ret) {
		struct off_cpu_link *link = &out->links[out->count++];
		const struct read_wake *before = last_wake(c, wake->from, wake->time);
		const struct sampled_wait *s = NULL;

		link->symbol = OFF_CPU_NONE;
		ret = name_link(c, wake->from, link);
		link->woken = before && before->time >= begin;
		if (link->woken)
			s = find_sampled(c, wake->from, before->time, wake->time);
		link->sampled = s != NULL;
		if (s)
			link->symbol = off_cpu_own_symbol(c->builder, s->site);
		wake = link->woken ? before : NULL;
	}
	return ret;
}

/* Count the chain of a wait for its site. */
static int add_chain(struct chains *c, const struct read_wait *w)
{
	struct off_cpu_row *site = &c->out->tables[OFF_CPU_SITES].list.items[w->site];
	struct off_cpu_chain chain;
	uint32_t key[] = {w->site, 0}, share;

	memset(&chain, 0, sizeof(chain)); /* padding, too: its bytes are the key */
	if (follow_chain(c, w, &chain) < 0)
		return -ENOMEM;
	if (!chain.count)
		return 0;
	if (names_intern(&c->keys, &chain, sizeof(chain), &key[1]) < 0 ||
	    (key[1] == c->out->chains.count && vector_push(&c->out->chains, chain) < 0) ||
	    names_intern(&c->shares, key, sizeof(key), &share) < 0 ||
	    (share == c->weights.count && vector_push(&c->weights, 0) < 0))
		return -ENOMEM;
	c->weights.items[share] += w->weight;
	if (c->weights.items[share] > site->chain.weight)
		site->chain = (struct off_cpu_part){key[1], c->weights.items[share]};
	return 0;
}

int off_cpu_add_chains(struct off_cpu_builder *b, struct off_cpu *out,
		       const struct off_cpu_query *q, const struct read_waits *from)
{
	struct chains c = {.builder = b, .out = out, .query = q, .from = from};
	int ret = chains_begin(&c);

	for (size_t i = 0; i < from->waits.count && !ret; i++)
		ret = add_chain(&c, &from->waits.items[i]);
	chains_end(&c);
	return ret;
}
