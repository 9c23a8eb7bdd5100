// SPDX-License-Identifier: Apache-2.0
/* order.c: records of many rings are put into one order. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "capture/order.h"
#include "suite.h"

struct seen {
	uint64_t times[4096];
	bool late[4096];
	unsigned int count;
	unsigned int stop_after;
};

/* Note all records that may be released, or so many that stop_after are noted. */
static void release(struct order *o, struct seen *s)
{
	struct ordered_record r;
	uint64_t time, copy;

	while ((time = order_next_time(o)) != UINT64_MAX) {
		order_release(o, &r);
		ck_assert_uint_eq(r.time, time);
		ck_assert_uint_eq(r.size, sizeof(copy));
		memcpy(&copy, r.data, sizeof(copy));
		ck_assert_uint_eq(copy, r.time);
		s->times[s->count] = r.time;
		s->late[s->count++] = r.late;
		if (s->stop_after && s->count == s->stop_after)
			return;
	}
}

static void push(struct order *o, int ring, uint64_t time)
{
	ck_assert_int_eq(order_push(o, ring, time, &time, sizeof(time)), 0);
}

START_TEST(waits_for_every_ring)
{
	struct order *o = order_new();
	struct seen s = {.count = 0};
	int a = order_add_ring(o), b = order_add_ring(o);

	push(o, a, 10);
	push(o, a, 30);
	push(o, b, 20);
	order_set_passed(o, a, 30);
	order_set_passed(o, b, 15);
	release(o, &s);
	ck_assert_uint_eq(s.count, 1);
	order_set_passed(o, b, 40);
	release(o, &s);
	ck_assert_uint_eq(s.count, 3);
	ck_assert_uint_eq(s.times[1], 20);
	ck_assert_uint_eq(s.times[2], 30);
	order_free(o);
}
END_TEST

START_TEST(late_records_are_told)
{
	struct order *o = order_new();
	struct seen s = {.count = 0};
	int a = order_add_ring(o), b = order_add_ring(o);

	push(o, a, 100);
	order_set_passed(o, a, 100);
	order_set_passed(o, b, 100);
	release(o, &s);
	push(o, b, 90);
	push(o, b, 110);
	order_close(o);
	release(o, &s);
	ck_assert_uint_eq(s.count, 3);
	ck_assert(!s.late[0] && s.late[1] && !s.late[2]);
	order_free(o);
}
END_TEST

START_TEST(a_dropped_ring_holds_nothing_back)
{
	struct order *o = order_new();
	struct seen s = {.count = 0};
	int a = order_add_ring(o), b = order_add_ring(o);

	push(o, a, 5);
	push(o, b, 6);
	order_set_passed(o, a, 50);
	order_set_passed(o, b, 1);
	order_drop_ring(o, b);
	release(o, &s);
	ck_assert_uint_eq(s.count, 2);
	order_free(o);
}
END_TEST

START_TEST(a_ring_that_is_back_keeps_its_records)
{
	struct order *o = order_new();
	struct seen s = {.count = 0};
	int a = order_add_ring(o), b = order_add_ring(o);

	push(o, b, 6);
	order_set_passed(o, b, 1);
	order_drop_ring(o, b);
	order_reopen_ring(o, b);
	order_set_passed(o, a, 5);
	release(o, &s);
	ck_assert_uint_eq(s.count, 0);
	order_set_passed(o, a, 50);
	/* the ring has not been read since, and holds nothing back */
	release(o, &s);
	ck_assert_uint_eq(s.count, 1);
	push(o, b, 60);
	order_set_passed(o, a, 70);
	order_set_passed(o, b, 55);
	release(o, &s);
	ck_assert_uint_eq(s.count, 1);
	order_free(o);
}
END_TEST

START_TEST(may_stop_after_any_record)
{
	struct order *o = order_new();
	struct seen s = {.stop_after = 1};
	int a = order_add_ring(o);

	push(o, a, 1);
	push(o, a, 2);
	order_close(o);
	release(o, &s);
	ck_assert_uint_eq(s.count, 1);
	s.stop_after = 0;
	release(o, &s);
	ck_assert_uint_eq(s.count, 2);
	order_free(o);
}
END_TEST

/* Random rings, each a little out of order, read in random rounds: all records come, sorted. */
static void check_interleaving(unsigned int seed)
{
	struct order *o = order_new();
	struct seen s = {.count = 0};
	int rings[5];
	unsigned int pushed = 0;
	uint64_t now = 1000;

	srand(seed);
	for (int i = 0; i < 5; i++)
		rings[i] = order_add_ring(o);
	while (pushed < 3000) {
		int ring = rings[rand() % 5];

		for (int n = rand() % 8; n > 0; n--, pushed++)
			push(o, ring, now + (uint64_t)(rand() % 10));
		now += (uint64_t)(rand() % 20);
		order_set_passed(o, rings[rand() % 5], now - 1);
		if (rand() % 4 == 0)
			for (int i = 0; i < 5; i++)
				order_set_passed(o, rings[i], now - 1);
		release(o, &s);
		if (rand() % 16 == 0)
			order_tidy(o);
	}
	order_close(o);
	release(o, &s);
	ck_assert_uint_eq(s.count, pushed);
	for (unsigned int i = 1; i < s.count; i++)
		ck_assert(s.late[i] || s.times[i - 1] <= s.times[i] || s.late[i - 1]);
	order_free(o);
}

START_TEST(any_interleaving_comes_out_sorted)
{
	for (unsigned int seed = 1; seed <= 20; seed++)
		check_interleaving(seed);
}
END_TEST

static size_t allocated(void)
{
	return mallinfo2().uordblks + mallinfo2().hblkhd; /* 0 under a sanitizer */
}

START_TEST(a_burst_is_given_back)
{
	static char large[1 << 16];
	struct order *o = order_new();
	size_t before = allocated();
	int a = order_add_ring(o), b = order_add_ring(o);
	struct seen s = {.count = 0};
	struct ordered_record r;

	for (uint64_t n = 1; n <= 128; n++)
		ck_assert_int_eq(order_push(o, a, n, large, sizeof(large)), 0);
	order_set_passed(o, b, 128);
	while (order_next_time(o) != UINT64_MAX)
		order_release(o, &r);
	order_tidy(o); /* the memory was used recently, so it is kept */
	push(o, a, 200);
	order_tidy(o);
	ck_assert_uint_lt(allocated(), before + (1 << 20));
	order_close(o);
	release(o, &s);
	ck_assert_uint_eq(s.count, 1);
	order_free(o);
}
END_TEST

SUITE("order", waits_for_every_ring, late_records_are_told, a_dropped_ring_holds_nothing_back,
      a_ring_that_is_back_keeps_its_records, may_stop_after_any_record,
      any_interleaving_comes_out_sorted, a_burst_is_given_back)
