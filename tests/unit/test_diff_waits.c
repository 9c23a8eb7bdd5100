// SPDX-License-Identifier: Apache-2.0
/*
 * Test comparing times of waiting: the rate of errors over many pairs of made-up recordings, whose
 * waits are chosen as the recorder does (with fixed seeds, so that the errors are the same in every
 * run).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff.h"
#include "analyze/off_cpu.h"
#include "suite.h"
#include "synthetic.h"

#define FUNCTIONS 40
#define PAIRS 100
#define RUNS_MAX 6
#define SECONDS 8 /* of each recording, one in each stretch */
#define MS 1e6 /* ns */
#define CHANGED 3 /* the function that may change */

enum arrival { BY_CHANCE, REGULAR, IN_BURSTS };

/* What is compared. */
struct experiment {
	const char *name;
	size_t runs; /* on each side */
	double noise; /* sigma of the logarithms of functions' rates among runs */
	double grown; /* factor of the number of waits of the function that changes */
	double period[2]; /* T of each side, ms */
	enum diff_measure measure;
	bool bursts; /* waits come in bursts of 10 */
};

struct made_run {
	struct off_cpu all, stretches[DIFF_STRETCHES];
	struct diff_run stretch_runs[DIFF_STRETCHES];
};

static struct symbols symbols;
static struct profile no_profile;

static double uniform(uint64_t *seed)
{
	return ((double)(synthetic_random(seed) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *seed)
{
	return sqrt(-2 * log(uniform(seed))) * cos(2 * M_PI * uniform(seed));
}

/* Make the names f0, f1, ... of functions, which have no module. */
static void make_symbols(void)
{
	for (int i = 0; i < FUNCTIONS; i++) {
		char name[16] = {0};
		uint32_t number;

		snprintf(name, sizeof(name), "f%d", i);
		ck_assert_int_eq(names_intern(&symbols.names, name, strlen(name) + 2, &number), 0);
		ck_assert_uint_eq(number, i);
	}
}

/* Add a wait of a function that ends at a time, if it is chosen. length, period, at: ns. */
static void add_wait(uint64_t *seed, struct made_run *r, int function, double at, double length,
		     double period)
{
	size_t part = (size_t)(at / (SECONDS * 1e9 / DIFF_STRETCHES));
	struct off_cpu *both[2] = {&r->all, &r->stretches[part]};

	if (part >= DIFF_STRETCHES || (length < period && uniform(seed) > length / period))
		return;
	for (int i = 0; i < 2; i++) {
		uint64_t weight = (uint64_t)fmax(length, period);

		wait_sum_add(&both[i]->sum, (uint64_t)length, weight);
		wait_sum_add(&both[i]->functions.items[function].own, (uint64_t)length, weight);
		wait_sum_add(&both[i]->functions.items[function].total, (uint64_t)length, weight);
	}
}

/*
 * Functions wait between once in 2 s and 500 times a second, for mean times of 20 us to 200 ms that
 * scatter with a sigma of 1; every third of them regularly, the others by chance or in bursts.
 */
static void make_function(uint64_t *seed, struct made_run *r, const struct experiment *e, int i,
			  double factor, double period)
{
	double waits = SECONDS * 500 * pow(i + 1, -1.9) * factor, mean = 0.02 * MS;
	enum arrival how = i % 3 == 1 ? REGULAR : e->bursts ? IN_BURSTS : BY_CHANCE;
	double at = uniform(seed) / waits, burst = how == IN_BURSTS ? 10 : 1;

	mean *= pow(10, i * 7 % FUNCTIONS * 4.0 / FUNCTIONS);
	while (at < 1) {
		for (int k = 0; k < burst; k++)
			add_wait(seed, r, i, at * SECONDS * 1e9,
				 mean * (how == REGULAR ? 1 : exp(normal(seed) - 0.5)), period);
		at += burst / waits * (how == REGULAR ? 1 : -log(uniform(seed)));
	}
}

static void begin_off_cpu(struct off_cpu *o)
{
	*o = (struct off_cpu){.largest = 0};
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		ck_assert_int_eq(vector_push(&o->functions, (struct off_cpu_function){.symbol = i}),
				 0);
}

static struct diff_run make_run(uint64_t *seed, struct made_run *r, const struct experiment *e,
				bool after)
{
	double period = e->period[after] * MS;
	struct diff_run run = {.profile = &no_profile,
			       .time = (uint64_t)(SECONDS * 1e9),
			       .waits = &r->all,
			       .symbols = &symbols};

	begin_off_cpu(&r->all);
	r->all.largest = (uint64_t)period;
	for (int i = 0; i < DIFF_STRETCHES; i++) {
		begin_off_cpu(&r->stretches[i]);
		r->stretch_runs[i] = run;
		r->stretch_runs[i].waits = &r->stretches[i];
		r->stretch_runs[i].time /= DIFF_STRETCHES;
	}
	for (int i = 0; i < FUNCTIONS; i++)
		make_function(seed, r, e, i,
			      exp(e->noise * normal(seed)) * (after && i == CHANGED ? e->grown : 1),
			      period);
	if (e->runs == 1) {
		run.stretches = r->stretch_runs;
		run.stretch_count = DIFF_STRETCHES;
	}
	return run;
}

static void free_run(struct made_run *r)
{
	vector_free(&r->all.functions);
	for (int i = 0; i < DIFF_STRETCHES; i++)
		vector_free(&r->stretches[i].functions);
}

struct verdict {
	int alarms; /* pairs with a significant change that is chance */
	int found; /* pairs in which the change was found */
	int tested; /* functions that could have shown a change, of all pairs */
	int covered; /* of these, those whose interval contains the truth */
};

/* In shares, a real change of one function changes all others. */
static void count_pair(struct verdict *v, const struct diff *d, const struct experiment *e)
{
	bool alarm = false;

	for (size_t i = 0; i < d->rows.count; i++) {
		const struct diff_change *c = &d->rows.items[i].cost[DIFF_TOTAL];
		bool changed = e->grown != 1 && !strcmp(d->rows.items[i].name, "f3");

		v->found += changed && diff_is_significant(c);
		alarm |= !changed && diff_is_significant(c);
		v->tested += c->tested && !changed;
		v->covered += c->tested && !changed && c->low <= 0 && c->high >= 0;
	}
	v->alarms += alarm;
}

static struct verdict compare_pairs(const struct experiment *e)
{
	static struct made_run made[2 * RUNS_MAX];
	uint64_t seed = 88172645463325252ULL;
	struct verdict v = {0};

	make_symbols();
	for (int pair = 0; pair < PAIRS; pair++) {
		struct diff_run runs[2 * RUNS_MAX];
		struct diff_side sides[2] = {{runs, e->runs}, {runs + e->runs, e->runs}};
		struct diff_criteria how = {DIFF_BY_FUNCTION, e->measure, 0};
		struct diff d = {0};

		for (size_t i = 0; i < 2 * e->runs; i++)
			runs[i] = make_run(&seed, &made[i], e, i >= e->runs);
		ck_assert_int_eq(diff_make(&d, sides, &how), 0);
		count_pair(&v, &d, e);
		diff_free(&d);
		for (size_t i = 0; i < 2 * e->runs; i++)
			free_run(&made[i]);
	}
	printf("%s: %zu a side: of %d pairs, %d show a change that is chance, %d the real one; "
	       "%d of %d intervals hold the truth\n",
	       e->name, e->runs, PAIRS, v.alarms, v.found, v.covered, v.tested);
	fflush(stdout);
	return v;
}

/* At the level of 5 %, at most 5 % of all pairs of recordings of the same may show a change. */
START_TEST(nothing_changed)
{
	static const struct experiment experiments[] = {
		{"the same", 1, 0, 1, {2, 2}, DIFF_TIME, false},
		{"shares", 1, 0, 1, {2, 2}, DIFF_SHARE, false},
		{"other periods", 1, 0, 1, {2, 50}, DIFF_TIME, false},
		{"runs differ by 30 %", 1, 0.3, 1, {2, 2}, DIFF_TIME, false},
		{"bursts", 1, 0, 1, {2, 2}, DIFF_TIME, true},
		{"the same", 3, 0, 1, {2, 2}, DIFF_NONE, false},
		{"runs differ by 20 %", 3, 0.2, 1, {2, 2}, DIFF_TIME, false},
		{"runs differ by 20 %, shares", 3, 0.2, 1, {2, 2}, DIFF_SHARE, false},
		{"runs differ by 20 %, other periods", 3, 0.2, 1, {2, 50}, DIFF_TIME, false},
		{"bursts", 3, 0, 1, {2, 2}, DIFF_TIME, true},
	};

	for (size_t i = 0; i < sizeof(experiments) / sizeof(*experiments); i++) {
		struct verdict v = compare_pairs(&experiments[i]);

		ck_assert_int_le(v.alarms, PAIRS * 5 / 100);
		ck_assert_int_ge(v.covered, v.tested * 94 / 100);
		ck_assert_int_ge(v.tested, PAIRS * FUNCTIONS / 4);
	}
}
END_TEST

/*
 * A function that waits more often than before is found. Beside it, changes by chance are a part of
 * all that are shown, not of all pairs.
 */
START_TEST(something_changed)
{
	static const struct experiment experiments[] = {
		{"twice", 3, 0, 2, {2, 2}, DIFF_TIME, false},
		{"twice, other periods", 3, 0, 2, {2, 10}, DIFF_TIME, false},
		{"half as much again", 5, 0, 1.5, {2, 2}, DIFF_TIME, false},
		{"thrice, where runs differ by 20 %", 5, 0.2, 3, {2, 2}, DIFF_TIME, false},
		{"ten times", 1, 0.1, 10, {2, 2}, DIFF_TIME, false},
	};

	for (size_t i = 0; i < sizeof(experiments) / sizeof(*experiments); i++) {
		struct verdict v = compare_pairs(&experiments[i]);

		ck_assert_int_le(v.alarms, PAIRS * 10 / 100);
		ck_assert_int_ge(v.found, PAIRS * 9 / 10);
	}
}
END_TEST

SUITE("diff_waits", nothing_changed, something_changed)
