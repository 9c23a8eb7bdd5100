// SPDX-License-Identifier: Apache-2.0
/* The flight recorder (flight.h). */
#include "serve/flight.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "serve/flight_copy.h"
#include "serve/handler_recent.h"
#include "serve/trigger_watch.h"
#include "trace/trace.h"

#define NSEC_PER_SEC 1000000000ULL
/* Records may be so old (ns) at a tick that follows them. */
#define UNDER_WAY (NSEC_PER_SEC * 3 / 10)
/* A flight is copied so long (ns) after it is due at the latest: ticks come each second. */
#define TICKS_TIME (2 * NSEC_PER_SEC)
/* Ids of the infos that describe the flight: those of the source count up from 1. */
#define FLIGHT_INFO_ID 1000000

/* The flight that is about to be written. */
struct next_flight {
	bool pending;
	bool asked; /* the source was asked for open waits; the next tick completes the ring */
	bool complete; /* it may be copied */
	uint64_t at, due; /* when the trigger was met, when the flight may be copied: ns */
	char reason[FLIGHT_REASON_SIZE];
	char condition[TRIGGER_TEXT_SIZE]; /* as the user wrote it, or the reason */
};

struct flight {
	struct sink sink;
	struct flight_options options;
	struct sink *windows;
	struct sink *ring; /* NULL: the flight recorder is off */
	struct trigger_watch *watch;
	struct trigger_times times;
	struct next_flight next;
	struct flight_copy copy;
	struct handler_recent handlers;
	struct flight_counts counts;
	uint64_t host, start; /* host.id; when the recording began, ns */
};

static uint64_t flight_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

static void note_flight_problem(struct flight *f, const struct error *err)
{
	f->counts.failed++;
	snprintf(f->counts.problem, sizeof(f->counts.problem), "%.*s",
		 (int)strcspn(err->text, "\n"), err->text);
}

/* How long the ring keeps what was put into it, ns. */
static uint64_t kept_time(const struct flight_options *o)
{
	return o->keep + o->after + UNDER_WAY + TICKS_TIME;
}

/* Ask for a flight because of what happened at a time (ns), if the limits allow one. */
static int ask_for_flight(struct flight *f, const char *reason, const char *condition, uint64_t at)
{
	const uint64_t now = flight_clock(CLOCK_BOOTTIME);
	struct next_flight *n = &f->next;

	if (!f->ring)
		return -EIO;
	if (n->pending) {
		f->counts.joined++;
		return 0;
	}
	if (!trigger_limits_allow(&f->options.limits, &f->times, now)) {
		snprintf(f->counts.refused, sizeof(f->counts.refused), "%s", condition);
		f->counts.suppressed++;
		return -EAGAIN;
	}
	*n = (struct next_flight){.pending = true, .at = at < now ? at : now};
	n->due = n->at + f->options.after;
	snprintf(n->reason, sizeof(n->reason), "%s", reason);
	snprintf(n->condition, sizeof(n->condition), "%s", condition);
	return 0;
}

int flight_trigger(struct flight *f, const char *reason)
{
	if (!flight_reason_is_valid(reason))
		return -EINVAL;
	return ask_for_flight(f, reason, reason, flight_clock(CLOCK_BOOTTIME));
}

static void on_trigger_met(void *context, const struct trigger *t, const char *of, uint64_t at)
{
	char condition[TRIGGER_TEXT_SIZE], name[TRIGGER_SERVICE_SIZE];

	trigger_show(t, condition, sizeof(condition));
	if (of && strcmp(of, t->service) != 0)
		text_append(condition, sizeof(condition), strlen(condition), ": %s",
			    text_clean(of, name, sizeof(name)));
	(void)ask_for_flight(context, trigger_word(t->kind), condition, at);
}

bool flight_wants_open_waits(struct flight *f)
{
	struct next_flight *n = &f->next;

	/* The ring may have no tick while a flight is written, and one is written at a time. */
	n->asked = n->pending && !f->copy.running &&
		   flight_clock(CLOCK_BOOTTIME) >= n->due + UNDER_WAY;
	return n->asked;
}

/* Describe the flight in the ring; the next one replaces that. */
static int put_flight_infos(struct flight *f, struct error *err)
{
	char text[32];
	const struct info why = {FLIGHT_INFO_ID, f->host, INFO_FLIGHT, f->next.condition};
	const struct info when = {FLIGHT_INFO_ID + 1, f->host, INFO_FLIGHT_AT, text};
	int ret = put_info(f->ring, &why, err);

	snprintf(text, sizeof(text), "%llu", (unsigned long long)f->next.at);
	return ret ? ret : put_info(f->ring, &when, err);
}

/* Begin to copy the ring into the folder of windows, as it is at now (ns). */
static int begin_flight(struct flight *f, uint64_t now, struct error *err)
{
	uint64_t begin, utc = flight_clock(CLOCK_REALTIME);
	struct flight_name name = {f->options.folder, f->next.reason, 0, utc / NSEC_PER_SEC};
	int ret = put_flight_infos(f, err);

	begin = trace_writer_kept_start(f->ring);
	begin = begin ? begin : f->start;
	name.begin = (utc - (now - begin)) / NSEC_PER_SEC;
	f->copy.budget = f->options.budget;
	if (!ret)
		ret = handler_recent_put(&f->handlers, begin, f->ring, err);
	return ret ? ret : flight_copy_begin(&f->copy, f->ring, now, &name, err);
}

static void write_flight(struct flight *f)
{
	const uint64_t now = flight_clock(CLOCK_BOOTTIME);
	struct error err = {""};
	int ret = begin_flight(f, now, &err);

	memcpy(f->counts.condition, f->next.condition, sizeof(f->counts.condition));
	f->next = (struct next_flight){.pending = false};
	if (ret)
		note_flight_problem(f, &err);
}

/* Take the result of a flight that has been written. wait: until it is. */
static void end_flight(struct flight *f, bool wait)
{
	/* The age is for the sink of windows, which knows jumps of the clock (window_clock.h). */
	const struct window_budget bytes = {.bytes = f->options.budget.bytes};
	const uint64_t utc = flight_clock(CLOCK_REALTIME) / NSEC_PER_SEC;
	const struct window_now wall = {utc, utc};
	uint64_t removed = 0;
	struct error err = {""};

	if (!flight_copy_settle(&f->copy, f->ring, wait))
		return;
	if (f->copy.ret) {
		note_flight_problem(f, &f->copy.err);
		return;
	}
	memcpy(f->counts.last, f->copy.out, sizeof(f->counts.last));
	f->counts.written++;
	if (window_files_prune(f->options.folder, &bytes, &wall, &removed, &err) < 0)
		note_flight_problem(f, &err);
}

/* The ring failed: keep nothing from now on. */
static void end_ring(struct flight *f, const struct error *err)
{
	note_flight_problem(f, err);
	end_flight(f, true);
	f->counts.off = true;
	f->next.pending = false;
	sink_free(f->ring);
	f->ring = NULL;
	unlink(f->options.ring); /* it takes memory */
}

void flight_change_budget(struct flight *f, const struct window_budget *budget)
{
	f->options.budget = *budget;
}

void flight_poll(struct flight *f)
{
	if (!f->ring)
		return;
	trigger_watch_poll(f->watch, flight_clock(CLOCK_BOOTTIME));
	end_flight(f, false);
	if (f->next.complete)
		write_flight(f);
}

void flight_get_counts(const struct flight *f, struct flight_counts *out)
{
	*out = f->counts;
}

struct sink *flight_sink(struct flight *f)
{
	return &f->sink;
}

/* The functions below implement the sink. */

/* Put what flights have into the ring. */
static int put_into_ring(struct flight *f, enum record_kind kind, const void *record,
			 struct error *err)
{
	/* Sums of control groups count from the begin of the service, not of the ring. */
	if (kind == KIND_GROUP_TIME || !record_choice_takes(&f->options.records, kind, record))
		return 0;
	if (kind == KIND_HANDLER &&
	    handler_recent_take(&f->handlers, record, flight_clock(CLOCK_BOOTTIME)) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return kind == KIND_HANDLER ? 0 : sink_put(f->ring, kind, record, err);
}

static int flight_put(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	struct flight *f = (struct flight *)s;
	const struct host *h = record;
	struct error failure = {""};
	int ret;

	if (kind == KIND_HOST) {
		f->host = h->id;
		f->start = h->start;
	}
	if (f->ring && put_into_ring(f, kind, record, &failure) < 0)
		end_ring(f, &failure);
	ret = f->ring ? trigger_watch_put(f->watch, kind, record, err) : 0;
	/* Waits that have not ended are put for the flight alone. */
	if (ret || (kind == KIND_SAMPLE && f->next.asked &&
		    ((const struct sample *)record)->flags & SAMPLE_FLAG_NOT_ENDED))
		return ret;
	return sink_put(f->windows, kind, record, err);
}

static int flight_tick(struct sink *s, uint64_t time, struct error *err)
{
	struct flight *f = (struct flight *)s;
	struct error failure = {""};
	bool allowed = f->ring && flight_copy_allows_tick(&f->copy, f->ring);
	int ret;

	if (allowed && sink_tick(f->ring, time, &failure) < 0)
		end_ring(f, &failure);
	handler_recent_trim(&f->handlers,
			    time > kept_time(&f->options) ? time - kept_time(&f->options) : 0);
	f->next.complete = f->next.pending && f->next.asked;
	ret = f->ring ? trigger_watch_tick(f->watch, time, err) : 0;
	return ret ? ret : sink_tick(f->windows, time, err);
}

static int flight_forget(struct sink *s, struct error *err)
{
	struct flight *f = (struct flight *)s;
	struct error failure = {""};

	if (f->ring && sink_forget(f->ring, &failure) < 0)
		end_ring(f, &failure);
	return sink_forget(f->windows, err);
}

/* What the ring does not store is no loss of the windows, to which the losses go. */
static uint64_t flight_unstored(const struct sink *s, enum record_kind kind, uint64_t place)
{
	return sink_unstored(((const struct flight *)s)->windows, kind, place);
}

/* A flight that was asked for is written, even if its time after the trigger is not over. */
static int flight_finish(struct sink *s, struct error *err)
{
	struct flight *f = (struct flight *)s;

	if (f->ring) {
		end_flight(f, true);
		if (f->next.pending)
			write_flight(f);
		end_flight(f, true);
	}
	return f->windows->ops->finish(f->windows, err);
}

static void flight_free(struct sink *s)
{
	struct flight *f = (struct flight *)s;

	if (f->ring)
		end_flight(f, true);
	sink_free(f->ring);
	trigger_watch_free(f->watch);
	vector_free(&f->times.list);
	handler_recent_free(&f->handlers);
	free(f);
}

static const struct sink_ops flight_ops = {
	.put = flight_put,
	.tick = flight_tick,
	.forget = flight_forget,
	.unstored = flight_unstored,
	.finish = flight_finish,
	.free = flight_free,
};

static int open_ring(struct flight *f, struct error *err)
{
	const struct flight_options *o = &f->options;
	int ret = trace_writer(&f->ring, o->ring, err);

	if (ret)
		return ret;
	trace_writer_hold_open_waits(f->ring);
	ret = trace_writer_retain(f->ring, kept_time(o), err);
	if (!ret)
		trace_writer_retain_at_most(f->ring, o->memory);
	return ret;
}

int flight_new(struct flight **out, struct sink *windows, const struct flight_options *o,
	       struct error *err)
{
	struct flight *f = calloc(1, sizeof(*f));
	const struct trigger_events events = {on_trigger_met, f};
	int ret;

	if (!f)
		return error_set(err, -ENOMEM, "out of memory");
	f->windows = windows;
	f->options = *o;
	ret = trigger_watch_new(&f->watch, o->triggers, &events, err);
	if (!ret)
		ret = open_ring(f, err);
	if (ret) {
		flight_free(&f->sink);
		return ret;
	}
	f->sink = (struct sink){&flight_ops, windows->wants | f->ring->wants};
	*out = f;
	return 0;
}
