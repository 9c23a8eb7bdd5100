// SPDX-License-Identifier: Apache-2.0
/* Test the governor of the CPU budget by properties over random costs. */
#include <stdlib.h>
#include <string.h>

#include "serve/governor.h"
#include "suite.h"

#define BUDGET 10000000ULL /* 1 % */
#define S GOVERNOR_SECOND
#define RUNS 300

/* A load: what skein costs a second, whatever the rate, and what each Hz adds. */
struct governed_load {
	double fixed, per_hz; /* ns a second */
};

/* A governor with a clock and a load. */
struct governed {
	struct governor g;
	uint64_t now; /* ns */
	double cost, apart; /* ns so far; apart: what does not depend on the rate */
	double apart_share; /* ns a second of the fixed part of the load */
	unsigned int ups, downs;
	uint64_t last_up;
};

static double cost_at(const struct governed_load *l, uint64_t hz)
{
	return l->fixed + l->per_hz * (double)hz;
}

static void begin(struct governed *m, uint64_t hz)
{
	*m = (struct governed){.now = 1000 * S};
	governor_init(&m->g, BUDGET, hz);
	(void)governor_step(&m->g, &(struct governor_point){m->now, 0, 0});
}

/* Let about a second pass under a load. Steps go by one; steps up have their calm time between. */
static void pass(struct governed *m, const struct governed_load *l)
{
	const uint64_t step = S * 95 / 100 + (uint64_t)rand() % (S / 10);
	const unsigned int before = m->g.rate;
	unsigned int rate;

	m->now += step;
	m->apart += m->apart_share * (double)step / (double)S;
	m->cost += cost_at(l, m->g.rates[before]) * (double)step / (double)S;
	rate = governor_step(
		&m->g, &(struct governor_point){m->now, (uint64_t)m->cost, (uint64_t)m->apart});
	/* an assertion that holds takes longer than all of this */
	if (rate != m->g.rate || rate >= m->g.count || abs((int)rate - (int)before) > 1 ||
	    (rate < before && m->last_up && m->now < m->last_up + GOVERNOR_CALM))
		ck_abort_msg("from rate %u to %u", before, rate);
	if (rate < before)
		m->last_up = m->now;
	m->ups += rate < before;
	m->downs += rate > before;
}

static void pass_many(struct governed *m, const struct governed_load *l, unsigned int seconds)
{
	for (unsigned int i = 0; i < seconds; i++)
		pass(m, l);
}

/* A random load whose cost at 19 Hz is up to 20 times the budget. */
static struct governed_load random_load(void)
{
	const double part = rand() / (double)RAND_MAX, all = rand() / (double)RAND_MAX;
	const double cost = 20 * BUDGET * all * all * all;

	return (struct governed_load){cost * part, cost * (1 - part) / 19};
}

static double share_of(const struct governed *m, const struct governed_load *l)
{
	return cost_at(l, m->g.rates[m->g.rate]) / BUDGET;
}

START_TEST(rates_are_fixed_and_fall)
{
	struct governor g;

	for (uint64_t hz = 1; hz < 20000; hz++) {
		governor_init(&g, BUDGET, hz);
		ck_assert_uint_eq(g.rates[0], hz);
		ck_assert_uint_le(g.count, GOVERNOR_RATES);
		for (unsigned int i = 1; i < g.count; i++)
			ck_assert_uint_le(3 * g.rates[i], 2 * g.rates[i - 1]);
		governor_init(&g, 0, hz);
		ck_assert_uint_eq(g.count, 1);
	}
	governor_init(&g, BUDGET, 19);
	ck_assert_uint_eq(g.count, 3);
	ck_assert_uint_eq(g.rates[1], 7);
	ck_assert_uint_eq(g.rates[2], 3);
}
END_TEST

/*
 * However a load begins: after a window and a second for each step, the cost is within the budget,
 * or the lowest rate is named as too expensive. Then nothing changes any more, except that a rate
 * which fits with margin comes back, for good.
 */
START_TEST(a_load_is_within_the_budget_in_a_stated_time)
{
	for (int run = 0; run < RUNS; run++) {
		const struct governed_load before = random_load(), load = random_load();
		struct governed m;
		unsigned int downs;

		begin(&m, 19);
		pass_many(&m, &before, (unsigned int)rand() % 400);
		pass_many(&m, &load, 22 * (m.g.count - 1) + 22);
		ck_assert(share_of(&m, &load) <= 1.001 || m.g.exceeded);
		ck_assert(!m.g.exceeded || m.g.rate + 1 == m.g.count);
		downs = m.downs;
		pass_many(&m, &load, 4 * 3600);
		ck_assert_uint_eq(m.downs, downs);
		ck_assert(m.g.exceeded == (cost_at(&load, 3) > BUDGET) ||
			  (share_of(&m, &load) > 0.99 && share_of(&m, &load) < 1.01));
	}
}
END_TEST

START_TEST(the_rate_comes_back_when_the_load_has_gone)
{
	const struct governed_load heavy = {0, BUDGET / 4.0}, light = {0, BUDGET / 100.0};
	struct governed m;

	begin(&m, 19);
	pass_many(&m, &heavy, 120);
	ck_assert_uint_eq(m.g.rate, 2);
	pass_many(&m, &light, 22 + 62 * 2);
	ck_assert_uint_eq(m.g.rate, 0);
	ck_assert_uint_eq(m.ups, 2);
}
END_TEST

/* A load that is heavy whenever the rate is high makes ever fewer changes: once an hour. */
START_TEST(an_adversary_changes_the_rate_ever_less)
{
	const struct governed_load heavy = {BUDGET * 3.0, 0}, light = {0, 0};
	struct governed m;
	unsigned int first;

	begin(&m, 19);
	for (unsigned int i = 0; i < 24 * 3600; i++)
		pass(&m, m.g.rate ? &light : &heavy);
	ck_assert_uint_le(m.ups, 6 + 24);
	first = m.ups;
	for (unsigned int i = 0; i < 10 * 3600; i++)
		pass(&m, m.g.rate ? &light : &heavy);
	ck_assert_uint_le(m.ups - first, 10);
}
END_TEST

START_TEST(random_loads_never_oscillate_faster_than_stated)
{
	struct governed m;

	begin(&m, 19);
	for (int i = 0; i < 4000; i++) {
		const struct governed_load load = random_load(), light = {0, 0};

		/* pass() checks the times */
		pass_many(&m, i % 2 ? &light : &load, 1 + (unsigned int)rand() % 200);
	}
	ck_assert_uint_gt(m.ups, 2);
}
END_TEST

START_TEST(the_start_does_not_count)
{
	const struct governed_load start = {100.0 * BUDGET, 0}, then = {0, BUDGET / 100.0};
	struct governed m;

	begin(&m, 19);
	pass_many(&m, &start, 18);
	pass_many(&m, &then, 600);
	ck_assert_uint_eq(m.downs, 0);
	pass_many(&m, &start, 2);
	ck_assert_uint_ge(m.downs, 1);
}
END_TEST

/*
 * What does not depend on the rate is over the budget by itself: the rate goes down only while the
 * rest is a large part of the budget, and comes back when it is not any more.
 */
START_TEST(what_does_not_depend_on_the_rate_lowers_it_only_as_far_as_that_helps)
{
	const struct governed_load heavy = {3.0 * BUDGET, BUDGET * 0.05};
	const struct governed_load light = {3.0 * BUDGET, BUDGET * 0.2 / 19.1};
	struct governed m;

	begin(&m, 19);
	m.apart_share = 3.0 * BUDGET;
	pass_many(&m, &heavy, 120);
	ck_assert_uint_eq(m.g.rate, 2); /* 7 Hz take 35 %, 3 Hz 15 % */
	ck_assert(m.g.exceeded);
	pass_many(&m, &light, 22 + 62 * 2);
	ck_assert_uint_eq(m.g.rate, 0);
	ck_assert(m.g.exceeded);
	ck_assert_uint_eq(m.g.clamps, 2);
}
END_TEST

START_TEST(a_rate_that_is_held_goes_up_only_as_far_as_allowed)
{
	const struct governed_load light = {0, BUDGET / 100.0};
	struct governed m;

	begin(&m, 19);
	governor_hold(&m.g, 2);
	m.now += S;
	ck_assert_uint_eq(governor_step(&m.g, &(struct governor_point){m.now, 0, 0}), 2);
	pass_many(&m, &light, 600);
	ck_assert_uint_eq(m.g.rate, 2);
	governor_hold(&m.g, 1);
	pass_many(&m, &light, 600);
	ck_assert_uint_eq(m.g.rate, 1);
	governor_hold(&m.g, 0);
	pass_many(&m, &light, 600);
	ck_assert_uint_eq(m.g.rate, 0);
	ck_assert_uint_eq(m.g.clamps, 0);
}
END_TEST

START_TEST(without_a_limit_the_rate_is_the_one_that_is_held)
{
	struct governor g;

	governor_init(&g, 0, 19);
	governor_add_rates(&g);
	ck_assert_uint_eq(g.count, 3);
	for (uint64_t i = 0; i < 100; i++) {
		const unsigned int least = (unsigned int)(i / 10 % 4);
		const struct governor_point now = {(100 + i) * S, i * S, 0};

		governor_hold(&g, least);
		(void)governor_step(&g, &now);
		if (i * S >= GOVERNOR_GRACE)
			ck_assert_uint_eq(g.rate, least < 3 ? least : 2);
	}
}
END_TEST

START_TEST(no_limit_changes_nothing)
{
	struct governor g;

	governor_init(&g, 0, 19);
	for (uint64_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(
			governor_step(&g, &(struct governor_point){(100 + i) * S, i * S, 0}), 0);
	ck_assert(!g.exceeded);
	ck_assert_uint_eq(g.share, S);
}
END_TEST

/* A suspended machine: an hour between two measurements, and the cost of a second. */
START_TEST(a_long_gap_is_no_cheap_window)
{
	struct governed m;

	begin(&m, 19);
	pass_many(&m, &(struct governed_load){0, BUDGET / 100.0}, 60);
	m.now += 3600 * S;
	pass_many(&m, &(struct governed_load){0, BUDGET / 5.0}, 12);
	ck_assert_uint_ge(m.downs, 1);
}
END_TEST

SUITE("governor", rates_are_fixed_and_fall, a_load_is_within_the_budget_in_a_stated_time,
      the_rate_comes_back_when_the_load_has_gone, an_adversary_changes_the_rate_ever_less,
      random_loads_never_oscillate_faster_than_stated, the_start_does_not_count,
      what_does_not_depend_on_the_rate_lowers_it_only_as_far_as_that_helps,
      a_rate_that_is_held_goes_up_only_as_far_as_allowed,
      without_a_limit_the_rate_is_the_one_that_is_held, no_limit_changes_nothing,
      a_long_gap_is_no_cheap_window)
