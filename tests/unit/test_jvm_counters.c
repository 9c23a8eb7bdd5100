// SPDX-License-Identifier: Apache-2.0
/* jvm_counters.c: what changes between readings, and how many collections there were. */
#include <stdio.h>
#include <string.h>

#include "capture/jvm_counters.h"
#include "suite.h"

static char passed[2048];

static int keep(void *context, const char *quantity, int64_t value)
{
	size_t used = strlen(passed);

	(void)context;
	snprintf(passed + used, sizeof(passed) - used, "%s=%lld;", quantity, (long long)value);
	return 0;
}

static int refuse(void *context, const char *quantity, int64_t value)
{
	(void)context, (void)quantity, (void)value;
	strcat(passed, "x");
	return -5;
}

static struct hotspot_perf first_perf(void)
{
	struct hotspot_perf p = {
		.present = 1u << HOTSPOT_COUNTER_FREQUENCY | 1u << HOTSPOT_COUNTER_SAFEPOINTS |
			   1u << HOTSPOT_COUNTER_SAFEPOINT_TIME,
		.collectors[0] = {"Serial young collection pauses", 3, 100},
		.generations[0] = {"new", 10, 20},
		.generations[1] = {"old", 30, 40},
		.cause = "No GC",
	};

	p.values[HOTSPOT_COUNTER_FREQUENCY] = 1000000; /* ticks of 1 us */
	p.values[HOTSPOT_COUNTER_SAFEPOINTS] = 5;
	p.values[HOTSPOT_COUNTER_SAFEPOINT_TIME] = 7;
	return p;
}

static const char *take(struct jvm_counters *c, const struct hotspot_perf *p, uint64_t time)
{
	*passed = '\0';
	ck_assert_int_eq(jvm_counters_take(c, p, time, keep, NULL), 0);
	return passed;
}

START_TEST(changes_are_passed)
{
	struct jvm_counters c = {0};
	struct hotspot_perf p = first_perf();

	ck_assert_str_eq(take(&c, &p, 100),
			 "safepoints=5;time in safepoints=7000;heap new used=10;"
			 "heap new capacity=20;heap old used=30;heap old capacity=40;"
			 "heap used=40;heap capacity=60;"
			 "number of Serial young collection pauses=3;"
			 "time in Serial young collection pauses=100000;");
	ck_assert_str_eq(take(&c, &p, 200), "");
	p.values[HOTSPOT_COUNTER_SAFEPOINT_TIME] = 8;
	p.generations[1].used = 31;
	ck_assert_str_eq(take(&c, &p, 300),
			 "time in safepoints=8000;heap old used=31;heap used=41;");
}
END_TEST

START_TEST(the_first_error_ends_it)
{
	struct jvm_counters c = {0};
	struct hotspot_perf p = first_perf();

	*passed = '\0';
	ck_assert_int_eq(jvm_counters_take(&c, &p, 100, refuse, NULL), -5);
	ck_assert_str_eq(passed, "x");
}
END_TEST

/* A reading during a collection is not compared: its count may be before the span or after it. */
START_TEST(collections_between_quiet_readings)
{
	struct jvm_counters c = {0};
	struct hotspot_perf p = first_perf();

	strcpy(p.cause, "System.gc()");
	take(&c, &p, 100);
	ck_assert_uint_eq(jvm_counters_collections(&c, 0), 0);
	strcpy(p.cause, "No GC");
	p.collectors[0].invocations = 4;
	take(&c, &p, 200);
	p.collectors[0].invocations = 9;
	take(&c, &p, 300);
	strcpy(p.cause, "Allocation Failure");
	p.collectors[0].invocations = 10;
	take(&c, &p, 400);
	ck_assert_uint_eq(jvm_counters_collections(&c, 0), 5);
	ck_assert_uint_eq(c.first.time, 200);
	ck_assert_uint_eq(c.last.time, 300);
	ck_assert_uint_eq(jvm_counters_collections(&c, 1), 0);
}
END_TEST

/* Counters that a hostile process sets back are not a loss. */
START_TEST(a_count_that_falls)
{
	struct jvm_counters c = {0};
	struct hotspot_perf p = first_perf();

	take(&c, &p, 100);
	p.collectors[0].invocations = 1;
	take(&c, &p, 200);
	ck_assert_uint_eq(jvm_counters_collections(&c, 0), 0);
}
END_TEST

START_TEST(managers)
{
	const struct hotspot_collector known = {.name = "G1 young collection pauses"};
	const struct hotspot_collector wrong = {.name = "Shenandoah full"};

	ck_assert_str_eq(jvm_counters_manager(&known), "G1 Young Generation");
	ck_assert_ptr_null(jvm_counters_manager(&wrong));
}
END_TEST

SUITE("jvm_counters", changes_are_passed, the_first_error_ends_it,
      collections_between_quiet_readings, a_count_that_falls, managers)
