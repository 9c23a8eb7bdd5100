// SPDX-License-Identifier: Apache-2.0
/* Compare concurrency.c, for spans in any order, with a count of every step. */
#include <stdlib.h>

#include "export/concurrency.h"
#include "suite.h"
#include "synthetic.h"

#define STEP (1ULL << 20)
#define START 12345

struct drawn {
	double area;
	uint64_t last_time;
	double last;
	unsigned int calls;
	uint64_t at; /* time for which at_number is recorded */
	double at_number;
};

/* Each number holds until the next. */
static int draw(void *context, uint64_t time, double number)
{
	struct drawn *d = context;

	ck_assert(!d->calls || time > d->last_time);
	if (d->calls)
		d->area += d->last * (double)(time - d->last_time);
	if (time <= d->at)
		d->at_number = number;
	d->last_time = time;
	d->last = number;
	d->calls++;
	return 0;
}

START_TEST(one_span)
{
	struct concurrency c = {.start = START};
	struct drawn d = {.at = START + 3 * STEP};

	ck_assert_int_eq(concurrency_add(&c, START + STEP / 2, START + 5 * STEP + STEP / 4), 0);
	ck_assert_int_eq(concurrency_each(&c, UINT64_MAX, draw, &d), 0);
	ck_assert(d.at_number == 1);
	ck_assert(d.area == 4.75 * STEP);
	ck_assert(d.last == 0);
	ck_assert_uint_eq(d.calls, 4); /* a half, one, a quarter, zero */
	concurrency_free(&c);
}
END_TEST

START_TEST(nothing)
{
	struct concurrency c = {.start = START};
	struct drawn d = {0};

	ck_assert_int_eq(concurrency_add(&c, START + 5, START + 5), 0);
	ck_assert_int_eq(concurrency_add(&c, START + 6, START + 5), 0);
	ck_assert_int_eq(concurrency_add(&c, 0, START), 0);
	ck_assert_int_eq(concurrency_each(&c, UINT64_MAX, draw, &d), 0);
	ck_assert_uint_eq(d.calls, 0);
	concurrency_free(&c);
}
END_TEST

/*
 * For recordings of any length, the area equals that of the spans, and the number of steps is
 * bounded.
 */
START_TEST(many_spans)
{
	static const uint64_t lengths[] = {STEP / 10, 30 * STEP, 60000 * STEP, 5000000 * STEP};
	uint64_t random = 88172645463325252ULL;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct concurrency c = {.start = START};
		struct drawn d = {.at = START + lengths[i]};
		uint64_t area = 0;

		for (int n = 0; n < 1000; n++) {
			uint64_t a = START + synthetic_random(&random) % (2 * lengths[i]);
			uint64_t b = START + synthetic_random(&random) % (2 * lengths[i]);

			ck_assert_int_eq(concurrency_add(&c, a < b ? a : b, a < b ? b : a), 0);
			area += a < b ? b - a : a - b;
		}
		ck_assert_int_eq(concurrency_each(&c, UINT64_MAX, draw, &d), 0);
		ck_assert_double_eq_tol(d.area / (double)area, 1, 1e-9);
		/* Half of all spans cover the middle. */
		if (i)
			ck_assert_double_eq_tol(d.at_number, 500, 60);
		ck_assert_uint_le(d.calls, CONCURRENCY_STEPS + 1);
		concurrency_free(&c);
	}
}
END_TEST

/* The end of the recording cuts the last step, whose number does not become smaller by that. */
START_TEST(a_short_last_step)
{
	struct concurrency c = {.start = START};
	struct drawn d = {.at = START + STEP + 9};

	ck_assert_int_eq(concurrency_add(&c, START, START + STEP + 10), 0);
	ck_assert_int_eq(concurrency_each(&c, START + STEP + 10, draw, &d), 0);
	ck_assert(d.at_number == 1);
	ck_assert(d.area == STEP + 10);
	ck_assert_uint_eq(d.last_time, START + STEP + 10);
	concurrency_free(&c);
}
END_TEST

START_TEST(any_stamps)
{
	struct concurrency c = {.start = START};
	struct drawn d = {0};

	ck_assert_int_eq(concurrency_add(&c, START + 1, START + 2), 0);
	for (int n = 0; n < 100; n++)
		ck_assert_int_eq(concurrency_add(&c, 0, UINT64_MAX), 0);
	ck_assert_int_eq(concurrency_add(&c, UINT64_MAX - 1, UINT64_MAX), 0);
	ck_assert_int_eq(concurrency_each(&c, UINT64_MAX, draw, &d), 0);
	ck_assert_uint_le(d.calls, CONCURRENCY_STEPS + 1);
	concurrency_free(&c);
}
END_TEST

SUITE("concurrency", one_span, nothing, many_spans, a_short_last_step, any_stamps)
