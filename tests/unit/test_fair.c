// SPDX-License-Identifier: Apache-2.0
/*
 * Test the turns of owners: no owner waits for another's many or slow requests, and no request is
 * lost.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/fair.h"
#include "base/units.h"
#include "capture/file_quotas.h"
#include "capture/suspects.h"
#include "suite.h"

#define SECOND 1000000000ULL

struct wish {
	struct queue_item item;
	uint32_t owner;
	unsigned int number;
};

static void put(struct fair *f, uint32_t owner, unsigned int rank, unsigned int number)
{
	struct wish *w = calloc(1, sizeof(*w));

	w->owner = owner;
	w->number = number;
	ck_assert_int_eq(fair_put(f, owner, rank, &w->item, sizeof(*w)), 0);
}

/* Take the next request: return its owner and store its number; 0 if no owner has a turn. */
static uint32_t take(struct fair *f, unsigned int *number)
{
	struct fair_owner *o = fair_next_owner(f);
	struct wish *w = o ? (struct wish *)fair_take(f, o) : NULL;
	uint32_t owner = w ? w->owner : 0;

	if (w)
		*number = w->number;
	free(w);
	return owner;
}

static void work(uint64_t ns)
{
	struct timespec t = {.tv_nsec = (long)ns};

	nanosleep(&t, NULL);
}

START_TEST(many_requests_take_turns_with_few)
{
	struct fair f = {0};
	unsigned int number, before = 0, turns;

	for (unsigned int i = 0; i < 10000; i++)
		put(&f, 1, 1, i);
	for (unsigned int i = 0; i < 100; i++)
		(void)take(&f, &number);
	for (unsigned int i = 0; i < 10; i++)
		put(&f, 2, 1, i);
	for (turns = 0; before < 10; turns++)
		if (take(&f, &number) == 2)
			ck_assert_uint_eq(number, before++);
	ck_assert_uint_le(turns, 21);
	ck_assert_uint_eq(f.count, 10000 - 100 - (turns - 10));
	for (struct queue_item *item; (item = fair_drain(&f));)
		free(item);
	ck_assert_uint_eq(f.count, 0);
	ck_assert_uint_eq(f.bytes, 0);
}
END_TEST

/* Turns depend on the server's time, not on the number of requests. */
START_TEST(slow_requests_wait_for_quick_ones)
{
	struct fair f = {0};
	unsigned int number, quick = 0;

	for (unsigned int i = 0; i < 100; i++) {
		put(&f, 1, 0, i);
		put(&f, 2, 0, i);
	}
	fair_begin(&f);
	for (unsigned int slow = 0; slow < 2;) {
		uint32_t owner = take(&f, &number);

		if (owner == 1)
			work(20000000);
		fair_served(&f, owner);
		slow += owner == 1;
		quick += owner == 2;
	}
	ck_assert_uint_ge(quick, 90);
	for (struct queue_item *item; (item = fair_drain(&f));)
		free(item);
}
END_TEST

START_TEST(ranks_and_returns_keep_their_order)
{
	struct fair f = {0};
	struct fair_owner *o;
	struct queue_item *first;
	unsigned int number;

	put(&f, 1, 2, 20);
	put(&f, 1, 1, 10);
	put(&f, 1, 1, 11);
	o = fair_next_owner(&f);
	first = fair_take(&f, o);
	ck_assert_uint_eq(((struct wish *)first)->number, 10);
	ck_assert_int_eq(fair_return(&f, 1, 1, first), 0);
	for (unsigned int i = 0; i < 3; i++) {
		static const unsigned int wanted[] = {10, 11, 20};

		ck_assert_uint_eq(take(&f, &number), 1);
		ck_assert_uint_eq(number, wanted[i]);
	}
	ck_assert_uint_eq(take(&f, &number), 0);
	ck_assert_ptr_null(fair_drain(&f));
}
END_TEST

START_TEST(who_hangs_the_server_is_held_ever_longer)
{
	struct fair f = {.now = 1};
	unsigned int number;
	uint64_t before = 0;

	put(&f, 1, 0, 0);
	for (unsigned int i = 0; i < 5; i++) {
		uint64_t begun = f.now;

		fair_hold(&f, 1);
		ck_assert_ptr_null(fair_next_owner(&f));
		put(&f, 2, 0, i);
		ck_assert_uint_eq(take(&f, &number), 2);
		while (!fair_next_owner(&f))
			f.now += SECOND / 4;
		ck_assert_uint_gt(f.now - begun, before);
		before = f.now - begun;
	}
	ck_assert_uint_eq(take(&f, &number), 1);
	ck_assert_ptr_null(fair_drain(&f));
}
END_TEST

static bool is_even(const struct queue_item *item, const void *context)
{
	(void)context;
	return ((const struct wish *)item)->number % 2 == 0;
}

START_TEST(some_can_be_picked)
{
	struct fair f = {0};
	struct queue_item *item;
	struct queue even;
	unsigned int number;

	for (unsigned int i = 0; i < 10; i++)
		put(&f, 1, i % 3, i);
	even = fair_pick(&f, fair_owner_of(&f, 1), is_even, NULL);
	ck_assert_uint_eq(even.count, 5);
	ck_assert_uint_eq(f.count, 5);
	while ((item = queue_take(&even)))
		free(item);
	while (take(&f, &number))
		ck_assert_uint_eq(number % 2, 1);
	ck_assert_uint_eq(f.bytes, 0);
	ck_assert_ptr_null(fair_drain(&f));
}
END_TEST

START_TEST(suspects_are_avoided_ever_longer)
{
	const struct file_id id = {.major = 0, .minor = 99};
	uint64_t now = 1, before = 0, device = suspect_device(&id);
	struct suspects s = {0};
	uint32_t users[2];

	suspects_add(&s, device, now);
	ck_assert(suspects_has(&s, device, now));
	ck_assert(!suspects_avoids(&s, device, now));
	for (int i = 0; i < 4; i++) {
		uint64_t begun = now;

		suspects_strike(&s, device, now);
		while (suspects_avoids(&s, device, now))
			now += SECOND;
		ck_assert_uint_gt(now - begun, before);
		before = now - begun;
	}
	suspects_add(&s, suspect_user(0), now);
	suspects_add(&s, suspect_user(1001), now);
	ck_assert_uint_eq(suspects_users(&s, now, users, 2), 1); /* root is never left out */
	ck_assert_uint_eq(users[0], 1001);
	for (uint32_t uid = 1; uid < 5000; uid++) /* the number is bounded */
		suspects_add(&s, suspect_user(uid), now);
	ck_assert_uint_le(HASH_COUNT(s.all), 1024);
	suspects_free(&s);
}
END_TEST

/* A file every 50 ms, of 32 that a second earns: what is earned between two of them is not lost. */
START_TEST(shares_grow_by_parts_of_a_file)
{
	struct file_quotas s = {0};
	struct file_quota *one = file_quotas_get(&s, 1001);
	uint64_t now = SECOND, left = 0;

	while (file_quota_take_open(one, now))
		;
	for (int i = 0; i < 100; i++)
		file_quota_take_open(one, now += SECOND / 20);
	while (file_quota_take_open(one, now))
		left++;
	ck_assert_uint_ge(left + 100, 5 * 32 - 1);
	ck_assert_uint_le(left + 100, 5 * 32);
	file_quotas_free(&s);
}
END_TEST

/* How many files were refused to all users. */
static uint64_t refused_to_all(const struct file_quotas *s)
{
	uint64_t sum = 0;

	for (int why = 0; why < REFUSAL_COUNT; why++) {
		sum += s->others.refused[why];
		for (const struct file_quota *one = s->all; one; one = one->hh.next)
			sum += one->refused[why];
	}
	return sum;
}

START_TEST(shares_end_and_grow_again)
{
	struct file_quotas s = {0};
	struct file_quota *one = file_quotas_get(&s, 1001), *root = file_quotas_get(&s, 0);
	const struct file_quota *worst[2];
	uint64_t now = SECOND, taken = 0, refused;
	char text[192], wanted[192], count[32];

	for (int i = 0; i < 40000; i++) { /* each file twice */
		int file = i / 2;

		ck_assert(file_quota_take_open(root, now));
		if (i % 2 == 0 && file_quota_take_open(one, now))
			taken++;
		else if ((uint64_t)file >= taken)
			file_quotas_refuse_file(&s, 1001, &file, sizeof(file));
	}
	ck_assert_uint_lt(taken, 2000);
	refused = refused_to_all(&s);
	ck_assert_uint_le(refused, 20000 - taken);
	ck_assert_uint_ge(refused, (20000 - taken) * 99 / 100);
	ck_assert(file_quota_take_open(file_quotas_get(&s, 1002), now));
	ck_assert(file_quota_take_open(one, now + SECOND));
	file_quota_refuse(one, REFUSED_SILENT);
	file_quota_refuse(file_quotas_get(&s, 1003), REFUSED_SILENT);
	ck_assert_uint_eq(file_quotas_worst(&s, worst, 2), 2);
	ck_assert_ptr_eq(worst[0], one);
	ck_assert_str_eq(file_quota_format(worst[1], text, sizeof(text)),
			 "to uid 1003: 1 file (its file system did not answer)");
	snprintf(wanted, sizeof(wanted),
		 "to uid 1001: %s files (more than its share), 1 file (its "
		 "file system did not answer)",
		 show_count(refused, count, sizeof(count)));
	ck_assert_str_eq(file_quota_format(one, text, sizeof(text)), wanted);
	for (uint32_t uid = 2000; uid < 4000; uid++) /* the number is bounded */
		file_quota_refuse(file_quotas_get(&s, uid), REFUSED_QUOTA);
	ck_assert_uint_le(HASH_COUNT(s.all), 400);
	ck_assert_uint_eq(refused_to_all(&s), refused + 2 + 2000);
	/* the users above the bound share a quota, which is like any other */
	ck_assert_uint_eq(file_quotas_worst(&s, worst, 2), 2);
	ck_assert_ptr_eq(worst[1], &s.others);
	for (int i = 0; i < 1000; i++)
		ck_assert(file_quota_take_open(file_quotas_get(&s, 4000), now));
	file_quotas_free(&s);
}
END_TEST

SUITE("fair", many_requests_take_turns_with_few, slow_requests_wait_for_quick_ones,
      ranks_and_returns_keep_their_order, who_hangs_the_server_is_held_ever_longer,
      some_can_be_picked, suspects_are_avoided_ever_longer, shares_grow_by_parts_of_a_file,
      shares_end_and_grow_again)
