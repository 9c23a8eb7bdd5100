// SPDX-License-Identifier: Apache-2.0
/* jvm_counters.c: what changes between readings, and what was counted and not recorded. */
#include "capture/jvm_counters.h"
#include "runtime_run.h"

static char passed[2048];

static int keep_quantity(void *context, const char *quantity, int64_t value)
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
	const struct jvm_reading reading = {*p, time, time + 10};

	*passed = '\0';
	ck_assert_int_eq(jvm_counters_take(c, &reading, keep_quantity, NULL), 0);
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
	const struct jvm_reading reading = {first_perf(), 100, 110};

	*passed = '\0';
	ck_assert_int_eq(jvm_counters_take(&c, &reading, refuse, NULL), -5);
	ck_assert_str_eq(passed, "x");
}
END_TEST

/* Take a reading at a time (us) at which counters have values. */
static void counts(struct jvm_counters *c, uint64_t us, const char *cause, const char *names[2],
		   const uint64_t values[2])
{
	struct jvm_reading r = {.time = stamp(us), .until = stamp(us) + 10};

	for (int i = 0; i < 2; i++) {
		if (names[i])
			strcpy(r.perf.collectors[i].name, names[i]);
		r.perf.collectors[i].invocations = values[i];
	}
	strcpy(r.perf.cause, cause);
	ck_assert_int_eq(jvm_counters_take(c, &r, keep_quantity, NULL), 0);
	*passed = '\0';
}

static void count(struct jvm_counters *c, uint64_t us, const char *cause, const char *name,
		  uint64_t value)
{
	counts(c, us, cause, (const char *[]){name, NULL}, (const uint64_t[]){value, 0});
}

static uint64_t not_seen(const struct jvm_counters *c)
{
	return jvm_counters_not_seen(c, run.events, task(WORKER, BEGIN).process);
}

/* Pass the begin and the end of something that a thread does. */
static void span(uint64_t us, enum probe_meaning begins, const char *name)
{
	vm(us, begins, name);
	vm(us + 4, (enum probe_meaning)(begins + 1), name);
}

/*
 * A counter counts 5 times, while 3 pauses and 3 collections of a manager are recorded; then it is
 * set back to 3 times.
 */
static void check_counter(const char *counter, const char *manager, uint64_t lost)
{
	struct jvm_counters c = {0};

	begin();
	count(&c, 10, "No GC", counter, 100);
	for (uint64_t us = 20; us < 50; us += 10) {
		span(us, PROBE_COLLECTION_BEGIN, manager);
		span(us + 5, PROBE_PAUSE_BEGIN, "Pause");
	}
	ck_assert_uint_eq(not_seen(&c), 0);
	count(&c, 60, "No GC", counter, 105);
	ck_assert_msg(not_seen(&c) == lost, "%s: %lu", counter, not_seen(&c));
	count(&c, 70, "No GC", counter, 103);
	ck_assert_uint_eq(not_seen(&c), lost > 2 ? 3 : 0);
	end(100);
	over();
}

START_TEST(what_counters_count)
{
	static const struct {
		const char *counter, *manager;
		uint64_t lost;
	} rows[] = {
		{"Serial young collection pauses", "Copy", 2},
		{"Serial full collection pauses", "MarkSweepCompact", 2},
		{"Parallel young collection pauses", "PS Scavenge", 2},
		{"Parallel full collection pauses", "PS MarkSweep", 2},
		{"G1 young collection pauses", "G1 Young Generation", 2},
		{"G1 full collection pauses", "G1 Old Generation", 2},
		{"G1 full collection pauses", "G1 Young Generation", 5},
		{"G1 concurrent cycle pauses", "G1 Concurrent GC", 0},
		{"Z concurrent cycle pauses", "ZGC Cycles", 2},
		{"ZGC minor collection pauses", "ZGC Minor Cycles", 2},
		{"ZGC major collection pauses", "ZGC Major Cycles", 2},
		{"Shenandoah partial", "Shenandoah Cycles", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check_counter(rows[i].counter, rows[i].manager, rows[i].lost);
}
END_TEST

/* A reading during a collection is not compared: its count may be before the span or after it. */
START_TEST(collections_between_quiet_readings)
{
	static const char counter[] = "Serial young collection pauses";
	struct jvm_counters c = {0};

	begin();
	count(&c, 10, "System.gc()", counter, 3);
	ck_assert_uint_eq(not_seen(&c), 0);
	count(&c, 20, "No GC", counter, 4);
	count(&c, 30, "No GC", counter, 9);
	count(&c, 40, "Allocation Failure", counter, 10);
	ck_assert_uint_eq(not_seen(&c), 5);
	span(15, PROBE_COLLECTION_BEGIN, "Copy");
	ck_assert_uint_eq(not_seen(&c), 5);
	span(25, PROBE_COLLECTION_BEGIN, "Copy");
	ck_assert_uint_eq(not_seen(&c), 4);
	end(100);
	over();
}
END_TEST

/*
 * ZGC counts a pause while it goes on, for one of two counters, and its cause says little: a cycle
 * may end while another one goes on. A pause in which a reading was taken may be in it or not.
 */
START_TEST(pauses_of_two_generations)
{
	const char *names[2] = {"ZGC minor collection pauses", "ZGC major collection pauses"};
	struct jvm_counters c = {0};

	begin();
	span(2, PROBE_PAUSE_BEGIN, "before");
	vm(8, PROBE_PAUSE_BEGIN, "at the first reading");
	counts(&c, 10, "Warmup", names, (const uint64_t[]){7, 2});
	vm(12, PROBE_PAUSE_END, NULL);
	span(20, PROBE_PAUSE_BEGIN, "between");
	vm(28, PROBE_PAUSE_BEGIN, "at the last reading");
	counts(&c, 30, "Allocation Rate", names, (const uint64_t[]){9, 3});
	vm(32, PROBE_PAUSE_END, NULL);
	span(40, PROBE_PAUSE_BEGIN, "after");
	ck_assert_uint_eq(not_seen(&c), 0);
	counts(&c, 50, "Allocation Rate", names, (const uint64_t[]){9, 8});
	ck_assert_uint_eq(not_seen(&c), 4);
	end(100);
	over();
}
END_TEST

/* A pause whose end was not recorded has ended when the next one begins. */
START_TEST(pauses_follow_each_other)
{
	struct jvm_counters c = {0};

	begin();
	vm(2, PROBE_PAUSE_BEGIN, "its end is lost");
	vm(4, PROBE_PAUSE_BEGIN, "its end is lost, too");
	vm(6, PROBE_PAUSE_BEGIN, "last");
	vm(8, PROBE_PAUSE_END, NULL);
	vm(8, PROBE_PAUSE_END, NULL);
	count(&c, 10, "Warmup", "Z concurrent cycle pauses", 7);
	count(&c, 20, "Warmup", "Z concurrent cycle pauses", 8);
	ck_assert_uint_eq(not_seen(&c), 1);
	vm(18, PROBE_PAUSE_BEGIN, "goes on");
	ck_assert_uint_eq(not_seen(&c), 0);
	end(100);
	over();
}
END_TEST

/* Shenandoah has one counter for its cycles, their pauses and phases. */
START_TEST(all_of_shenandoah)
{
	struct jvm_counters c = {0};

	begin();
	count(&c, 10, "No GC", "Shenandoah full", 0);
	vm(20, PROBE_COLLECTION_BEGIN, "Shenandoah Cycles");
	hotspot(21, WORKER, PROBE_PHASE_BEGIN, "Concurrent reset");
	hotspot(22, WORKER, PROBE_PHASE_END, NULL);
	span(23, PROBE_PAUSE_BEGIN, "Pause Init Mark");
	vm(30, PROBE_COLLECTION_END, "Shenandoah Cycles");
	count(&c, 40, "No GC", "Shenandoah full", 3);
	ck_assert_uint_eq(not_seen(&c), 0);
	count(&c, 50, "No GC", "Shenandoah full", 20);
	ck_assert_uint_eq(not_seen(&c), 17);
	end(100);
	over();
}
END_TEST

/* Counters that a hostile process sets back are not a loss. */
START_TEST(a_count_that_falls)
{
	struct jvm_counters c = {0};

	begin();
	count(&c, 10, "No GC", "Shenandoah full", 3);
	count(&c, 20, "No GC", "Shenandoah full", 1);
	ck_assert_uint_eq(not_seen(&c), 0);
	over();
}
END_TEST

SUITE("jvm_counters", changes_are_passed, the_first_error_ends_it, what_counters_count,
      collections_between_quiet_readings, pauses_of_two_generations, pauses_follow_each_other,
      all_of_shenandoah, a_count_that_falls)
