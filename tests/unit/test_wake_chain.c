// SPDX-License-Identifier: Apache-2.0
/* Test the chain of wakers: times by hand, and records that come in any number of parts. */
#include "analyze/wake_chain.h"

#include "suite.h"
#include "synthetic.h"

enum { A = 11, B, C };
#define TIMER 30

#define RUN(lane, time, end, left, wait) \
	{time, end, lane, 0, WAKE_RAN, left, wait, false}
#define WOKE(from, to, time) \
	{time, time, to, from, WAKE_EDGE, 0, 0, (from) != TIMER && (from)}
#define LOST(time, end) \
	{time, end, 0, 0, WAKE_LOST, 0, 0, false}

/* Follow a chain through the records in parts of a length: all that touch each part. */
static void follow(struct wake_chain *c, const struct wake_record *all, size_t count,
		   uint64_t length)
{
	wake_records_t part = {0};

	for (uint64_t to = c->at; !c->end && to > c->begin;) {
		uint64_t from = to - c->begin > length ? to - length : c->begin;

		part.count = 0;
		for (size_t i = 0; i < count; i++)
			if (all[i].time <= to && all[i].end >= from)
				ck_assert_int_eq(vector_push(&part, all[i]), 0);
		wake_chain_follow(c, &part);
		to = c->at < from ? c->at : from;
	}
	vector_free(&part);
}

#define FOLLOW(c, records, length) \
	follow(c, records, sizeof(records) / sizeof((records)[0]), length)

static void check_link(const struct wake_link *l, uint64_t lane, uint64_t ran, uint64_t runnable,
		       uint64_t waited)
{
	ck_assert_uint_eq(l->lane, lane);
	ck_assert_uint_eq(l->ran, ran);
	ck_assert_uint_eq(l->runnable, runnable);
	ck_assert_uint_eq(l->waited, waited);
	ck_assert_uint_eq(l->end - l->time, ran + runnable + waited);
}

/* C wakes B, which is preempted, waits for a timer, and wakes A. */
static const struct wake_record three[] = {
	RUN(C, 0, 30000, STATE_SLEEPING, WAIT_SLEEP),
	WOKE(C, B, 25000),
	RUN(B, 28000, 50000, STATE_PREEMPTED, 0),
	RUN(B, 60000, 70000, STATE_SLEEPING, WAIT_SLEEP),
	WOKE(TIMER, B, 80000),
	RUN(B, 81000, 95000, STATE_SLEEPING, WAIT_POLL),
	WOKE(B, A, 90000),
};

START_TEST(adds_up)
{
	static const uint64_t lengths[] = {1000000, 20000, 7001, 999};
	struct wake_chain c;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		wake_chain_begin(&c, 10000, 90000, B);
		FOLLOW(&c, three, lengths[i]);
		ck_assert_int_eq(c.end, WAKE_END_BEGIN);
		ck_assert_uint_eq(c.count, 2);
		check_link(&c.links[0], B, 41000, 14000, 10000);
		ck_assert_uint_eq(c.links[0].waited_for[WAIT_SLEEP], 10000);
		ck_assert_uint_eq(c.links[0].interrupt, TIMER);
		check_link(&c.links[1], C, 15000, 0, 0);
		ck_assert(!c.links[0].unknown_waker && !c.links[1].unknown_waker);
	}
}
END_TEST

/* The wait began while B was in each state. */
START_TEST(ends_within_a_state)
{
	struct wake_chain c;

	wake_chain_begin(&c, 85000, 90000, B);
	FOLLOW(&c, three, 1000);
	check_link(&c.links[0], B, 5000, 0, 0);
	wake_chain_begin(&c, 75000, 90000, B);
	FOLLOW(&c, three, 1000);
	ck_assert_int_eq(c.end, WAKE_END_NONE);
	wake_chain_end(&c, STATE_SLEEPING, WAIT_SLEEP);
	check_link(&c.links[0], B, 9000, 1000, 5000);
	ck_assert_int_eq(c.end, WAKE_END_BEGIN);
	wake_chain_begin(&c, 55000, 90000, B);
	FOLLOW(&c, three, 1000000);
	wake_chain_end(&c, STATE_PREEMPTED, 0);
	check_link(&c.links[0], B, 19000, 6000, 10000);
}
END_TEST

START_TEST(unknown_waker)
{
	static const struct wake_record records[] = {
		RUN(B, 20000, 30000, STATE_SLEEPING, WAIT_LOCK),
		RUN(B, 50000, 60000, STATE_SLEEPING, WAIT_LOCK),
	};
	struct wake_chain c;

	wake_chain_begin(&c, 25000, 55000, B);
	FOLLOW(&c, records, 1000000);
	check_link(&c.links[0], B, 10000, 0, 20000);
	ck_assert(c.links[0].unknown_waker);
	ck_assert_uint_eq(c.links[0].waited_for[WAIT_LOCK], 20000);
}
END_TEST

/* Missing records end a chain where B did not run; elsewhere they do not matter. */
START_TEST(lost_records)
{
	static const struct wake_record records[] = {
		RUN(B, 20000, 30000, STATE_PREEMPTED, 0),
		LOST(35000, 40000),
		RUN(B, 50000, 60000, STATE_SLEEPING, WAIT_LOCK),
		LOST(52000, 54000),
	};
	struct wake_chain c;

	wake_chain_begin(&c, 25000, 55000, B);
	FOLLOW(&c, records, 1000000);
	ck_assert_int_eq(c.end, WAKE_END_LOST);
	ck_assert_uint_eq(c.at, 50000);
	check_link(&c.links[0], B, 5000, 0, 0);
}
END_TEST

/* A wake-up that came while B was leaving the CPU. */
START_TEST(early_wakeup)
{
	static const struct wake_record records[] = {
		RUN(C, 0, 60000, STATE_SLEEPING, WAIT_LOCK),
		RUN(B, 20000, 30000, STATE_SLEEPING, WAIT_LOCK),
		WOKE(C, B, 29500),
		RUN(B, 40000, 50000, STATE_SLEEPING, WAIT_LOCK),
	};
	struct wake_chain c;

	wake_chain_begin(&c, 25000, 45000, B);
	FOLLOW(&c, records, 1000000);
	ck_assert_uint_eq(c.count, 2);
	check_link(&c.links[0], B, 5000, 10500, 0);
	check_link(&c.links[1], C, 4500, 0, 0);
}
END_TEST

/* Two threads that wake each other for ever are cut off. */
START_TEST(bounded)
{
	struct wake_record records[200];
	struct wake_chain c;

	for (unsigned int i = 0; i < 100; i++) {
		uint64_t lane = i % 2 ? B : C, other = i % 2 ? C : B, time = 1000 * i;

		records[2 * i] = (struct wake_record)RUN(lane, time, time + 900, STATE_SLEEPING, 1);
		records[2 * i + 1] = (struct wake_record)WOKE(lane, other, time + 800);
	}
	wake_chain_begin(&c, 500, 99500, B);
	FOLLOW(&c, records, 3000);
	ck_assert_int_eq(c.end, WAKE_END_LINKS);
	ck_assert_uint_eq(c.count, WAKE_CHAIN_LINKS);
	for (unsigned int i = 1; i < c.count; i++)
		ck_assert_uint_eq(c.links[i].end, c.links[i - 1].time);
}
END_TEST

/* Hostile records never spend more than the wait, whatever their times. */
START_TEST(random_records)
{
	uint64_t seed = 1;

	for (unsigned int turn = 0; turn < 2000; turn++) {
		struct wake_record records[40];
		uint64_t sum = 0;
		struct wake_chain c;

		for (size_t i = 0; i < 40; i++) {
			uint64_t time = synthetic_random(&seed) % 10000;

			records[i] = (struct wake_record){time,
							  time + synthetic_random(&seed) % 3000,
							  A + synthetic_random(&seed) % 3,
							  A + synthetic_random(&seed) % 3,
							  (uint8_t)(synthetic_random(&seed) % 3),
							  (uint8_t)synthetic_random(&seed),
							  (uint8_t)synthetic_random(&seed),
							  synthetic_random(&seed) % 2};
		}
		wake_chain_begin(&c, 2000, 9000, B);
		FOLLOW(&c, records, 1 + synthetic_random(&seed) % 5000);
		wake_chain_end(&c, STATE_RUNNING, 0);
		for (unsigned int i = 0; i < c.count; i++) {
			const struct wake_link *l = &c.links[i];

			ck_assert_uint_eq(l->end - l->time, l->ran + l->runnable + l->waited);
			sum += l->end - l->time;
		}
		ck_assert_uint_eq(sum, 9000 - c.at);
		ck_assert(c.at >= 2000 && (c.end != WAKE_END_BEGIN || c.at == 2000));
	}
}
END_TEST

SUITE("wake_chain", adds_up, ends_within_a_state, unknown_waker, lost_records, early_wakeup,
      bounded, random_records)
