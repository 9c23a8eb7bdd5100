// SPDX-License-Identifier: Apache-2.0
/*
 * flight.c and window_files.c: what windows get of a capture and what the flight recorder keeps;
 * its traces, their names and their part of the budget.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "serve/flight.h"
#include "serve/window_sink.h"
#include "suite.h"
#include "trace/copy.h"
#include "trace/trace.h"
#include "trace_file.h"

#define SECOND 1000000000ULL
#define MS 1000000ULL

static struct error err;
static trigger_list triggers;

/* A flight recorder before a sink of windows. Its clock is that of the machine. */
struct recorder {
	struct sink *windows, *sink;
	struct flight *flight;
	uint64_t now; /* ns */
	char ring[PATH_MAX];
};

static uint64_t boot_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

#define PUT(r, kind, ...) \
	ck_assert_int_eq(put_##kind((r)->sink, &(struct kind){__VA_ARGS__}, &err), 0)

static void begin_recorder(struct recorder *r, const char *limits, uint64_t bytes)
{
	const struct window_options windows = {
		.folder = "w", .length = 3600 * SECOND, .budget.bytes = bytes};
	struct flight_options o = {
		.folder = "w",
		.ring = r->ring,
		.keep = 10 * SECOND,
		.memory = 64 << 20,
		.budget.bytes = bytes,
		.records = {.sched = true, .waits = true},
		.triggers = &triggers,
	};

	ck_assert(mkdir("w", 0700) == 0 || errno == EEXIST);
	ck_assert_int_eq(trigger_limits_parse(&o.limits, limits, &err), 0);
	ck_assert_msg(flight_ring_prepare(r->ring, "run", "w", &err) == 0, "%s", err.text);
	ck_assert_int_eq(window_sink(&r->windows, &windows, &err), 0);
	ck_assert_msg(flight_new(&r->flight, r->windows, &o, &err) == 0, "%s", err.text);
	r->sink = flight_sink(r->flight);
	r->now = boot_now() - 5 * SECOND;
	PUT(r, host, .id = 1, .hostname = "m", .cpus = 1, .start = r->now);
	PUT(r, event, .id = 1, .host = 1, .name = "cpu-clock", .unit = "ns", .period = 10 * MS);
	PUT(r, event, .id = 2, .host = 1, .name = EVENT_OFF_CPU, .unit = "ns");
	PUT(r, lane, .id = 1, .host = 1, .kind = LANE_CPU);
	PUT(r, lane, .id = 2, .host = 1, .kind = LANE_THREAD, .number = 1);
	PUT(r, process, .id = 1, .host = 1, .pid = 5, .comm = "p");
	PUT(r, thread, .id = 1, .process = 1, .tid = 5, .comm = "p", .lane = 2);
}

/* A second in which the thread ran, with 100 samples, and 50 of waits. */
static void run_second(struct recorder *r)
{
	PUT(r, slice, .time = r->now, .end = r->now + SECOND, .lane = 1, .state = STATE_RUNNING,
	    .value = 1, .left = STATE_PREEMPTED);
	for (uint64_t i = 0; i < 100; i++) {
		PUT(r, sample, .time = r->now + i * 10 * MS, .event = 1, .thread = 1,
		    .weight = 10 * MS);
		if (i % 2)
			PUT(r, sample, .time = r->now + i * 10 * MS, .event = 2, .thread = 1,
			    .weight = MS, .length = MS);
	}
	r->now += SECOND;
	PUT(r, loss, .id = 1, .host = 1, .reason = LOSS_SWITCHES_LOST, .time = r->now,
	    .end = r->now, .count = 3);
}

static void tick_recorder(struct recorder *r)
{
	(void)flight_wants_open_waits(r->flight);
	ck_assert_int_eq(sink_tick(r->sink, r->now, &err), 0);
	flight_poll(r->flight);
}

static void end_recorder(struct recorder *r)
{
	PUT(r, host, .id = 1, .hostname = "m", .cpus = 1, .start = r->now - SECOND, .end = r->now);
	ck_assert_int_eq(r->sink->ops->finish(r->sink, &err), 0);
	sink_free(r->sink);
	sink_free(r->windows);
}

/* Tick until the flight that was asked for is written. */
static struct flight_counts wait_for_flight(struct recorder *r, uint64_t before)
{
	struct flight_counts c;

	do {
		usleep(20000);
		tick_recorder(r);
		flight_get_counts(r->flight, &c);
	} while (c.written + c.failed == before);
	return c;
}

static void assert_row(const char *path, const char *sql, const char *row)
{
	struct trace *t = trace_file_open(path);
	char *text = trace_file_query(t, sql);

	ck_assert_msg(strstr(text, row) != NULL, "%s: %s", sql, text);
	free(text);
	trace_close(t);
}

#define COUNTS \
	"SELECT (SELECT count(*) FROM sample), (SELECT count(*) FROM event), " \
	"(SELECT count(*) FROM slice WHERE lane = 1), (SELECT count(*) FROM lane), " \
	"(SELECT max(lane) FROM thread), (SELECT sum(count) FROM loss)"

/* A flight has everything; the windows have what they have without a flight recorder. */
START_TEST(flight_has_all_and_windows_their_part)
{
	struct window_files w;
	struct flight_counts c;
	struct recorder r;
	char path[PATH_MAX];

	files_begin();
	shell("mkdir real && ln -s real w"); /* as the folder of a unit with DynamicUser=yes */
	begin_recorder(&r, "1/1m", 0);
	for (int i = 0; i < 3; i++)
		run_second(&r);
	ck_assert_int_eq(flight_trigger(r.flight, "signal"), 0);
	ck_assert_int_eq(flight_trigger(r.flight, "request"), 0);
	c = wait_for_flight(&r, 0);
	ck_assert_uint_eq(c.written, 1);
	ck_assert_uint_eq(c.joined, 1);
	ck_assert_str_eq(c.condition, "signal");
	ck_assert_ptr_nonnull(strstr(c.last, "s-signal.skein"));
	assert_row(c.last, COUNTS, "450,2,3,2,2,3");
	assert_row(c.last, "SELECT value FROM info WHERE key = 'flight.trigger'", "signal");
	assert_row(c.last, "SELECT \"end\" > start FROM host", "1");
	end_recorder(&r);
	ck_assert_int_eq(window_files_list(&w, "w", &err), 0);
	ck_assert_uint_eq(w.list.count, 2);
	window_files_leave_flights(&w);
	ck_assert_uint_eq(w.list.count, 1);
	snprintf(path, sizeof(path), "w/%s", w.list.items[0].name);
	assert_row(path, COUNTS, "300,1,0,0,0,");
	window_files_free(&w);
}
END_TEST

/*
 * While a flight is written, recording goes on: the flight has what came before it began, and the
 * next one has all.
 */
START_TEST(recording_goes_on)
{
	struct flight_counts c;
	struct recorder r;

	files_begin();
	begin_recorder(&r, "2/1m", 0);
	for (int i = 0; i < 3; i++)
		run_second(&r);
	ck_assert_int_eq(flight_trigger(r.flight, "signal"), 0);
	do {
		usleep(20000);
		tick_recorder(&r);
		flight_get_counts(r.flight, &c);
	} while (!*c.condition);
	ck_assert_uint_eq(c.written, 0); /* whatever its thread has done: only a poll sees it */
	for (int i = 0; i < 2; i++) {
		run_second(&r);
		ck_assert_int_eq(sink_tick(r.sink, r.now, &err), 0);
	}
	ck_assert_int_eq(flight_trigger(r.flight, "request"), 0);
	ck_assert(!flight_wants_open_waits(r.flight));
	while (!c.written) {
		usleep(20000);
		flight_poll(r.flight);
		flight_get_counts(r.flight, &c);
		ck_assert_uint_eq(c.failed, 0);
	}
	assert_row(c.last, COUNTS, "450,2,3,2,2,3");
	assert_row(c.last, "SELECT value FROM info WHERE key = 'flight.trigger'", "signal");
	c = wait_for_flight(&r, 1);
	ck_assert_uint_eq(c.written, 2);
	assert_row(c.last, COUNTS, "750,2,5,2,2,3");
	end_recorder(&r);
}
END_TEST

/* A frozen trace takes records, more than it may otherwise hold back, and its file stays. */
START_TEST(frozen_file_stays)
{
	struct frozen_trace frozen;
	struct sink *s;

	files_begin();
	ck_assert_int_eq(trace_writer(&s, "t.skein", &err), 0);
	ck_assert_int_eq(put_host(s, &(struct host){.id = 1, .hostname = "m", .cpus = 1}, &err), 0);
	ck_assert_int_eq(trace_writer_freeze(s, SECOND, &frozen, &err), 0);
	shell("cp t.skein before");
	for (uint64_t i = 1; i <= 300000; i++) {
		const struct name n = {i, "a name that takes some bytes in a row of its own"};

		ck_assert_int_eq(put_name(s, &n, &err), 0);
	}
	shell("cmp t.skein before");
	ck_assert_int_eq(frozen_trace_copy(&frozen, "copy.skein", &err), 0);
	ck_assert(frozen.copied);
	trace_writer_thaw(s);
	frozen_trace_free(&frozen);
	ck_assert_int_eq(sink_tick(s, SECOND, &err), 0);
	ck_assert_int_eq(s->ops->finish(s, &err), 0);
	sink_free(s);
	assert_row("copy.skein", "SELECT (SELECT count(*) FROM name), \"end\" FROM host",
		   "0,1000000000");
	assert_row("t.skein", "SELECT count(*) FROM name", "300000");
}
END_TEST

/* Beyond the limits triggers are only counted; an invalid reason is refused. */
START_TEST(limits_are_kept)
{
	struct flight_counts c;
	struct recorder r;

	files_begin();
	begin_recorder(&r, "2/1h", 0);
	run_second(&r);
	ck_assert_int_eq(flight_trigger(r.flight, "../x"), -EINVAL);
	ck_assert_int_eq(flight_trigger(r.flight, ""), -EINVAL);
	for (uint64_t i = 0; i < 2; i++) {
		ck_assert_int_eq(flight_trigger(r.flight, "request"), 0);
		c = wait_for_flight(&r, i);
		ck_assert_uint_eq(c.written, i + 1);
	}
	ck_assert_int_eq(flight_trigger(r.flight, "request"), -EAGAIN);
	tick_recorder(&r);
	flight_get_counts(r.flight, &c);
	ck_assert_uint_eq(c.suppressed, 1);
	ck_assert_uint_eq(c.written, 2);
	ck_assert_str_eq(c.refused, "request");
	end_recorder(&r);
}
END_TEST

/* A flight that is due when the recording ends is written. */
START_TEST(end_writes_what_is_due)
{
	struct flight_counts c;
	struct window_files w;
	struct recorder r;

	files_begin();
	begin_recorder(&r, "1/1m", 0);
	run_second(&r);
	ck_assert_int_eq(flight_trigger(r.flight, "signal"), 0);
	flight_get_counts(r.flight, &c);
	ck_assert_uint_eq(c.written, 0);
	end_recorder(&r);
	ck_assert_int_eq(window_files_list(&w, "w", &err), 0);
	window_files_leave_windows(&w);
	ck_assert_uint_eq(w.list.count, 1);
	ck_assert_str_eq(w.list.items[0].reason, "signal");
	window_files_free(&w);
}
END_TEST

/* Without room for the flight it fails, and nothing is left of it; the recorder goes on. */
START_TEST(larger_than_its_part)
{
	struct flight_counts c;
	struct recorder r;

	files_begin();
	begin_recorder(&r, "9/1m", 10000);
	run_second(&r);
	ck_assert_int_eq(flight_trigger(r.flight, "signal"), 0);
	c = wait_for_flight(&r, 0);
	ck_assert_uint_eq(c.failed, 1);
	ck_assert_ptr_nonnull(strstr(c.problem, "more than its part of --disk: 2500"));
	ck_assert(!c.off);
	ck_assert_int_eq(access("w/flight.part", F_OK), -1);
	end_recorder(&r);
}
END_TEST

/* A ring that cannot be written costs the flight recorder, and no window. */
START_TEST(ring_that_fails)
{
	struct flight_counts c;
	struct recorder r;
	struct window_files w;

	files_begin();
	begin_recorder(&r, "9/1m", 0);
	run_second(&r);
	tick_recorder(&r);
	PUT(&r, stack, .id = 9, .frame = 1);
	PUT(&r, stack, .id = 8, .frame = 1); /* a trace refuses ids that do not grow */
	run_second(&r);
	tick_recorder(&r);
	flight_get_counts(r.flight, &c);
	ck_assert(c.off);
	ck_assert_int_eq(access(r.ring, F_OK), -1);
	ck_assert_int_eq(flight_trigger(r.flight, "signal"), -EIO);
	end_recorder(&r);
	ck_assert_int_eq(window_files_list(&w, "w", &err), 0);
	ck_assert_uint_eq(w.list.count, 1);
	window_files_free(&w);
}
END_TEST

START_TEST(ring_of_a_killed_service_goes)
{
	char path[PATH_MAX], other[PATH_MAX];

	files_begin();
	shell("mkdir w x");
	ck_assert_int_eq(flight_ring_prepare(path, "run", "w", &err), 0);
	file_write(path, "x", 1);
	ck_assert_int_eq(flight_ring_prepare(other, "run", "x", &err), 0);
	file_write(other, "x", 1);
	flight_ring_remove("run", "w");
	ck_assert_int_eq(access(path, F_OK), -1);
	ck_assert_int_eq(access(other, F_OK), 0); /* that of another service */
	ck_assert_int_eq(flight_ring_prepare(other, "run", "x", &err), 0);
	ck_assert_int_eq(access(other, F_OK), -1);
	shell("test $(stat -c %%a run) = 700 && test $(stat -c %%a run/*) = 700");
}
END_TEST

static void make_file(const char *name, size_t size)
{
	char path[PATH_MAX], *bytes = calloc(1, size);

	snprintf(path, sizeof(path), "w/%s", name);
	file_write(path, bytes, size);
	free(bytes);
}

/* Names with a reason are of flights, and what only looks like one is not listed. */
START_TEST(names)
{
	static const struct {
		const char *name, *reason; /* NULL: not listed */
	} names_of[] = {
		{"20261127T094500Z-30s-signal.skein", "signal"},
		{"20261127T094500Z-30s-cpu-pressure-2.skein", "cpu-pressure"},
		{"20261127T094501Z-30s-2.skein", ""},
		{"20261127T094502Z-30s-.skein", ""},
		{"20261127T094503Z-30s-Signal.skein", NULL},
		{"20261127T094503Z-30s-abcdefghijklmnopqrstuvwxyz.skein", NULL},
		{"20261127T094503Z-30s-a.b.skein", NULL},
		{"flight.part", NULL},
	};
	size_t next = 0;
	struct window_files w;

	files_begin();
	shell("mkdir w");
	for (size_t i = 0; i < sizeof(names_of) / sizeof(*names_of); i++)
		make_file(names_of[i].name, 1);
	ck_assert_int_eq(window_files_list(&w, "w", &err), 0);
	for (size_t i = 0; i < sizeof(names_of) / sizeof(*names_of); i++) {
		if (!names_of[i].reason)
			continue;
		ck_assert_uint_lt(next, w.list.count);
		ck_assert_str_eq(w.list.items[next].name, names_of[i].name);
		ck_assert_str_eq(w.list.items[next++].reason, names_of[i].reason);
	}
	ck_assert_uint_eq(next, w.list.count);
	window_files_free(&w);
}
END_TEST

/* At random sizes: flights keep to a quarter, all to the budget, and the newest of each stay. */
START_TEST(budget_is_divided)
{
	const struct window_now now = {4102444800, 4102444800}; /* the year 2100 */
	const struct window_budget budget = {100000, 0};
	uint64_t removed = 0, bytes[2] = {0};
	struct window_files w;
	char name[64];

	files_begin();
	shell("mkdir w");
	srandom(3);
	for (unsigned int i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "20261127T0945%02uZ-1s%s.skein", i,
			 random() % 3 ? "-pause" : "");
		make_file(name, (size_t)random() % 5000);
	}
	ck_assert_int_eq(window_files_prune("w", &budget, &now, &removed, &err), 0);
	ck_assert_int_eq(window_files_list(&w, "w", &err), 0);
	ck_assert_uint_eq(w.list.count + removed, 60);
	for (size_t i = 0; i < w.list.count; i++)
		bytes[w.list.items[i].reason[0] != '\0'] += w.list.items[i].bytes;
	ck_assert_uint_le(bytes[1], 25000);
	ck_assert_uint_gt(bytes[1], 20000);
	ck_assert_uint_le(bytes[0] + bytes[1], 100000);
	ck_assert_uint_gt(bytes[0], 10000);
	ck_assert_int_eq(strncmp(w.list.items[w.list.count - 1].name, "20261127T094559Z", 16), 0);
	window_files_free(&w);
}
END_TEST

SUITE("flights", flight_has_all_and_windows_their_part, recording_goes_on, frozen_file_stays,
      limits_are_kept, end_writes_what_is_due, larger_than_its_part, ring_that_fails,
      ring_of_a_killed_service_goes, names, budget_is_divided)
