// SPDX-License-Identifier: Apache-2.0
/*
 * Export to the processed profile format of the Firefox Profiler (profiler.firefox.com), version
 * 65. All readers can upgrade a profile of this version to later ones, while not all readers know
 * later versions.
 *
 * Times are in ms since the start of the recording. Losses are markers of a thread called "lost
 * records".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups.h"
#include "base/text.h"
#include "export/facts.h"
#include "export/firefox.h"

#ifndef SKEIN_VERSION
#define SKEIN_VERSION "unknown"
#endif

#define FORMAT_VERSION 65
#define NS_DIGITS 6 /* decimal digits from ms to ns */

static int firefox_begin(struct timeline *t)
{
	struct firefox *f = (struct firefox *)t;

	return gather_begin(&f->gather, t, f->lines);
}

static int firefox_sample(struct timeline *t, const struct sample *sample)
{
	struct firefox *f = (struct firefox *)t;
	int ret = firefox_keep_wait(f, sample);

	return ret ? ret : gather_sample(&f->gather, t, sample);
}

void firefox_write_time(struct firefox *f, uint64_t time)
{
	json_decimal(&f->json, (int64_t)(time - f->timeline.profile->host.start), NS_DIGITS);
}

static void firefox_write_key_time(struct firefox *f, const char *key, uint64_t time)
{
	json_key(&f->json, key);
	if (time)
		firefox_write_time(f, time);
	else
		json_null(&f->json);
}

static void firefox_write_category(struct json *j, const char *prefix, const char *name,
				   const char *colour)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%s", prefix, name);
	json_object(j);
	json_key_text(j, "name", text);
	json_key_text(j, "color", colour);
	json_key(j, "subcategories");
	json_array(j);
	json_text(j, "Other");
	json_array_end(j);
	json_object_end(j);
}

static void firefox_write_categories(struct firefox *f)
{
	static const char *const colours[WAIT_COUNT] = {
#define WAIT_COLOUR(NAME, hue, saturation, colour, meaning) [WAIT_##NAME] = colour,
		WAIT_COLOURS(WAIT_COLOUR)
#undef WAIT_COLOUR
	};
	struct json *j = firefox_column(f, "categories");

#define WRITE_CATEGORY(NAME, text, colour) firefox_write_category(j, "", text, colour);
	CATEGORIES(WRITE_CATEGORY)
#undef WRITE_CATEGORY
	for (int wait = 1; wait < WAIT_COUNT && f->waits.count; wait++)
		firefox_write_category(j, "Wait: ", wait_class_word(wait), colours[wait]);
	json_array_end(j);
}

void firefox_write_field(struct json *j, const char *key, const char *label, const char *format)
{
	json_object(j);
	json_key_text(j, "key", key);
	json_key_text(j, "label", label);
	json_key_text(j, "format", format);
	json_object_end(j);
}

void firefox_begin_schema(struct firefox *f, const struct marker_schema *s)
{
	struct json *j = &f->json;

	json_object(j);
	json_key_text(j, "name", s->name);
	if (s->tooltip)
		json_key_text(j, "tooltipLabel", s->tooltip);
	json_key_text(j, "tableLabel", s->table);
	json_key_text(j, "chartLabel", s->chart);
	firefox_column(f, "display");
	json_text(j, "marker-chart");
	json_text(j, "marker-table");
	json_text(j, "timeline-overview");
	json_array_end(j);
	firefox_column(f, "fields");
}

void firefox_end_schema(struct firefox *f)
{
	json_array_end(&f->json);
	json_object_end(&f->json);
}

/* Write how the viewer shows the markers of losses, waits and spans. */
static void firefox_write_marker_schema(struct firefox *f)
{
	static const struct marker_schema schema = {
		.name = "Loss",
		.table = "{marker.data.count} {marker.data.reason}",
		.chart = "{marker.data.reason}",
	};
	struct json *j = firefox_column(f, "markerSchema");

	firefox_begin_schema(f, &schema);
	firefox_write_field(j, "reason", "what happened", "string");
	firefox_write_field(j, "count", "records", "integer");
	firefox_write_field(j, "cpu", "CPU", "string");
	firefox_end_schema(f);
	if (f->waits.count)
		firefox_wait_schema(f);
	if (f->timeline.spans.list.count)
		firefox_span_schema(f);
	json_array_end(j);
}

static void firefox_write_extensions(struct json *j)
{
	static const char *const columns[] = {"id", "name", "baseURL"};

	json_key(j, "extensions");
	json_object(j);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		json_key(j, columns[i]);
		json_array(j);
		json_array_end(j);
	}
	json_key_uint(j, "length", 0);
	json_object_end(j);
}

/* Write the units of sample times and of optional values of samples. */
static void firefox_write_units(struct json *j)
{
	json_key(j, "sampleUnits");
	json_object(j);
	json_key_text(j, "time", "ms");
	json_key_text(j, "eventDelay", "ms");
	json_key_text(j, "threadCPUDelta", "µs");
	json_object_end(j);
}

/* Write the sampling interval of the first event in ms, or 1 if it is not known. */
static void firefox_write_interval(struct firefox *f)
{
	const struct profile *p = f->timeline.profile;
	const struct event *e = p->count.events ? &p->events[0] : NULL;

	json_key(&f->json, "interval");
	if (e && !strcmp(e->unit, "ns") && e->period)
		json_decimal(&f->json, (int64_t)e->period, NS_DIGITS);
	else
		json_real(&f->json, e && e->frequency ? 1000.0 / (double)e->frequency : 1);
}

static void firefox_write_meta(struct firefox *f)
{
	const struct host *h = &f->timeline.profile->host;
	struct json *j = &f->json;
	char origin[FACTS_SIZE], losses[FACTS_SIZE], text[2 * FACTS_SIZE + 4],
		clean[3 * sizeof(text)];

	facts_losses(&f->timeline, losses);
	snprintf(text, sizeof(text), "%s%s%s", facts_origin(&f->timeline, origin),
		 *losses ? "; " : "", losses);
	json_key(j, "meta");
	json_object(j);
	firefox_write_interval(f);
	json_key(j, "startTime");
	json_decimal(j, (int64_t)(h->start + (uint64_t)h->realtime_offset), NS_DIGITS);
	json_key_text(j, "product", text_clean(text, clean, sizeof(clean)));
	json_key_text(j, "importedFrom", "skein " SKEIN_VERSION);
	json_key_text(j, "oscpu", "Linux");
	json_key_uint(j, "logicalCPUs", h->cpus);
	json_key_uint(j, "processType", 0);
	json_key_uint(j, "version", 24);
	json_key_uint(j, "preprocessedProfileVersion", FORMAT_VERSION);
	json_key_uint(j, "stackwalk", 1);
	json_key(j, "symbolicated");
	json_bool(j, true);
	json_key(j, "debug");
	json_bool(j, false);
	firefox_column(f, "pausedRanges");
	json_array_end(j);
	firefox_write_categories(f);
	firefox_write_marker_schema(f);
	firefox_write_extensions(j);
	firefox_write_units(j);
	json_object_end(j);
}

/*
 * Write the pid of a process in a form that is unique, as readers require: if a pid ran several
 * programs, or several hosts used the same pid, the pid of the second and later processes is
 * written as 100.1, 100.2, ...
 */
static int firefox_write_pid(struct firefox *f, uint32_t process)
{
	uint64_t pid = process == PROFILE_NONE ? 0 : f->timeline.profile->processes[process].p.pid;
	uint32_t turn = index_get(&f->turns, process), seen;
	char text[48];

	if (turn == INDEX_NONE) {
		seen = index_get(&f->pids, pid);
		turn = seen == INDEX_NONE ? 0 : seen;
		if (index_put(&f->turns, process, turn) < 0 ||
		    index_put(&f->pids, pid, turn + 1) < 0)
			return -ENOMEM;
	}
	snprintf(text, sizeof(text), turn ? "%" PRIu64 ".%" PRIu32 : "%" PRIu64, pid, turn);
	json_key_text(&f->json, "pid", text);
	return 0;
}

/* Write a text from a profiled process, cleaned by text_clean() and cut to 255 bytes. */
static void firefox_write_clean(struct firefox *f, const char *key, const char *text)
{
	char clean[256];

	json_key_text(&f->json, key, text_clean(text, clean, sizeof(clean)));
}

static void firefox_begin_thread(struct firefox *f)
{
	struct json *j = &f->json;

	json_object(j);
	json_key_text(j, "processType", "default");
	firefox_column(f, "pausedRanges");
	json_array_end(j);
}

/*
 * Write the members of a thread that name the thread and the process of its samples, g the first of
 * them, and the event if the profile has samples of several. Return 0 or -ENOMEM.
 */
static int firefox_write_owner(struct firefox *f, const struct gathered *g, bool several_events)
{
	static const struct process no_process = {.comm = "", .exe = ""};
	static const struct thread no_thread = {.comm = ""};
	const struct profile *p = f->timeline.profile;
	const struct gather_track *track = &f->gather.tracks.items[g->track];
	const struct process *process =
		track->process == PROFILE_NONE ? &no_process : &p->processes[track->process].p;
	const struct thread *thread =
		track->thread == PROFILE_NONE ? &no_thread : &p->threads[track->thread].t;
	const char *event = f->gather.wall ? EVENT_WALL : gather_event(&f->timeline, g)->name;
	char name[160];

	snprintf(name, sizeof(name), several_events || f->gather.wall ? "%.64s [%.64s]" : "%.64s",
		 *thread_display_name(thread) ? thread_display_name(thread) : process_name(process),
		 event);
	firefox_write_clean(f, "name", name);
	firefox_write_clean(f, "processName", process_name(process));
	json_key_uint(&f->json, "tid", thread->tid);
	json_key(&f->json, "isMainThread");
	json_bool(&f->json, thread->tid == process->pid);
	firefox_write_key_time(f, "processStartupTime", f->timeline.from);
	firefox_write_key_time(f, "processShutdownTime", process->end);
	firefox_write_key_time(f, "registerTime", f->timeline.from);
	firefox_write_key_time(f, "unregisterTime", thread->end);
	return firefox_write_pid(f, track->process);
}

/*
 * Write the weights of the samples from index from up to to, which have the same event: ms if the
 * event is a clock, else counts. The weight of a clock's sample is also written as the CPU time
 * that the thread used, in us; a thread that waits uses none.
 */
static void firefox_write_weights(struct firefox *f, size_t from, size_t to)
{
	const struct gathered *samples = f->gather.samples.items;
	const struct event *e = from < to ? gather_event(&f->timeline, &samples[from]) : NULL;
	bool clock = e && !strcmp(e->unit, "ns");
	struct json *j = &f->json;

	json_key_text(j, "weightType", clock ? "tracing-ms" : "samples");
	firefox_column(f, "weight");
	for (size_t i = from; i < to; i++)
		json_decimal(j, (int64_t)samples[i].weight, clock ? NS_DIGITS : 0);
	json_array_end(j);
	if (!clock || (event_is_of_waits(e->name) && !f->gather.wall))
		return;
	firefox_column(f, "threadCPUDelta");
	for (size_t i = from; i < to; i++)
		json_decimal(j, samples[i].waiting ? 0 : (int64_t)samples[i].weight, 3);
	json_array_end(j);
}

static void firefox_write_samples(struct firefox *f, size_t from, size_t to)
{
	const struct gathered *samples = f->gather.samples.items;
	struct json *j = &f->json;

	firefox_table(f, "samples", to - from);
	firefox_column(f, "stack");
	for (size_t i = from; i < to; i++)
		json_uint(j, samples[i].node);
	json_array_end(j);
	firefox_column(f, "time");
	for (size_t i = from; i < to; i++)
		firefox_write_time(f, samples[i].time);
	json_array_end(j);
	firefox_write_weights(f, from, to);
	json_object_end(j);
}

static void firefox_write_loss_data(struct firefox *f, const struct loss *l)
{
	struct json *j = &f->json;
	char cpu[24] = "all";

	if (l->cpu)
		snprintf(cpu, sizeof(cpu), "%" PRIu64, l->cpu - 1);
	json_object(j);
	json_key_text(j, "type", "Loss");
	json_key_text(j, "reason", loss_reason_word(l->reason));
	json_key_uint(j, "count", l->count);
	json_key_text(j, "cpu", cpu);
	json_object_end(j);
}

/*
 * Write a marker for each loss at the time of the loss, named by its reason. Return 0 or a negative
 * errno.
 */
static int firefox_write_loss_markers(struct firefox *f)
{
	const struct loss *losses = f->timeline.losses.items;
	size_t count = f->timeline.losses.count;
	struct json *j = &f->json;
	uint32_t name;
	int ret = 0;

	firefox_table(f, "markers", count);
	firefox_column(f, "data");
	for (size_t i = 0; i < count; i++)
		firefox_write_loss_data(f, &losses[i]);
	json_array_end(j);
	firefox_column(f, "name");
	for (size_t i = 0; i < count && !ret; i++) {
		ret = stacks_string(&f->gather.stacks, loss_reason_word(losses[i].reason), &name);
		if (!ret)
			json_uint(j, name);
	}
	json_array_end(j);
	firefox_column(f, "startTime");
	for (size_t i = 0; i < count; i++)
		firefox_write_time(f, losses[i].time);
	json_array_end(j);
	firefox_column(f, "endTime");
	for (size_t i = 0; i < count; i++)
		firefox_write_time(f,
				   losses[i].end > losses[i].time ? losses[i].end : losses[i].time);
	json_array_end(j);
	firefox_numbers(f, "phase", 1, count); /* phase 1: an interval */
	firefox_numbers(f, "category", CATEGORY_OTHER, count);
	json_object_end(j);
	return ret;
}

/* Write a thread without samples that has the markers of losses. */
static int firefox_write_losses(struct firefox *f)
{
	struct json *j = &f->json;
	int ret;

	firefox_begin_thread(f);
	json_key_text(j, "name", "lost records");
	json_key_text(j, "processName", "lost records");
	json_key_text(j, "pid", "lost");
	json_key_uint(j, "tid", 0);
	json_key(j, "isMainThread");
	json_bool(j, true);
	firefox_write_key_time(f, "processStartupTime", f->timeline.from);
	firefox_write_key_time(f, "processShutdownTime", 0);
	firefox_write_key_time(f, "registerTime", f->timeline.from);
	firefox_write_key_time(f, "unregisterTime", 0);
	firefox_write_samples(f, 0, 0);
	ret = firefox_write_loss_markers(f);
	json_object_end(j);
	return ret;
}

/* Write a thread without samples for spans that are of no sampled thread. */
static int firefox_write_lane(struct firefox *f, const struct firefox_spans *s)
{
	uint64_t lane = f->timeline.spans.list.items[s->first].lane;
	struct timeline_owner owner = timeline_owner_of(&f->timeline, lane);
	const struct profile *p = f->timeline.profile;
	const char *name = shown_lane_name(&f->timeline.spans, lane);
	struct json *j = &f->json;
	uint64_t tid = 0;
	int ret;

	if (owner.thread != PROFILE_NONE) {
		name = thread_display_name(&p->threads[owner.thread].t);
		tid = p->threads[owner.thread].t.tid;
	}
	firefox_begin_thread(f);
	firefox_write_clean(f, "name", *name ? name : "runtime");
	firefox_write_clean(f, "processName",
			    owner.process == PROFILE_NONE
				    ? "[unknown]"
				    : process_name(&p->processes[owner.process].p));
	json_key_uint(j, "tid", tid);
	json_key(j, "isMainThread");
	json_bool(j, false);
	firefox_write_key_time(f, "processStartupTime", f->timeline.from);
	firefox_write_key_time(f, "processShutdownTime", 0);
	firefox_write_key_time(f, "registerTime", f->timeline.from);
	firefox_write_key_time(f, "unregisterTime", 0);
	ret = firefox_write_pid(f, owner.process);
	firefox_write_samples(f, 0, 0);
	if (!ret)
		ret = firefox_markers(f, 0, 0, s);
	json_object_end(j);
	return ret;
}

/* Write the spans of lanes that no thread with samples has. */
static int firefox_write_lanes(struct firefox *f)
{
	const struct shown_spans *all = &f->timeline.spans;
	int ret = 0;

	for (size_t first = 0, end; first < all->list.count && !ret; first = end) {
		struct firefox_spans s = firefox_take_spans(f, all->list.items[first].lane);

		end = shown_spans_lane_end(all, first);
		if (s.first < s.end)
			ret = firefox_write_lane(f, &s);
	}
	return ret;
}

/* Take the spans of the thread of a row of samples; its other rows have none. */
static struct firefox_spans take_spans_of_row(struct firefox *f, const struct gathered *g)
{
	uint32_t thread = f->gather.tracks.items[g->track].thread;

	return firefox_take_spans(
		f, thread == PROFILE_NONE ? 0 : f->timeline.profile->threads[thread].t.lane);
}

static int firefox_write_threads(struct firefox *f)
{
	const struct gathered *samples;
	size_t count = f->gather.samples.count;
	int ret = firefox_index_spans(f);

	gather_sort(&f->gather);
	samples = f->gather.samples.items;
	firefox_column(f, "threads");
	for (size_t from = 0, to; from < count && !ret; from = to) {
		struct firefox_spans s = take_spans_of_row(f, &samples[from]);

		to = gather_row_end(&f->gather, from);
		firefox_begin_thread(f);
		ret = firefox_write_owner(f, &samples[from],
					  samples[0].event != samples[count - 1].event);
		firefox_write_samples(f, from, to);
		if (!ret)
			ret = firefox_markers(f, from, to, &s);
		json_object_end(&f->json);
	}
	if (!ret)
		ret = firefox_write_lanes(f);
	if (!ret && (f->timeline.losses.count || !count))
		ret = firefox_write_losses(f);
	json_array_end(&f->json);
	return ret;
}

static int firefox_end(struct timeline *t)
{
	struct firefox *f = (struct firefox *)t;
	int ret;

	json_object(&f->json);
	firefox_write_meta(f);
	firefox_column(f, "libs");
	json_array_end(&f->json);
	ret = firefox_write_threads(f);
	if (!ret)
		ret = firefox_shared(f);
	json_object_end(&f->json);
	return ret ? ret : json_end(&f->json);
}

static void firefox_free(struct timeline *t)
{
	struct firefox *f = (struct firefox *)t;

	firefox_shared_free(f);
	gather_free(&f->gather);
	index_free(&f->pids);
	index_free(&f->turns);
	vector_free(&f->waits);
	index_free(&f->wait_of);
	index_free(&f->spans_of);
}

static const struct timeline_ops firefox_ops = {
	.what = "a profile for the Firefox Profiler",
	.no_lanes = true,
	.spans = true,
	.begin = firefox_begin,
	.sample = firefox_sample,
	.end = firefox_end,
	.free = firefox_free,
};

int firefox_sink(struct sink **out, FILE *file, const struct export_options *o, struct error *err)
{
	struct timeline *t;
	int ret = timeline_new(&t, sizeof(struct firefox), &firefox_ops, o, err);
	struct firefox *f;

	if (ret < 0)
		return ret;
	f = (struct firefox *)t;
	f->lines = o->view.lines;
	f->gather.wall = o->wall;
	json_begin(&f->json, file, false);
	*out = &t->sink;
	return 0;
}
