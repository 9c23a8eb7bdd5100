// SPDX-License-Identifier: Apache-2.0
/* recent.c: the window of recent records: which are in it, which leave it, which are dropped. */
#include <stdlib.h>
#include <string.h>

#include "analyze/recent.h"
#include "suite.h"
#include "totals.h"

#define SECOND 1000000000ULL
#define START (1000 * SECOND)
#define WINDOW (10 * SECOND)
#define PERIOD (SECOND / 100)

static struct sink *s;
static struct error err;

#define PUT(kind, ...) ck_assert_int_eq(put_##kind(s, &(struct kind){__VA_ARGS__}, &err), 0)

static void tick(uint64_t time)
{
	ck_assert_int_eq(sink_tick(s, time, &err), 0);
}

/* Put a process with one thread, both with the same id. */
static void put_task(uint64_t id, const char *comm, uint64_t end)
{
	PUT(process, .id = id, .host = 1, .pid = id + 100, .comm = comm, .end = end);
	PUT(thread, .id = id, .process = id, .tid = id + 100, .comm = comm, .end = end);
}

static void put_function_of(uint64_t id, const char *name)
{
	PUT(function, .id = id, .mapping = 1, .name = name);
	PUT(frame, .id = id, .kind = FRAME_NATIVE, .mapping = 1, .address = id, .function = id);
}

/* Put one process, and a stack of main, outer and inner. */
static void begin(void)
{
	ck_assert_int_eq(recent_sink(&s, WINDOW, &err), 0);
	PUT(host, .id = 1, .hostname = "machine", .cpus = 2, .start = START);
	PUT(event, .id = 1, .host = 1, .name = "cpu-clock", .unit = "ns", .period = PERIOD);
	put_task(1, "worker", 0);
	PUT(mapping, .id = 1, .host = 1, .kind = MAPPING_FILE, .path = "/bin/worker");
	put_function_of(1, "main");
	put_function_of(2, "outer");
	put_function_of(3, "inner");
	for (uint64_t id = 1; id <= 3; id++)
		PUT(stack, .id = id, .parent = id - 1, .frame = id);
	tick(START);
}

static void put_samples(uint64_t time, uint64_t thread, uint64_t stack, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		PUT(sample, .time = time + i, .event = 1, .thread = thread, .stack = stack,
		    .weight = PERIOD);
}

static struct recent_window window_at(uint64_t now)
{
	struct recent_window w;

	ck_assert_int_eq(recent_window(s, now, &w, &err), 0);
	return w;
}

/* Return the number of samples in the window at that time. */
static uint64_t samples_at(uint64_t now)
{
	struct recent_window w = window_at(now);
	uint64_t count = totals_of(w.profile).count;

	ck_assert_uint_eq(totals_of(w.profile).weight, count * PERIOD);
	ck_assert_uint_eq(w.profile->missing, 0);
	profile_free(w.profile);
	return count;
}

START_TEST(samples_leave_in_time)
{
	begin();
	put_samples(START + SECOND, 1, 3, 5);
	put_samples(START + 2 * SECOND, 1, 2, 7);
	ck_assert_uint_eq(samples_at(START + 3 * SECOND), 12);
	ck_assert_uint_eq(samples_at(START + 10 * SECOND), 12);
	/* samples stay until the window is over, and at most a twentieth of its length longer */
	ck_assert_uint_eq(samples_at(START + 11 * SECOND), 12);
	ck_assert_uint_eq(samples_at(START + 11 * SECOND + SECOND / 2), 7);
	ck_assert_uint_eq(samples_at(START + 12 * SECOND), 7);
	ck_assert_uint_eq(samples_at(START + 12 * SECOND + SECOND / 2), 0);
	sink_free(s);
}
END_TEST

START_TEST(late_samples_and_jumps)
{
	begin();
	put_samples(START + 20 * SECOND, 1, 3, 1);
	put_samples(START + 15 * SECOND, 1, 3, 1); /* late, but in the window */
	put_samples(START + SECOND, 1, 3, 1); /* too late */
	ck_assert_uint_eq(samples_at(START + 20 * SECOND), 2);
	put_samples(START + 1000000 * SECOND, 1, 3, 1);
	ck_assert_uint_eq(samples_at(START + 21 * SECOND), 1);
	sink_free(s);
}
END_TEST

START_TEST(span_grows_to_the_window)
{
	struct recent_window w;

	begin();
	w = window_at(START + 3 * SECOND);
	ck_assert_uint_eq(w.span, 3 * SECOND);
	profile_free(w.profile);
	w = window_at(START + 300 * SECOND);
	ck_assert_uint_ge(w.span, WINDOW);
	ck_assert_uint_le(w.span, WINDOW + WINDOW / 20);
	profile_free(w.profile);
	sink_free(s);
}
END_TEST

START_TEST(equal_samples_are_one_sum)
{
	struct recent_window w;

	begin();
	for (unsigned int i = 0; i < 30; i++)
		put_samples(START + SECOND, 1, 1 + i % 3, 1000);
	w = window_at(START + SECOND);
	ck_assert_uint_eq(totals_of(w.profile).count, 30000);
	ck_assert_uint_eq(w.profile->count.sums, 3);
	profile_free(w.profile);
	sink_free(s);
}
END_TEST

START_TEST(runtime_flags_stay_apart)
{
	struct recent_window w;

	begin();
	PUT(sample, .time = START + SECOND, .event = 1, .thread = 1, .stack = 3, .weight = PERIOD,
	    .flags = SAMPLE_FLAG_PYTHON | SAMPLE_FLAG_GIL | SAMPLE_FLAG_LATE);
	PUT(sample, .time = START + SECOND, .event = 1, .thread = 1, .stack = 3, .weight = PERIOD,
	    .flags = SAMPLE_FLAG_PYTHON);
	w = window_at(START + SECOND);
	ck_assert_uint_eq(w.profile->count.sums, 2);
	profile_free(w.profile);
	sink_free(s);
}
END_TEST

static bool has_function(const struct profile *p, const char *name)
{
	for (uint32_t i = 0; i < p->count.functions; i++)
		if (!strcmp(p->functions[i].f.name, name))
			return true;
	return false;
}

START_TEST(names_come_late)
{
	struct recent_window w;

	begin();
	PUT(frame, .id = 4, .kind = FRAME_NATIVE, .mapping = 1, .address = 4);
	PUT(stack, .id = 4, .parent = 1, .frame = 4);
	put_samples(START + SECOND, 1, 4, 1);
	w = window_at(START + SECOND);
	ck_assert(!has_function(w.profile, "at last"));
	profile_free(w.profile);
	put_function_of(4, "at last");
	w = window_at(START + SECOND);
	ck_assert(has_function(w.profile, "at last"));
	ck_assert(!has_function(w.profile, "inner")); /* the window has no sample of inner */
	profile_free(w.profile);
	sink_free(s);
}
END_TEST

/* Return how many entities have been dropped to which samples of the window refer. */
static uint64_t missing_at(uint64_t now)
{
	struct recent_window w = window_at(now);
	uint64_t missing = w.profile->missing;

	profile_free(w.profile);
	return missing;
}

START_TEST(ended_processes_are_dropped)
{
	begin();
	for (uint64_t id = 2; id <= 500; id++) {
		put_task(id, "brief", START + SECOND);
		put_samples(START + SECOND, id, 3, 1);
	}
	tick(START + 2 * SECOND);
	ck_assert_uint_eq(samples_at(START + 2 * SECOND), 499);
	tick(START + 10 * SECOND); /* late samples may follow */
	put_samples(START + SECOND * 3 / 2, 2, 3, 1);
	ck_assert_uint_eq(samples_at(START + 10 * SECOND), 500);
	tick(START + 30 * SECOND);
	/* the process lives, and may be sampled again */
	put_samples(START + 30 * SECOND, 1, 3, 1);
	ck_assert_uint_eq(samples_at(START + 30 * SECOND), 1);
	for (uint64_t id = 2; id <= 500; id++)
		put_samples(START + 30 * SECOND, id, 3, 1);
	ck_assert_uint_eq(missing_at(START + 30 * SECOND), 499); /* threads */
	for (uint64_t id = 2; id <= 500; id++) {
		PUT(thread, .id = id, .process = id);
		put_samples(START + 30 * SECOND, id, 3, 1);
	}
	ck_assert_uint_eq(missing_at(START + 30 * SECOND), 499); /* processes */
	sink_free(s);
}
END_TEST

START_TEST(forgotten_stacks_are_dropped)
{
	begin();
	put_samples(START + SECOND, 1, 2, 1);
	tick(START + 100 * SECOND); /* the source may still refer to the stacks */
	put_samples(START + 100 * SECOND, 1, 3, 1);
	ck_assert_uint_eq(samples_at(START + 100 * SECOND), 1);
	tick(START + 200 * SECOND);
	put_samples(START + 200 * SECOND, 1, 2, 1);
	ck_assert_int_eq(sink_forget(s, &err), 0);
	tick(START + 201 * SECOND); /* stacks that the window needs are kept */
	ck_assert_uint_eq(samples_at(START + 201 * SECOND), 1);
	put_samples(START + 201 * SECOND, 1, 3, 1);
	ck_assert_uint_eq(missing_at(START + 201 * SECOND), 1);
	PUT(stack, .id = 3, .parent = 2, .frame = 3);
	ck_assert_uint_eq(missing_at(START + 201 * SECOND), 1); /* the frame */
	PUT(frame, .id = 3, .kind = FRAME_NATIVE, .mapping = 1, .function = 3);
	ck_assert_uint_eq(missing_at(START + 201 * SECOND), 1); /* the function */
	ck_assert_int_eq(sink_forget(s, &err), 0);
	tick(START + 300 * SECOND);
	put_samples(START + 300 * SECOND, 1, 3, 1);
	ck_assert_uint_eq(missing_at(START + 300 * SECOND), 1);
	PUT(stack, .id = 3, .parent = 2, .frame = 2);
	ck_assert_uint_eq(missing_at(START + 300 * SECOND), 2); /* the parent and the frame */
	PUT(stack, .id = 3, .frame = 2);
	PUT(frame, .id = 2, .kind = FRAME_NATIVE, .mapping = 1, .function = 2);
	ck_assert_uint_eq(missing_at(START + 300 * SECOND), 2); /* the mapping and the function */
	sink_free(s);
}
END_TEST

static uint64_t weight_of_waits(const struct recent_window *w, uint64_t *count)
{
	uint64_t weight = 0;

	*count = 0;
	for (size_t i = 0; i < w->wait_count; i++) {
		weight += w->waits[i].weight;
		*count += w->waits[i].count;
	}
	return weight;
}

static void free_window(struct recent_window *w)
{
	profile_free(w->profile);
	free(w->waits);
}

/*
 * Waits keep their class and who ended them, whose name stays; of a long wait only the part in the
 * window counts, of a short one, which stands for others, its weight.
 */
START_TEST(waits_of_the_window)
{
	struct recent_window w;
	uint64_t count;

	begin();
	PUT(event, .id = 2, .host = 1, .name = EVENT_OFF_CPU, .unit = "ns", .period = 2000000);
	put_task(2, "waker", 0);
	PUT(sample, .time = START + 8 * SECOND, .event = 2, .thread = 1, .stack = 3,
	    .weight = 6 * SECOND, .length = 6 * SECOND, .wait = WAIT_LOCK, .other = 2);
	PUT(sample, .time = START + 8 * SECOND, .event = 2, .thread = 1, .stack = 2,
	    .weight = 2000000, .length = 1000, .wait = WAIT_SLEEP, .flags = SAMPLE_FLAG_BY_TIMER);
	/* it had begun 90 s before the window's source */
	PUT(sample, .time = START + 4 * SECOND, .event = 2, .thread = 1, .stack = 1,
	    .weight = 94 * SECOND, .length = 94 * SECOND, .wait = WAIT_CHILD, .other = 2);
	tick(START + 9 * SECOND);
	w = window_at(START + 9 * SECOND);
	/* at the ends of buckets, 1 ns each is not counted */
	ck_assert_uint_le(10 * SECOND + 2000000 - weight_of_waits(&w, &count), 100);
	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(w.profile->count.threads, 2);
	for (size_t i = 0; i < w.wait_count; i++) {
		const struct recent_wait *wait = &w.waits[i];

		ck_assert_uint_eq(wait->other, wait->wait == WAIT_SLEEP ? 0 : 2);
		ck_assert_uint_eq(wait->flags, wait->wait == WAIT_SLEEP ? SAMPLE_FLAG_BY_TIMER : 0);
		ck_assert_uint_eq(wait->stack, wait->wait == WAIT_LOCK	  ? 3
					       : wait->wait == WAIT_SLEEP ? 2
									  : 1);
	}
	free_window(&w);
	/* 7 s later, 5 of the first wait's 6 s and all of the third one's are gone */
	tick(START + 17 * SECOND);
	w = window_at(START + 17 * SECOND);
	ck_assert_uint_ge(weight_of_waits(&w, &count), SECOND);
	ck_assert_uint_le(weight_of_waits(&w, &count), SECOND + SECOND / 2 + 2000000);
	free_window(&w);
	tick(START + 30 * SECOND);
	w = window_at(START + 30 * SECOND);
	ck_assert_uint_eq(w.wait_count, 0);
	free_window(&w);
	sink_free(s);
}
END_TEST

START_TEST(accounts_of_the_window)
{
	struct recent_window w;

	begin();
	for (uint64_t i = 1; i <= 60; i++) {
		uint64_t now = START + i * SECOND;

		/* CPU 0 is always busy; CPU 1 is idle for 30 s, then all its samples are lost */
		PUT(account, .event = 1, .cpu = 0, .due = i * 100, .written = i * 100);
		PUT(account, .event = 1, .cpu = 1, .due = i * 100,
		    .idle = i < 30 ? i * 100 : 30 * 100);
		if (i == 59)
			PUT(loss, .id = 1, .event = 1, .cpu = 2, .reason = LOSS_RING_FULL,
			    .time = now - SECOND, .end = now, .count = 40);
		tick(now);
		if (i != 20 && i != 60)
			continue;
		w = window_at(now);
		ck_assert_uint_eq(w.account.cpus, 2);
		ck_assert_uint_ge(w.account.span, WINDOW);
		ck_assert_uint_eq(w.account.total.due, w.account.span / SECOND * 200);
		ck_assert_uint_eq(w.account.total.idle, i == 20 ? w.account.total.due / 2 : 0);
		ck_assert_uint_eq(w.account.lost[LOSS_RING_FULL], i == 20 ? 0 : 40);
		ck_assert_uint_eq(w.account.lost[LOSS_NOT_DELIVERED],
				  i == 20 ? 0 : w.account.total.due / 2 - 40);
		profile_free(w.profile);
	}
	sink_free(s);
}
END_TEST

SUITE("recent", samples_leave_in_time, late_samples_and_jumps, span_grows_to_the_window,
      equal_samples_are_one_sum, runtime_flags_stay_apart, names_come_late,
      ended_processes_are_dropped, forgotten_stacks_are_dropped, waits_of_the_window,
      accounts_of_the_window)
