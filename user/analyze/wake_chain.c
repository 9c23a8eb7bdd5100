// SPDX-License-Identifier: Apache-2.0
/* Follow the wakers of a wait backwards (wake_chain.h). */
#include "analyze/wake_chain.h"

#include <stdlib.h>

#define ROUNDING 64 /* ns by which the stamp of a slice may be too early */

static bool is_woken_state(uint64_t state)
{
	return state == STATE_RUNNABLE || state == STATE_PREEMPTED;
}

static void begin_link(struct wake_chain *c, uint64_t lane, uint64_t at)
{
	if (c->count == WAKE_CHAIN_LINKS) {
		c->end = WAKE_END_LINKS;
		return;
	}
	c->links[c->count++] = (struct wake_link){.lane = lane, .time = at, .end = at};
	c->lane = lane;
	c->at = at;
	c->woken = false;
	c->lost = UINT64_MAX;
}

void wake_chain_begin(struct wake_chain *c, uint64_t begin, uint64_t end, uint64_t waker)
{
	*c = (struct wake_chain){.begin = begin};
	begin_link(c, waker, end);
}

/* Give the time from a time to c->at to a state of the link. */
static void spend(struct wake_chain *c, uint64_t from, uint64_t state, uint64_t wait)
{
	struct wake_link *l = &c->links[c->count - 1];
	uint64_t time = from > c->begin ? from : c->begin;
	uint64_t length = time < c->at ? c->at - time : 0;

	if (state == STATE_RUNNING) {
		l->ran += length;
	} else if (is_woken_state(state)) {
		l->runnable += length;
	} else {
		l->waited += length;
		l->waited_for[wait < WAIT_COUNT ? wait : WAIT_NONE] += length;
	}
	c->at -= length;
	l->time = c->at;
	if (from <= c->begin)
		c->end = WAKE_END_BEGIN;
}

/* The latest record first; a slice before the edges at its end. */
static int compare_wake_records(const void *a, const void *b)
{
	const struct wake_record *x = a, *y = b;

	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->time > y->time ? -1 : x->time < y->time;
}

/* Return whether the time from a time to c->at is not known. */
static bool is_lost(struct wake_chain *c)
{
	if (c->lost >= c->at)
		return false;
	c->end = WAKE_END_LOST;
	return true;
}

/*
 * A wake-up ended the wait before c->at. If a thread did it, what that did before held the wait up;
 * else the wait itself did.
 */
static void take_wakeup(struct wake_chain *c, const struct wake_record *r)
{
	struct wake_link *l = &c->links[c->count - 1];

	if (is_lost(c))
		return;
	spend(c, r->time, STATE_RUNNABLE, 0);
	if (c->end)
		return;
	if (r->thread && r->from != c->lane) {
		begin_link(c, r->from, r->time);
		return;
	}
	c->woken = true;
	if (r->thread || !r->from)
		l->unknown_waker = true;
	else if (!l->interrupt)
		l->interrupt = r->from;
}

/*
 * Return the last wake-up of a thread in its own slice: one that came while it was leaving the CPU.
 * NULL if there is none.
 */
static const struct wake_record *find_early_wakeup(const wake_records_t *list, size_t slice)
{
	const struct wake_record *s = &list->items[slice];

	for (size_t i = slice + 1; i < list->count && list->items[i].end >= s->time; i++)
		if (list->items[i].kind == WAKE_EDGE && list->items[i].lane == s->lane)
			return &list->items[i];
	return NULL;
}

/* The thread ran until s->end or later: what was it in between, and in the slice? */
static void take_run(struct wake_chain *c, const wake_records_t *list, size_t at)
{
	const struct wake_record *s = &list->items[at], *early = NULL;
	bool waited = !is_woken_state(s->left), gap = s->end + ROUNDING <= c->at;

	if (gap && is_lost(c))
		return;
	if (gap && waited && !c->woken)
		early = find_early_wakeup(list, at);
	if (early) {
		take_wakeup(c, early);
		if (c->end || c->lane != s->lane)
			return;
	}
	if (gap && s->end < c->at) {
		if (waited && !c->woken)
			c->links[c->count - 1].unknown_waker = true;
		spend(c, s->end, c->woken || waited ? STATE_SLEEPING : STATE_RUNNABLE, s->wait);
	}
	c->woken = false;
	if (!c->end)
		spend(c, s->time, STATE_RUNNING, 0);
}

/* Follow the chain to the next link. Return false if the records have no more of this one. */
static bool follow_wake_link(struct wake_chain *c, const wake_records_t *list)
{
	unsigned int link = c->count;

	for (size_t i = 0; i < list->count && !c->end; i++) {
		const struct wake_record *r = &list->items[i];

		if (r->kind == WAKE_LOST && r->time < c->at && r->time < c->lost)
			c->lost = r->time;
		if (r->kind == WAKE_LOST || r->lane != c->lane || r->time > c->at)
			continue;
		if (r->kind == WAKE_RAN)
			take_run(c, list, i);
		else if (!c->woken)
			take_wakeup(c, r);
		if (c->count != link)
			return true;
	}
	return false;
}

void wake_chain_follow(struct wake_chain *c, wake_records_t *records)
{
	if (records->count)
		qsort(records->items, records->count, sizeof(*records->items),
		      compare_wake_records);
	while (!c->end && follow_wake_link(c, records))
		;
}

void wake_chain_end(struct wake_chain *c, uint64_t state, uint64_t wait)
{
	if (c->end || is_lost(c))
		return;
	if (!c->woken && !is_woken_state(state) && state != STATE_RUNNING)
		c->links[c->count - 1].unknown_waker = true;
	spend(c, c->begin, c->woken ? STATE_SLEEPING : state, wait);
}
