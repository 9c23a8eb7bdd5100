// SPDX-License-Identifier: Apache-2.0
/*
 * Put the threads of a process on as few lanes as they need: each on the smallest number that is
 * free when it starts, until it ends. So a program that starts threads by the thousand, one after
 * the other, needs as many lanes as it had threads at once.
 */
#include <errno.h>
#include <stdlib.h>

#include "lanes/pool.h"

/* A thread starts, or it ends and its number is free again. */
struct pool_event {
	uint64_t time;
	bool starts;
	size_t thread; /* index */
};

/* Free numbers, as a heap: each is smaller than the two at twice its place and after that. */
struct free_numbers {
	uint32_t *heap; /* from 1 on */
	size_t count;
};

/* An end comes before a start at the same time, so that the number passes on. */
static int by_event_time(const void *a, const void *b)
{
	const struct pool_event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->starts != y->starts)
		return x->starts ? 1 : -1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static void swap_numbers(uint32_t *a, uint32_t *b)
{
	uint32_t kept = *a;

	*a = *b;
	*b = kept;
}

static void give_free_number(struct free_numbers *f, uint32_t number)
{
	size_t at = ++f->count;

	for (f->heap[at] = number; at > 1 && f->heap[at / 2] > f->heap[at]; at /= 2)
		swap_numbers(&f->heap[at / 2], &f->heap[at]);
}

static uint32_t take_free_number(struct free_numbers *f)
{
	uint32_t number = f->heap[1];
	size_t at = 1, next = 2;

	for (f->heap[1] = f->heap[f->count--]; next <= f->count; next = 2 * at) {
		next += next < f->count && f->heap[next + 1] < f->heap[next];
		if (f->heap[at] <= f->heap[next])
			break;
		swap_numbers(&f->heap[at], &f->heap[next]);
		at = next;
	}
	return number;
}

static void number_by_events(const struct pool_event *events, size_t count, struct free_numbers *f,
			     uint32_t *numbers)
{
	uint32_t most = 0;

	for (size_t i = 0; i < count; i++) {
		size_t thread = events[i].thread;

		if (!events[i].starts)
			give_free_number(f, numbers[thread]);
		else
			numbers[thread] = f->count ? take_free_number(f) : ++most;
	}
}

int pool_number_threads(const struct lane_part *parts, size_t count, uint32_t *numbers)
{
	struct pool_event *events = calloc(2 * count + 1, sizeof(*events));
	struct free_numbers f = {.heap = calloc(count + 2, sizeof(*f.heap))};
	size_t used = 0;

	for (size_t i = 0; i < count && events && f.heap; i++) {
		events[used++] = (struct pool_event){parts[i].start, true, i};
		/* one that ends where it starts, or before, has its number until the end of time */
		if (parts[i].end > parts[i].start)
			events[used++] = (struct pool_event){parts[i].end, false, i};
	}
	if (events && f.heap) {
		qsort(events, used, sizeof(*events), by_event_time);
		number_by_events(events, used, &f, numbers);
	}
	free(events);
	free(f.heap);
	return events && f.heap ? 0 : -ENOMEM;
}
