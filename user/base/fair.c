// SPDX-License-Identifier: Apache-2.0
/*
 * Turns go to the owner that has used least of the server's time, which is measured. An owner does
 * not save up time in which it had no requests.
 */
#include "base/fair.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define SECOND 1000000000ULL
/* Charge this much (ns) when a request is taken, so that owners take turns before replies come. */
#define QUANTUM 20000ULL
#define HOLD_FIRST (2 * SECOND)
#define HOLD_DOUBLINGS 8 /* the longest hold is 8.5 minutes */
/*
 * With this number of owners, forget those without requests that are not held, and their used time,
 * before another owner is added.
 */
#define OWNERS_MAX 256

static uint64_t steady_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

struct fair_owner *fair_owner_of(const struct fair *f, uint32_t uid)
{
	struct fair_owner *w = NULL;

	HASH_FIND(hh, f->owners, &uid, sizeof(uid), w);
	return w;
}

static bool owner_is_idle(const struct fair_owner *w)
{
	for (unsigned int i = 0; i < FAIR_RANKS; i++)
		if (w->ranks[i].first)
			return false;
	return true;
}

static void drop_owner(struct fair *f, struct fair_owner *w)
{
	HASH_DEL(f->owners, w);
	free(w);
}

static void drop_idle_owners(struct fair *f)
{
	struct fair_owner *w, *next;

	HASH_ITER (hh, f->owners, w, next)
		if (owner_is_idle(w) && w->held <= f->now)
			drop_owner(f, w);
}

/* Return the owner of that uid, creating one if needed. Return NULL without memory. */
static struct fair_owner *find_or_add_owner(struct fair *f, uint32_t uid)
{
	struct fair_owner *w = fair_owner_of(f, uid);

	if (w)
		return w;
	if (HASH_COUNT(f->owners) >= OWNERS_MAX)
		drop_idle_owners(f);
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->uid = uid;
	HASH_ADD(hh, f->owners, uid, sizeof(w->uid), w);
	if (HASH_HAS(hh, w))
		return w;
	free(w);
	return NULL;
}

/*
 * Count one more request of uid. An owner that had no requests until now starts at f->floor: it has
 * not saved up time. Return NULL without memory.
 */
static struct fair_owner *count_owner_request(struct fair *f, uint32_t uid, size_t bytes)
{
	struct fair_owner *w = find_or_add_owner(f, uid);

	if (!w)
		return NULL;
	if (owner_is_idle(w) && w->used < f->floor)
		w->used = f->floor;
	w->bytes += bytes;
	f->bytes += bytes;
	f->count++;
	return w;
}

int fair_put(struct fair *f, uint32_t uid, unsigned int rank, struct queue_item *item, size_t bytes)
{
	struct fair_owner *w = count_owner_request(f, uid, bytes);

	if (!w)
		return -ENOMEM;
	queue_put(&w->ranks[rank], item, bytes);
	return 0;
}

int fair_return(struct fair *f, uint32_t uid, unsigned int rank, struct queue_item *item)
{
	struct fair_owner *w = count_owner_request(f, uid, item->bytes);
	struct queue first = {0};

	if (!w)
		return -ENOMEM;
	queue_put(&first, item, item->bytes);
	queue_append(&first, &w->ranks[rank]);
	w->ranks[rank] = first;
	return 0;
}

struct fair_owner *fair_next_owner(const struct fair *f)
{
	struct fair_owner *w, *found = NULL;

	for (w = f->owners; w; w = w->hh.next)
		if (!owner_is_idle(w) && w->held <= f->now && (!found || w->used < found->used))
			found = w;
	return found;
}

static unsigned int owner_first_rank(const struct fair_owner *w)
{
	unsigned int rank = 0;

	while (rank < FAIR_RANKS - 1 && !w->ranks[rank].first)
		rank++;
	return rank;
}

struct queue_item *fair_first(const struct fair_owner *w)
{
	return w->ranks[owner_first_rank(w)].first;
}

struct queue_item *fair_take(struct fair *f, struct fair_owner *w)
{
	struct queue_item *item = queue_take(&w->ranks[owner_first_rank(w)]);

	if (!item)
		return NULL;
	w->bytes -= item->bytes;
	f->bytes -= item->bytes;
	f->count--;
	if (w->used > f->floor)
		f->floor = w->used;
	w->used += QUANTUM;
	return item;
}

struct queue fair_pick(struct fair *f, struct fair_owner *w,
		       bool (*pick)(const struct queue_item *item, const void *context),
		       const void *context)
{
	struct queue picked = {0};

	for (unsigned int rank = 0; rank < FAIR_RANKS; rank++) {
		struct queue all = w->ranks[rank];
		struct queue_item *item;

		w->ranks[rank] = (struct queue){0};
		while ((item = queue_take(&all))) {
			if (!pick(item, context)) {
				queue_put(&w->ranks[rank], item, item->bytes);
				continue;
			}
			w->bytes -= item->bytes;
			f->bytes -= item->bytes;
			f->count--;
			queue_put(&picked, item, item->bytes);
		}
	}
	return picked;
}

struct fair_owner *fair_largest_owner(const struct fair *f)
{
	struct fair_owner *w, *found = NULL;

	for (w = f->owners; w; w = w->hh.next)
		if (w->bytes && (!found || w->bytes > found->bytes))
			found = w;
	return found;
}

void fair_begin(struct fair *f)
{
	f->served = steady_now();
}

void fair_served(struct fair *f, uint32_t uid)
{
	uint64_t now = steady_now(), took = now - f->served;
	struct fair_owner *w = fair_owner_of(f, uid);

	f->served = now;
	if (!w)
		return;
	w->used += took;
	w->usual = (7 * w->usual + took) / 8;
}

void fair_hold(struct fair *f, uint32_t uid)
{
	struct fair_owner *w = find_or_add_owner(f, uid);

	if (!w)
		return;
	w->held = f->now + (HOLD_FIRST << w->strikes);
	if (w->strikes < HOLD_DOUBLINGS)
		w->strikes++;
}

struct queue_item *fair_drain(struct fair *f)
{
	struct fair_owner *w;

	while ((w = f->owners)) {
		struct queue_item *item = fair_take(f, w);

		if (item)
			return item;
		drop_owner(f, w);
	}
	return NULL;
}
