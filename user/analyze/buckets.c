// SPDX-License-Identifier: Apache-2.0
/* Add up samples in a moving window of time (buckets.h). */
#include <stdlib.h>

#include "analyze/buckets.h"

/*
 * buckets_add() merges the equal sums of a bucket when the bucket has twice as many sums as after
 * its last merge, plus this many.
 */
#define SPARE 4096

void buckets_init(struct buckets *b, uint64_t window)
{
	*b = (struct buckets){.width = window / (BUCKETS - 1)};
	if (!b->width)
		b->width = 1;
}

static void bucket_clear(struct bucket *b)
{
	vector_free(&b->sums);
	b->merged = 0;
}

void buckets_free(struct buckets *b)
{
	for (unsigned int i = 0; i < BUCKETS; i++)
		bucket_clear(&b->ring[i]);
}

static bool buckets_in_window(const struct buckets *b, uint64_t number)
{
	return number + BUCKETS > b->last;
}

void buckets_advance(struct buckets *b, uint64_t now)
{
	uint64_t number = now / b->width;

	if (number <= b->last)
		return;
	b->last = number;
	for (unsigned int i = 0; i < BUCKETS; i++)
		if (!buckets_in_window(b, b->ring[i].number))
			bucket_clear(&b->ring[i]);
}

uint64_t buckets_begin(const struct buckets *b)
{
	return b->last >= BUCKETS ? (b->last - BUCKETS + 1) * b->width : 0;
}

static int compare_bucket_sums(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->flags != y->flags)
		return x->flags < y->flags ? -1 : 1;
	return (x->wait > y->wait) - (x->wait < y->wait);
}

static void merge_bucket(struct bucket *b)
{
	struct sum *sums = b->sums.items;
	size_t kept = 0;

	if (b->merged == b->sums.count)
		return;
	qsort(sums, b->sums.count, sizeof(*sums), compare_bucket_sums);
	for (size_t i = 1; i < b->sums.count; i++) {
		if (compare_bucket_sums(&sums[kept], &sums[i])) {
			sums[++kept] = sums[i];
			continue;
		}
		sums[kept].count += sums[i].count;
		sums[kept].weight += sums[i].weight;
	}
	b->sums.count = b->merged = kept + 1;
}

int buckets_add(struct buckets *b, const struct sample *s)
{
	const struct sum one = sum_of_sample(s);

	return buckets_add_sum(b, s->time, &one);
}

int buckets_add_sum(struct buckets *b, uint64_t time, const struct sum *one)
{
	uint64_t number = time / b->width;
	struct bucket *to = &b->ring[number % BUCKETS];

	buckets_advance(b, time);
	if (!buckets_in_window(b, number))
		return 0;
	if (to->number != number)
		bucket_clear(to);
	to->number = number;
	if (to->sums.count >= 2 * to->merged + SPARE)
		merge_bucket(to);
	return vector_push(&to->sums, *one);
}

const struct bucket *buckets_at(struct buckets *b, unsigned int place)
{
	struct bucket *at = &b->ring[place];

	if (!at->sums.count || !buckets_in_window(b, at->number))
		return NULL;
	merge_bucket(at);
	return at;
}
