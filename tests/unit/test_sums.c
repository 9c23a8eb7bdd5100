// SPDX-License-Identifier: Apache-2.0
/* Sums of samples, compared with an array. */
#include <stdlib.h>

#include "suite.h"
#include "trace/sums.h"

#define EVENTS 2
#define THREADS 4
#define STACKS 500
#define FLAGS 2
#define WAITS 3
#define KEYS (EVENTS * THREADS * STACKS * FLAGS * WAITS)
#define SAMPLES 100000

/* Return a sample; some ids are far apart. One flag is of a runtime, the other is not. */
static struct sample sample_of(unsigned int key, unsigned int i)
{
	return (struct sample){
		.event = 1 + key % EVENTS,
		.thread = (uint64_t)(key / EVENTS % THREADS) << 31,
		.stack = (uint64_t)(key / EVENTS / THREADS % STACKS) << (key % 3 * 20),
		.flags = (key / EVENTS / THREADS / STACKS % FLAGS ? SAMPLE_FLAG_GIL : 0) |
			 (i % 2 ? SAMPLE_FLAG_KERNEL : 0),
		.weight = i,
		.wait = key / EVENTS / THREADS / STACKS / FLAGS,
	};
}

static const struct sum *sum_like(const struct sums *s, const struct sample *r)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (s->items[i].event == r->event && s->items[i].thread == r->thread &&
		    s->items[i].stack == r->stack &&
		    s->items[i].flags == (r->flags & SAMPLE_FLAGS_OF_RUNTIME) &&
		    s->items[i].wait == r->wait)
			return &s->items[i];
	return NULL;
}

START_TEST(every_key_has_its_own)
{
	static uint64_t counts[KEYS], weights[KEYS];
	struct sums s;
	uint32_t keys = 0;

	srand(1);
	ck_assert_int_eq(sums_init(&s), 0);
	for (unsigned int i = 0; i < SAMPLES; i++) {
		unsigned int key = (unsigned int)rand() % KEYS;
		struct sample r = sample_of(key, i);

		keys += !counts[key];
		counts[key]++;
		weights[key] += i;
		if (!sums_add(&s, &r))
			ck_abort_msg("no room");
	}
	ck_assert_uint_eq(s.count, keys);
	for (unsigned int key = 0; key < KEYS; key += 7) {
		struct sample r = sample_of(key, 0);
		const struct sum *sum = sum_like(&s, &r);

		ck_assert_uint_eq(sum ? sum->count : 0, counts[key]);
		ck_assert_uint_eq(sum ? sum->weight : 0, weights[key]);
	}
	sums_free(&s);
}
END_TEST

START_TEST(what_is_full_begins_anew)
{
	struct sample r = {.event = 1, .thread = 1, .weight = 10};
	struct sums s;
	uint32_t most;

	ck_assert_int_eq(sums_init(&s), 0);
	for (r.stack = 1; sums_add(&s, &r); r.stack++)
		;
	most = s.count;
	ck_assert_uint_eq(r.stack, most + 1);
	ck_assert(!sums_add(&s, &r));
	ck_assert_uint_eq(s.count, most);
	r.stack = most; /* a full table still adds to existing sums */
	ck_assert(sums_add(&s, &r));
	ck_assert_uint_eq(s.items[most - 1].count, 2);
	sums_clear(&s);
	ck_assert_uint_eq(s.count, 0);
	ck_assert(sums_add(&s, &r));
	ck_assert_uint_eq(s.items[0].stack, most);
	ck_assert_uint_eq(s.items[0].count, 1);
	ck_assert_uint_eq(s.items[0].weight, 10);
	sums_free(&s);
}
END_TEST

SUITE("sums", every_key_has_its_own, what_is_full_begins_anew)
