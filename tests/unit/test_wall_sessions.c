// SPDX-License-Identifier: Apache-2.0
/*
 * on_demand.c and waits_sink.c: the part of each wait that a session of wall time gets, when such a
 * session begins, ends and is refused; and that windows have nothing of waits.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "serve/waits_sink.h"
#include "serve/window_sink.h"
#include "suite.h"
#include "trace/trace.h"

#define SECOND 1000000000ULL
#define START (1000 * SECOND)

static struct sink *windows, *s;
static struct on_demand demand;
static struct error err;

#define PUT(kind, ...) ck_assert_int_eq(put_##kind(s, &(struct kind){__VA_ARGS__}, &err), 0)

static void tick_at(uint64_t time)
{
	ck_assert_int_eq(sink_tick(s, time, &err), 0);
}

static void begin_service(bool keep)
{
	const struct window_options o = {.folder = ".",
					 .length = 10 * SECOND,
					 .records = {.sched = keep, .waits = keep},
					 .demand = &demand};

	files_begin();
	demand = (struct on_demand){.folder = ".", .top = 10, .wall.always = keep};
	ck_assert_int_eq(window_sink(&windows, &o, &err), 0);
	ck_assert_int_eq(waits_sink(&s, windows, &demand, keep, &err), 0);
	PUT(host, .id = 1, .hostname = "machine", .start = START);
	PUT(event, .id = 1, .host = 1, .name = "cpu-clock", .unit = "ns", .period = SECOND / 100);
	PUT(process, .id = 1, .host = 1, .pid = 100, .born = 1, .comm = "worker");
	PUT(thread, .id = 1, .process = 1, .tid = 100, .comm = "worker");
	PUT(mapping, .id = 1, .host = 1, .kind = MAPPING_FILE, .path = "/bin/worker");
	PUT(frame, .id = 1, .kind = FRAME_NATIVE, .mapping = 1, .address = 1);
	PUT(stack, .id = 1, .frame = 1);
	tick_at(START + SECOND);
}

static void put_events_of_waits(void)
{
	PUT(event, .id = 2, .host = 1, .name = EVENT_OFF_CPU, .unit = "ns", .period = 2000000);
	PUT(event, .id = 3, .host = 1, .name = EVENT_OFF_CPU_WAKERS, .unit = "ns");
}

static void end_service(void)
{
	ck_assert_int_eq(s->ops->finish(s, &err), 0);
	sink_free(s);
	sink_free(windows);
	on_demand_free(&demand);
}

/* Put a wait of a length that has ended at a time, with a weight. Times are s since the start. */
static void put_wait(double ended, double length, double weight, uint64_t flags)
{
	PUT(sample, .time = START + (uint64_t)(ended * SECOND), .event = 2, .thread = 1, .stack = 1,
	    .length = (uint64_t)(length * SECOND), .weight = (uint64_t)(weight * SECOND),
	    .wait = WAIT_LOCK, .flags = flags);
}

static struct session *begin_session(uint64_t number, uint64_t from, uint64_t seconds, bool wall)
{
	const struct session_request r = {number, seconds * SECOND, wall};
	int ret;
	struct session *session = on_demand_begin(&demand, &r, START + from * SECOND, &ret);

	ck_assert_msg(session && !ret, "%d", ret);
	return session;
}

static void expect_refusal(int code)
{
	const struct session_request r = {99, SECOND, true};
	int ret;

	ck_assert_ptr_null(on_demand_begin(&demand, &r, START + SECOND, &ret));
	ck_assert_int_eq(ret, code);
}

/* Check the rows of a query of the trace of a complete session, which ends. */
static void expect_rows(struct session *session, const char *sql, const char *rows)
{
	struct trace *t;
	size_t size;
	char *text, *shown;
	FILE *out = open_memstream(&text, &size);
	int fd;

	ck_assert(session->complete && !session->failed);
	on_demand_end(session, &fd);
	ck_assert_int_ge(fd, 0);
	ck_assert_msg(trace_open_fd(&t, fd, "session", &err) == 0, "%s", err.text);
	ck_assert_msg(trace_query(t, sql, QUERY_CSV, out, &err) == 0, "%s", err.text);
	fclose(out);
	trace_close(t);
	close(fd);
	shown = strchr(text, '\n') + 1;
	shown[strcspn(shown, "\r\n")] = '\0';
	ck_assert_str_eq(shown, rows);
	free(text);
}

#define WAITS \
	"SELECT group_concat((length / 1000000) || ' ' || (weight / 1000000), ', ') FROM " \
	"(SELECT s.* FROM sample s JOIN event e ON e.id = s.event AND e.name = 'off-cpu' " \
	"ORDER BY s.time, s.length)"

START_TEST(a_session_has_its_part_of_each_wait)
{
	struct session *session;

	begin_service(false);
	session = begin_session(7, 2, 4, true);
	ck_assert(session->pending);
	ck_assert(on_demand_wants_waits(&demand));
	put_events_of_waits();
	on_demand_waits_recorded(&demand, 0,
				 START + 3 * SECOND); /* it has the time from 3 to 7 s */
	put_wait(2.5, 1, 1, 0); /* before */
	put_wait(3.5, 1, 1, 0); /* began before: half of it */
	put_wait(4, 0.001, 0.002, 0); /* one of two */
	put_wait(8, 2, 2, 0); /* ended after: half of it */
	put_wait(9, 1, 1, 0); /* after */
	put_wait(6, 6, 6, SAMPLE_FLAG_NOT_ENDED); /* not asked for, and comes again */
	tick_at(START + 7 * SECOND);
	ck_assert(!on_demand_wants_open_waits(&demand, START + 7 * SECOND));
	tick_at(START + 8 * SECOND);
	ck_assert(on_demand_wants_open_waits(&demand, START + 9 * SECOND));
	put_wait(9, 9, 9, SAMPLE_FLAG_NOT_ENDED); /* all of the session */
	PUT(loss, .id = 1, .host = 1, .event = 2, .cpu = 1, .reason = LOSS_WAIT_MISSED, .count = 3);
	tick_at(START + 9 * SECOND);
	ck_assert(!on_demand_wants_waits(&demand));
	expect_rows(session, WAITS, "\"500 500, 1 2, 1000 1000, 4000 4000\"");
	end_service();
}
END_TEST

START_TEST(losses_and_other_samples_are_in_a_session)
{
	struct session *wall, *other;

	begin_service(false);
	other = begin_session(1, 1, 2, false);
	wall = begin_session(2, 1, 2, true);
	put_events_of_waits();
	on_demand_waits_recorded(&demand, 0, START + SECOND);
	PUT(sample, .time = START + 2 * SECOND, .event = 1, .thread = 1, .stack = 1,
	    .weight = SECOND / 100);
	put_wait(2, 1, 1, 0);
	PUT(loss, .id = 1, .host = 1, .event = 2, .cpu = 1, .reason = LOSS_WAIT_MISSED, .count = 3);
	PUT(loss, .id = 2, .host = 1, .reason = LOSS_UNREPORTED, .count = 5);
	PUT(loss, .id = 3, .host = 1, .event = 3, .cpu = 1, .reason = LOSS_WAIT_MISSED, .count = 9);
	ck_assert(on_demand_wants_open_waits(&demand, START + 5 * SECOND));
	tick_at(START + 5 * SECOND);
	expect_rows(wall,
		    "SELECT (SELECT count(*) FROM sample), (SELECT sum(count) FROM loss), "
		    "(SELECT group_concat(name) FROM event)",
		    "2,8,\"cpu-clock,off-cpu\"");
	expect_rows(other,
		    "SELECT (SELECT count(*) FROM sample), (SELECT count(*) FROM loss), "
		    "(SELECT group_concat(name) FROM event)",
		    "1,0,cpu-clock");
	end_service();
}
END_TEST

START_TEST(waits_are_recorded_as_long_as_a_session_runs)
{
	struct session *first, *second;

	begin_service(false);
	ck_assert(!on_demand_wants_waits(&demand));
	first = begin_session(1, 1, 2, true);
	put_events_of_waits();
	on_demand_waits_recorded(&demand, 0, START + SECOND);
	second = begin_session(2, 2, 2, true);
	ck_assert(!second->pending);
	on_demand_end(first, NULL);
	ck_assert(on_demand_wants_waits(&demand));
	on_demand_end(second, NULL);
	ck_assert(!on_demand_wants_waits(&demand));
	/* the next one waits until they are recorded again */
	ck_assert(begin_session(3, 3, 2, true)->pending);
	on_demand_waits_recorded(&demand, -EPERM, START + 3 * SECOND);
	ck_assert(!on_demand_wants_waits(&demand));
	ck_assert(demand.sessions[SESSIONS_MAX - 1].failed == -EPERM);
	end_service();
}
END_TEST

START_TEST(sessions_are_refused)
{
	begin_service(false);
	demand.wall.over_budget = true;
	expect_refusal(-EDQUOT);
	demand.wall.over_budget = false;
	demand.wall.refused = -ENODEV;
	expect_refusal(-ENODEV);
	demand.wall.refused = 0;
	for (uint64_t i = 1; i <= WALL_SESSIONS_MAX; i++)
		begin_session(i, 1, 2, true);
	expect_refusal(-EBUSY);
	for (uint64_t i = WALL_SESSIONS_MAX + 1; i <= SESSIONS_MAX; i++)
		begin_session(i, 1, 2, false);
	end_service();
}
END_TEST

/* The rows of a query of the only window. */
static void expect_window(const char *sql, const char *rows)
{
	struct window_files w;
	struct session window = {.complete = true};

	ck_assert_int_eq(window_files_list(&w, ".", &err), 0);
	ck_assert_uint_eq(w.list.count, 1);
	snprintf(window.trace.path, sizeof(window.trace.path), "%s", w.list.items[0].name);
	window_files_free(&w);
	expect_rows(&window, sql, rows);
}

START_TEST(windows_have_no_waits)
{
	for (int keep = 0; keep < 2; keep++) {
		begin_service(keep);
		put_events_of_waits();
		PUT(lane, .id = 1, .host = 1, .kind = LANE_CPU);
		PUT(slice, .time = START, .end = START + 1, .lane = 1, .state = STATE_RUNNING);
		put_wait(2, 1, 1, 0);
		PUT(account, .event = 2, .cpu = 0, .due = 1, .written = 1);
		PUT(loss, .id = 2, .host = 1, .reason = LOSS_UNREPORTED, .count = 5);
		PUT(host, .id = 1, .hostname = "machine", .start = START, .end = START + SECOND);
		ck_assert_int_eq(s->ops->finish(s, &err), 0);
		expect_window("SELECT (SELECT count(*) FROM sample), (SELECT count(*) FROM event), "
			      "(SELECT count(*) FROM account), (SELECT count(*) FROM loss)",
			      keep ? "1,3,1,1" : "0,1,0,0");
		sink_free(s);
		sink_free(windows);
		on_demand_free(&demand);
	}
}
END_TEST

SUITE("wall sessions", a_session_has_its_part_of_each_wait,
      losses_and_other_samples_are_in_a_session, waits_are_recorded_as_long_as_a_session_runs,
      sessions_are_refused, windows_have_no_waits)
