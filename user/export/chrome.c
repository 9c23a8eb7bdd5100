// SPDX-License-Identifier: Apache-2.0
/*
 * Export to Chrome's trace event format, using only the features that every timeline viewer
 * reads.
 *
 * CPUs are the threads of a process called CPUs. A thread's track shows the thread's states as
 * slices; an arrow from the waker's track shows a wake-up. Times are in us with three digits for
 * ns; 0 is shortly before the start of the recording or of the requested range. Samples are not
 * exported, since the format has no place for them; only the names of slices show states.
 */
#include <inttypes.h>

#include "analyze/groups.h"
#include "base/json.h"
#include "base/json_members.h"
#include "base/outfile.h"
#include "export/export.h"
#include "export/timeline.h"

/*
 * The pid of the process called CPUs; the tids of its threads follow. The kernel never assigns such
 * large numbers.
 */
#define CPUS_PID 0x7fe00000ULL
/* The first tid of tracks with spans, which are threads of their processes. */
#define SPANS_TID 0x7fd00000ULL
#define CPU_TID(cpu) (CPUS_PID + 1 + ((cpu)&0xffff))

struct chrome {
	struct timeline timeline;
	struct json json;
	uint64_t base; /* the time shown as 0, ns; readers drop records before it */
	uint64_t wakes; /* number of arrows so far, used as their ids */
};

/* The thread or CPU that a track belongs to. */
struct chrome_track {
	uint64_t pid, tid;
};

static const struct chrome_track machine = {CPUS_PID, CPUS_PID};

static uint64_t since_base(const struct chrome *c, uint64_t time)
{
	return time > c->base ? time - c->base : 0;
}

/* Begin an event of a track at a time (ns); end the event with json_object_end(). */
static struct json *chrome_begin_event(struct chrome *c, const char *phase,
				       struct chrome_track track, uint64_t time)
{
	struct json *j = &c->json;

	json_object(j);
	json_key_text(j, "ph", phase);
	json_key_uint(j, "pid", track.pid);
	json_key_uint(j, "tid", track.tid);
	json_key(j, "ts");
	json_decimal(j, (int64_t)since_base(c, time), 3);
	return j;
}

static void chrome_begin_args(struct json *j)
{
	json_key(j, "args");
	json_object(j);
}

static void chrome_end_args(struct json *j)
{
	json_object_end(j);
	json_object_end(j);
}

static void chrome_write_duration(struct chrome *c, uint64_t time, uint64_t end)
{
	json_key(&c->json, "dur");
	json_decimal(&c->json, (int64_t)(since_base(c, end) - since_base(c, time)), 3);
}

/* Write metadata that names a track or process. what: "process_name" or "thread_name". */
static void chrome_write_name(struct chrome *c, const char *what, struct chrome_track track,
			      const char *name)
{
	struct json *j = chrome_begin_event(c, "M", track, c->base);

	json_key_text(j, "name", what);
	chrome_begin_args(j);
	json_key_text(j, "name", name);
	chrome_end_args(j);
}

static void chrome_write_place(struct chrome *c, const char *what, struct chrome_track track,
			       int64_t place)
{
	struct json *j = chrome_begin_event(c, "M", track, c->base);

	json_key_text(j, "name", what);
	chrome_begin_args(j);
	json_key_int(j, "sort_index", place);
	chrome_end_args(j);
}

static struct chrome_track chrome_thread_track(const struct chrome *c, uint32_t thread)
{
	struct timeline_identity identity = timeline_identity(&c->timeline, thread);

	return (struct chrome_track){identity.pid, identity.tid};
}

static void chrome_write_names(struct chrome *c)
{
	const struct profile *p = c->timeline.profile;

	for (uint32_t i = 0; i < p->count.processes; i++)
		if (p->processes[i].p.pid)
			chrome_write_name(c, "process_name",
					  (struct chrome_track){timeline_pid(&c->timeline, i),
								timeline_pid(&c->timeline, i)},
					  process_name(&p->processes[i].p));
	for (uint32_t i = 0; i < p->count.threads; i++)
		if (p->threads[i].t.tid)
			chrome_write_name(c, "thread_name", chrome_thread_track(c, i),
					  thread_display_name(&p->threads[i].t));
	chrome_write_name(c, "process_name", machine, "CPUs");
	chrome_write_place(c, "process_sort_index", machine, -1);
	for (size_t i = 0; i < c->timeline.lanes.count; i++) {
		const struct lane *l = &c->timeline.lanes.items[i].lane;
		const struct chrome_track track = {CPUS_PID, CPU_TID(l->number)};
		char name[32];

		if (l->kind != LANE_CPU)
			continue;
		snprintf(name, sizeof(name), "CPU %" PRIu64, l->number);
		chrome_write_name(c, "thread_name", track, name);
		chrome_write_place(c, "thread_sort_index", track, (int64_t)(l->number & INT32_MAX));
	}
}

static int chrome_check(const struct chrome *c)
{
	return ferror(c->json.out) ? outfile_flush(c->json.out, "events", NULL) : 0;
}

static int chrome_begin(struct timeline *t)
{
	struct chrome *c = (struct chrome *)t;
	struct json *j = &c->json;
	const struct host *h = &t->profile->host;

	c->base = t->from < 2000 ? 0 : t->from / 1000 * 1000 - 1000;
	json_object(j);
	json_key_text(j, "displayTimeUnit", "ns");
	json_key(j, "otherData");
	json_object(j);
	json_key_text(j, "producer", "skein");
	json_key_text(j, "host", h->hostname);
	json_key_text(j, "kernel", h->kernel);
	json_key_int(j, "utc_ns_at_0", (int64_t)(c->base + (uint64_t)h->realtime_offset));
	json_object_end(j);
	json_key(j, "traceEvents");
	json_array(j);
	chrome_write_names(c);
	return chrome_check(c);
}

static const char *chrome_tile_name(const struct chrome *c, const struct tile *tile)
{
	if (tile->state == STATE_UNKNOWN)
		return "[records lost]";
	if (tile->state == STATE_OFFLINE)
		return "[offline]";
	if (tile->thread == PROFILE_NONE)
		return "[not recorded]";
	return thread_display_name(&c->timeline.profile->threads[tile->thread].t);
}

static int chrome_tile(struct timeline *t, struct timeline_lane *cpu, const struct tile *tile)
{
	struct chrome *c = (struct chrome *)t;
	struct json *j;

	(void)cpu;
	if (tile->state == STATE_IDLE)
		return 0;
	j = chrome_begin_event(c, "X", (struct chrome_track){CPUS_PID, CPU_TID(tile->cpu)},
			       tile->time);
	chrome_write_duration(c, tile->time, tile->end);
	json_key_text(j, "cat", "cpu");
	json_key_text(j, "name", chrome_tile_name(c, tile));
	chrome_begin_args(j);
	if (tile->thread != PROFILE_NONE) {
		struct chrome_track track = chrome_thread_track(c, tile->thread);

		json_key_uint(j, "pid", track.pid);
		json_key_uint(j, "tid", track.tid);
		json_key_text(j, "left",
			      tile->next_state ? slice_state_word(tile->next_state) : "unknown");
	}
	chrome_end_args(j);
	return chrome_check(c);
}

/* Return the name of a waker for display: the thread's name, or the kind of interrupt. */
static const char *chrome_waker_name(const struct chrome *c, const struct timeline_lane *waker)
{
	if (waker->lane.kind == LANE_INTERRUPT)
		return interrupt_word(waker->lane.number);
	return waker->thread == PROFILE_NONE
		       ? "unknown"
		       : thread_display_name(&c->timeline.profile->threads[waker->thread].t);
}

static void chrome_write_state(struct chrome *c, struct chrome_track track, const struct stretch *s,
			       const struct timeline_lane *waker)
{
	struct json *j = chrome_begin_event(c, "X", track, s->time);
	char name[96];

	snprintf(name, sizeof(name), "%s%s%s", slice_state_word(s->state), s->wait ? ": " : "",
		 s->wait ? wait_class_word(s->wait) : "");
	chrome_write_duration(c, s->time, s->end);
	json_key_text(j, "cat", "state");
	json_key_text(j, "name", name);
	chrome_begin_args(j);
	if (s->state == STATE_RUNNING && s->cpu)
		json_key_uint(j, "cpu", s->cpu - 1);
	if (waker)
		json_key_text(j, "woken by", chrome_waker_name(c, waker));
	chrome_end_args(j);
}

static void chrome_write_arrow(struct chrome *c, const char *phase, struct chrome_track track,
			       uint64_t time)
{
	struct json *j = chrome_begin_event(c, phase, track, time);

	json_key_text(j, "cat", "wake-up");
	json_key_text(j, "name", "wake-up");
	json_key_uint(j, "id", c->wakes);
	json_key_text(j, "bp", "e");
	json_object_end(j);
}

static int chrome_stretch(struct timeline *t, struct timeline_lane *lane, const struct stretch *s)
{
	struct chrome *c = (struct chrome *)t;
	struct chrome_track track = chrome_thread_track(c, lane->thread);
	struct timeline_lane *waker = s->waker ? timeline_lane(t, s->waker) : NULL;

	chrome_write_state(c, track, s, waker);
	if (waker && waker->lane.kind == LANE_THREAD && waker->thread != PROFILE_NONE) {
		c->wakes++;
		chrome_write_arrow(c, "s", chrome_thread_track(c, waker->thread), s->time);
		chrome_write_arrow(c, "f", track, s->time);
	}
	return chrome_check(c);
}

static void chrome_write_losses(struct chrome *c)
{
	for (size_t i = 0; i < c->timeline.losses.count; i++) {
		const struct loss *l = &c->timeline.losses.items[i];
		struct json *j = chrome_begin_event(c, "i", machine, l->time);

		json_key_text(j, "s", "p");
		json_key_text(j, "cat", "loss");
		json_key_text(j, "name", loss_reason_word(l->reason));
		chrome_begin_args(j);
		json_key_uint(j, "records", l->count);
		if (l->cpu)
			json_key_uint(j, "cpu", l->cpu - 1);
		chrome_end_args(j);
	}
}

struct chrome_counter {
	struct chrome *c;
	const char *name;
};

static int chrome_write_number(void *context, uint64_t time, double number)
{
	const struct chrome_counter *of = context;
	struct json *j = chrome_begin_event(of->c, "C", machine, time);

	json_key_text(j, "name", of->name);
	chrome_begin_args(j);
	json_key_real(j, "value", number);
	chrome_end_args(j);
	return chrome_check(of->c);
}

/*
 * Name the track of a row of spans after its lane, and put that of a thread behind the thread,
 * whose own track is full of states.
 */
static void chrome_name_row(struct chrome *c, const struct shown_span *s,
			    const struct timeline_owner *owner, struct chrome_track track)
{
	const char *lane = shown_lane_name(&c->timeline.spans, s->lane);
	char name[256];

	if (owner->thread == PROFILE_NONE) {
		chrome_write_name(c, "thread_name", track, *lane ? lane : "runtime");
		chrome_write_place(c, "thread_sort_index", track, -1);
		return;
	}
	snprintf(name, sizeof(name), "%.200s: runtime",
		 timeline_identity(&c->timeline, owner->thread).comm);
	chrome_write_name(c, "thread_name", track, name);
	chrome_write_place(
		c, "thread_sort_index", track,
		(int64_t)(timeline_identity(&c->timeline, owner->thread).tid & INT32_MAX));
}

static void chrome_write_span(struct chrome *c, const struct shown_span *s,
			      struct chrome_track track)
{
	const char *args = names_text(&c->timeline.spans.texts, s->args);
	bool instant = shown_span_is_instant(s);
	struct json *j = chrome_begin_event(c, instant ? "i" : "X", track, s->time);
	struct json_member m;

	if (instant)
		json_key_text(j, "s", "t");
	else
		chrome_write_duration(c, s->time, s->end);
	json_key_text(j, "cat", span_kind_word(s->kind));
	json_key_text(j, "name", shown_span_name(&c->timeline.spans, s));
	chrome_begin_args(j);
	while (json_member_next(&args, &m))
		json_key_member(j, &m);
	json_key_text(j, "known by", span_origin_word(s->origin));
	if (s->open)
		json_key_text(j, "end", "had not ended");
	chrome_end_args(j);
}

static int chrome_write_spans(struct chrome *c)
{
	const struct shown_spans *all = &c->timeline.spans;
	uint64_t tid = SPANS_TID;

	for (size_t first = 0, end; first < all->list.count; first = end) {
		const struct shown_span *s = &all->list.items[first];
		struct timeline_owner owner = timeline_owner_of(&c->timeline, s->lane);
		struct chrome_track track = {timeline_pid(&c->timeline, owner.process), tid++};

		end = shown_spans_row_end(all, first);
		chrome_name_row(c, s, &owner, track);
		for (size_t i = first; i < end; i++)
			chrome_write_span(c, &all->list.items[i], track);
	}
	return chrome_check(c);
}

static int chrome_write_values(struct chrome *c)
{
	const struct shown_spans *all = &c->timeline.spans;

	for (size_t i = 0; i < all->values.count; i++) {
		const struct shown_value *v = &all->values.items[i];
		struct timeline_owner owner = timeline_owner_of(&c->timeline, v->lane);
		uint64_t pid = timeline_pid(&c->timeline, owner.process);
		struct json *j =
			chrome_begin_event(c, "C", (struct chrome_track){pid, pid}, v->time);

		json_key_text(j, "name", names_text(&all->texts, v->name));
		chrome_begin_args(j);
		json_key_int(j, "value", v->value);
		chrome_end_args(j);
	}
	return chrome_check(c);
}

static int chrome_end(struct timeline *t)
{
	struct chrome *c = (struct chrome *)t;
	int ret = 0;

	ret = chrome_write_spans(c);
	if (!ret)
		ret = chrome_write_values(c);
	chrome_write_losses(c);
	for (int i = 0; i < CONCURRENCY_COUNT && !ret; i++)
		ret = concurrency_each(&t->concurrencies[i], t->end, chrome_write_number,
				       &(struct chrome_counter){c, concurrency_names[i]});
	json_array_end(&c->json);
	json_object_end(&c->json);
	return ret ? ret : json_end(&c->json);
}

static const struct timeline_ops chrome_ops = {
	.what = "Chrome's trace events",
	.no_samples = true,
	.spans = true,
	.begin = chrome_begin,
	.tile = chrome_tile,
	.stretch = chrome_stretch,
	.end = chrome_end,
};

int chrome_sink(struct sink **out, FILE *file, const struct export_options *o, struct error *err)
{
	struct timeline *t;
	int ret = timeline_new(&t, sizeof(struct chrome), &chrome_ops, o, err);
	struct chrome *c;

	if (ret < 0)
		return ret;
	c = (struct chrome *)t;
	json_begin(&c->json, file, false);
	*out = &t->sink;
	return 0;
}
