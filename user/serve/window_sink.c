// SPDX-License-Identifier: Apache-2.0
/* Divide an endless capture into windows (window_sink.h). */
#include "serve/window_sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/entity_life.h"
#include "analyze/handler_parts.h"
#include "serve/window_accounts.h"
#include "serve/window_groups.h"
#include "serve/window_lanes.h"
#include "serve/window_trace.h"

#define NSEC_PER_SEC 1000000000ULL
/* A window is completed so long (ns) after its end, with the names that came until then. */
#define NAMES_TIME (3 * NSEC_PER_SEC)
/* Samples may be so old (ns) at a tick that follows them; so a window begins before its tick. */
#define UNDER_WAY (NSEC_PER_SEC * 3 / 10)
/* Ids of losses count down from here: those of the source count up from 1. */
#define LAST_LOSS UINT32_MAX
/* The id of the info record of window_sink_note(), for the same reason. */
#define LAST_INFO UINT32_MAX

#define STORED_ENTITIES \
	(IN_EVERY_WINDOW | WANT(PROCESS) | WANT(THREAD) | WANT(MAPPING) | WANT(FUNCTION) | \
	 WANT(FRAME) | WANT(STACK))

#define LANE_ENTITIES (WANT(LANE) | WANT(NAME))
/* What the metrics of pauses are made of, whether windows have it or not. */
#define WANT_PAUSES (WANT(LANE) | WANT(SPAN))

/* Samples that were put and are in no window. */
struct unwritten {
	uint64_t place, count; /* sample_place() */
};

/* What windows could not store, for the next one. */
struct window_unstored {
	VECTOR(struct loss) losses; /* that came while no window could be written */
	VECTOR(struct unwritten) samples; /* of the windows that are complete or failed */
};

/* What the source adds up, divided among windows. */
struct window_parts {
	struct window_accounts accounts;
	struct window_groups groups;
	struct handler_parts handlers;
};

struct windows {
	struct sink sink;
	struct window_options options;
	struct window_counts counts;
	struct entity_store stores[KIND_COUNT];
	uint32_t epoch; /* number of times the source has forgotten its entities */
	bool forgotten; /* since the last tick */
	struct entity_store hosts; /* the host, once the source has put it */
	struct window_trace open, closing; /* that of now; the one before, which waits for names */
	uint64_t closing_end; /* its end, ns */
	struct window_clock clock;
	uint64_t begin; /* of the open window, ns, even if it cannot be written; 0: there is none */
	uint64_t losses; /* number of losses that this file has put */
	uint64_t last_sample, last_tick; /* largest time of a sample so far, of a tick: ns */
	uint64_t ended; /* when the source has ended, ns; 0: not yet */
	struct window_parts parts;
	struct window_lanes lanes;
	struct window_unstored unstored;
};

static uint64_t ns_of_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

/* Return the wall clock at a time near now (boot, ns of CLOCK_BOOTTIME), ns since 1970. */
static uint64_t utc_of(const struct windows *w, uint64_t boot)
{
	if (w->options.utc)
		return w->options.utc(boot);
	return ns_of_clock(CLOCK_REALTIME) - ns_of_clock(CLOCK_BOOTTIME) + boot;
}

/* A window failed with that error: remember it, and go on. */
static void note_failed_window(struct windows *w, const struct error *err)
{
	w->counts.failed++;
	snprintf(w->counts.problem, sizeof(w->counts.problem), "%.*s",
		 (int)strcspn(err->text, "\n"), err->text);
}

/* Count samples that no window has. Without memory for the count they stay uncounted. */
static void add_unwritten(struct windows *w, uint64_t place, uint64_t count)
{
	const struct unwritten fresh = {place, count};

	for (size_t i = 0; i < w->unstored.samples.count; i++)
		if (w->unstored.samples.items[i].place == place) {
			w->unstored.samples.items[i].count += count;
			return;
		}
	if (count)
		(void)vector_push(&w->unstored.samples, fresh);
}

/* Take over what a window could not store, before it is closed. */
static void take_unwritten(struct windows *w, const struct window_trace *t)
{
	for (size_t i = 0; i < w->parts.accounts.list.count; i++) {
		const struct account *a = &w->parts.accounts.list.items[i].now;
		uint64_t place = sample_place(a->event, a->cpu);

		add_unwritten(w, place, sink_unstored(t->writer, KIND_SAMPLE, place));
	}
	window_lanes_take_unwritten(&w->lanes, t);
}

/* Remove old windows, so that the open one has room within the budget. */
static void keep_window_budget(struct windows *w)
{
	const struct window_options *o = &w->options;
	struct error err = {""};
	const struct window_now now =
		window_clock_read(&w->clock, w->last_tick, utc_of(w, w->last_tick));

	if (window_files_prune(o->folder, &o->budget, &now, &w->counts.removed, &err) < 0)
		note_failed_window(w, &err);
}

static void complete_window(struct windows *w, struct window_trace *t, uint64_t end)
{
	struct error err = {""};

	if (!t->writer)
		return;
	take_unwritten(w, t);
	if (window_trace_close(t, end, &err) < 0)
		note_failed_window(w, &err);
	else
		w->counts.written++;
	keep_window_budget(w);
}

/* The host; NULL: the source has not put it yet. */
static const struct host *host_of_windows(struct windows *w)
{
	return w->hosts.count ? entity_store_record(entity_store_at(&w->hosts, 0)) : NULL;
}

/* Put the losses that came while there was no window. */
static int put_kept_losses(struct windows *w, struct window_trace *t, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < w->unstored.losses.count && !ret; i++)
		ret = put_loss(t->writer, &w->unstored.losses.items[i], err);
	if (!ret)
		w->unstored.losses.count = 0;
	return ret;
}

/* Keep a loss for the next window that can be written, added to one of the same kind. */
static int keep_loss(struct windows *w, const struct loss *l)
{
	for (size_t i = 0; i < w->unstored.losses.count; i++) {
		struct loss *k = &w->unstored.losses.items[i];

		if (k->event != l->event || k->cpu != l->cpu || k->reason != l->reason)
			continue;
		k->end = l->end > k->end ? l->end : k->end;
		k->count += l->id == k->id ? 0 : l->count;
		k->weight += l->id == k->id ? 0 : l->weight;
		return 0;
	}
	return vector_push(&w->unstored.losses, *l);
}

/* A record could not be put: give up the window, whose committed part stays. */
static void give_up_window(struct windows *w, struct window_trace *t, const struct error *err)
{
	struct error ignored = {""};

	note_failed_window(w, err);
	take_unwritten(w, t);
	(void)window_trace_close(t, w->last_tick, &ignored);
}

/* Begin a window. Return 0, also if it cannot be written, or -ENOMEM. */
static int begin_window(struct windows *w, uint64_t begin)
{
	struct error err = {""};
	int failed = 0;
	int ret = window_trace_open(&w->open, w->options.folder, begin, utc_of(w, begin), &err);

	w->begin = begin;
	window_accounts_again(&w->parts.accounts);
	window_groups_again(&w->parts.groups);
	handler_parts_again(&w->parts.handlers);
	if (ret < 0) {
		note_failed_window(w, &err);
		return 0;
	}
	w->open.with_lanes = record_choice_wants(&w->options.records) & WANT(LANE);
	ret = 0;
	if (window_trace_describe(&w->open, w->stores, host_of_windows(w), &err) < 0 ||
	    put_kept_losses(w, &w->open, &err) < 0)
		give_up_window(w, &w->open, &err);
	else
		ret = window_lanes_put_states(&w->lanes, &w->open, w->stores, &failed, &err);
	if (failed)
		give_up_window(w, &w->open, &err);
	return ret;
}

/* Put the part of the accounts that belongs to the window, as far as it is known. */
static int put_accounts_of_window(struct windows *w, struct window_trace *t, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < w->parts.accounts.list.count && !ret; i++) {
		struct account a;

		if (window_accounts_get(&w->parts.accounts, i, &a))
			ret = put_account(t->writer, &a, err);
	}
	return ret;
}

static int put_handlers_of_window(struct windows *w, struct window_trace *t, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < w->parts.handlers.list.count && !ret; i++) {
		const struct handler *sum = handler_parts_changed(&w->parts.handlers, i);

		ret = sum ? window_trace_put(t, w->stores, KIND_HANDLER, sum, err) : 0;
	}
	return ret;
}

/* Put all that is added up into the open window, as far as it is known. */
static int put_parts(struct windows *w, struct error *err)
{
	int ret = put_accounts_of_window(w, &w->open, err);

	if (!ret)
		ret = window_groups_put(&w->parts.groups, w->open.writer, err);
	return ret ? ret : put_handlers_of_window(w, &w->open, err);
}

static uint64_t period_of_event(struct windows *w, uint64_t event)
{
	struct entity_store_item *item = entity_store_find(&w->stores[KIND_EVENT], event);

	return item ? ((struct event *)entity_store_record(item))->period : 0;
}

/* Return whether clients get a record: not the samples that are weighted, and their accounts. */
static bool is_on_demand(struct windows *w, enum record_kind kind, const void *record)
{
	struct entity_store_item *item =
		entity_store_find(&w->stores[KIND_EVENT], event_of_record(kind, record));

	return !item || !event_is_weighted(((struct event *)entity_store_record(item))->name);
}

/* Pass a record on for what clients ask for beside windows. Return 0 or -ENOMEM. */
static int put_on_demand(struct windows *w, enum record_kind kind, const void *record)
{
	struct on_demand *d = w->options.demand;

	return d && is_on_demand(w, kind, record) ? on_demand_put(d, kind, record) : 0;
}

/* Put the samples that are due in a window which ends, and were not delivered, as losses. */
static int put_missing_samples(struct windows *w, struct window_trace *t, uint64_t end,
			       struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < w->parts.accounts.list.count && !ret; i++) {
		const struct account *a = &w->parts.accounts.list.items[i].now;
		uint64_t count =
			window_accounts_find_missing(&w->parts.accounts, i, end - t->begin);
		const struct loss l = {
			.id = LAST_LOSS - w->losses,
			.host = 1,
			.event = a->event,
			.cpu = a->cpu + 1,
			.reason = LOSS_NOT_DELIVERED,
			.time = t->begin,
			.end = end,
			.count = count,
			.weight = count * period_of_event(w, a->event),
		};

		w->losses += count > 0;
		ret = count ? put_loss(t->writer, &l, err) : 0;
		if (count && !ret)
			ret = put_on_demand(w, KIND_LOSS, &l);
	}
	return ret;
}

/* End the open window at end, ns: what is put from now on belongs to the next one. */
static void end_window(struct windows *w, uint64_t end)
{
	struct error err = {""};
	int ret = 0;

	complete_window(w, &w->closing, w->closing_end);
	if (w->open.writer) {
		ret = put_missing_samples(w, &w->open, end, &err);
		if (!ret)
			ret = put_parts(w, &err);
		if (!ret)
			ret = window_trace_put_host(&w->open, host_of_windows(w), end, &err);
		if (ret)
			give_up_window(w, &w->open, &err);
	}
	/* The accounts and sums of a window that could not be written are in the next one. */
	if (w->open.writer) {
		window_accounts_next(&w->parts.accounts);
		if (w->options.demand && on_demand_end_groups(w->options.demand) < 0)
			note_failed_window(w, &(struct error){"out of memory for metrics"});
		window_groups_next(&w->parts.groups);
		handler_parts_next(&w->parts.handlers);
	}
	window_trace_free(&w->closing);
	w->closing = w->open;
	w->closing_end = end;
	w->open = (struct window_trace){.writer = NULL};
	w->begin = 0;
}

/* The functions below implement the sink. */

/* Put a record into the open window. A failure is that of the window, and is no error. */
static void put_into_window(struct windows *w, enum record_kind kind, const void *record)
{
	const struct sample *s = kind == KIND_SAMPLE ? record : NULL;
	struct error err = {""};

	if (s && s->time > w->last_sample)
		w->last_sample = s->time;
	if (w->open.writer && window_trace_put(&w->open, w->stores, kind, record, &err) < 0)
		give_up_window(w, &w->open, &err);
	if (s && !w->open.writer)
		add_unwritten(w, sample_place(s->event, s->cpu), 1);
}

/* Put the part of a record that belongs to a window, if any. Return whether it has none. */
static bool put_part(struct windows *w, struct window_trace *t, enum record_kind kind,
		     const void *record, const uint64_t range[2])
{
	struct error err = {""};
	union merge_record r;

	memcpy(&r, record, kinds[kind].size);
	if (!window_lanes_cut(kind, &r, range[0], range[1]))
		return true;
	if (!t->writer)
		return false;
	if (window_trace_put(t, w->stores, kind, &r, &err) < 0)
		give_up_window(w, t, &err);
	return true;
}

/* Put a slice, edge, span or counter into the windows of its time. Return 0 or -ENOMEM. */
static int take_lane_record(struct windows *w, enum record_kind kind, const void *record)
{
	const uint64_t open[2] = {w->begin, UINT64_MAX};
	/* Slices apart, what comes too late for the window of its time belongs to the open one. */
	const uint64_t late[2] = {0, UINT64_MAX};
	const uint64_t closing[2] = {w->closing.begin, w->closing_end};
	bool before = w->closing.writer && w->begin;
	bool written = !before || put_part(w, &w->closing, kind, record, closing);
	struct error ignored;

	if (!put_part(w, &w->open, kind, record, before || kind == KIND_SLICE ? open : late) ||
	    !written)
		w->lanes.unwritten[kind]++;
	return window_lanes_take(&w->lanes, kind, record, &ignored);
}

/* Keep an entity for later windows; put it into those that have it, or have all of its kind. */
static int keep_entity(struct windows *w, enum record_kind kind, const void *record)
{
	struct window_trace *const both[] = {&w->open, &w->closing};
	int ret = entity_store_put(&w->stores[kind], record, w->epoch);

	for (size_t i = 0; i < 2 && !ret; i++) {
		struct error err = {""};
		int rc = 0;

		if (both[i]->writer && IN_EVERY_WINDOW >> kind & 1)
			rc = window_trace_put(both[i], w->stores, kind, record, &err);
		else
			rc = window_trace_update(both[i], w->stores, kind, record, &err);
		if (rc < 0)
			give_up_window(w, both[i], &err);
	}
	if (!ret && w->options.demand && !(LANE_ENTITIES >> kind & 1))
		on_demand_update(w->options.demand, kind, record);
	return ret || kind == KIND_NAME
		       ? ret
		       : window_lanes_take(&w->lanes, kind, record, &(struct error){""});
}

/* The source puts the host when it begins, and again when it ends. */
static int take_host(struct windows *w, const struct host *h)
{
	int ret = entity_store_put(&w->hosts, h, 0);

	w->ended = h->end;
	return ret || w->begin ? ret : begin_window(w, h->start);
}

static int take_loss_of_window(struct windows *w, const struct loss *record)
{
	struct loss l = *record;
	int ret;

	/* A loss that lasts is put again and again; each window has its own part of it. */
	if (l.time < w->begin && l.end >= w->begin)
		l.time = w->begin;
	if (!window_accounts_take_loss(&w->parts.accounts, &l))
		return 0;
	put_into_window(w, KIND_LOSS, &l);
	ret = put_on_demand(w, KIND_LOSS, &l);
	return ret || w->open.writer ? ret : keep_loss(w, &l);
}

static int windows_put(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	struct windows *w = (struct windows *)s;
	int ret = 0;

	if (w->options.demand && WANT_PAUSES >> kind & 1)
		ret = pauses_put(&w->options.demand->pauses, kind, record, w->stores);
	if (ret)
		return error_errno(err, ret, "cannot count pauses");
	if (WANT_PAUSES & ~record_choice_wants(&w->options.records) & 1ULL << kind)
		return 0;
	if (!record_choice_takes(&w->options.records, kind, record))
		return 0;
	if (kind == KIND_HOST)
		ret = take_host(w, record);
	else if (kind == KIND_ACCOUNT)
		ret = window_accounts_take(&w->parts.accounts, record);
	else if (kind == KIND_GROUP_TIME)
		ret = window_groups_take(&w->parts.groups, record);
	else if (kind == KIND_HANDLER)
		ret = handler_parts_take(&w->parts.handlers, record);
	else if (kind == KIND_LOSS)
		ret = take_loss_of_window(w, record);
	else if (w->stores[kind].kind)
		ret = keep_entity(w, kind, record);
	else if (LANE_RECORDS >> kind & 1)
		ret = take_lane_record(w, kind, record);
	else
		put_into_window(w, kind, record);
	if (!ret && (kind == KIND_SAMPLE || kind == KIND_ACCOUNT))
		ret = put_on_demand(w, kind, record);
	return ret < 0 ? error_errno(err, ret, "cannot keep what was sampled") : 0;
}

/* Pass a tick on: what was put so far is stored. */
static void tick_window(struct windows *w, struct window_trace *t, uint64_t time)
{
	struct error err = {""};
	int ret = 0;

	if (!t->writer)
		return;
	if (t == &w->open)
		ret = put_parts(w, &err);
	if (!ret)
		ret = sink_tick(t->writer, time, &err);
	if (ret < 0)
		give_up_window(w, t, &err);
}

/* Drop what no later record refers to, and no sample that is still to be counted. */
static int drop_entities(struct windows *w, uint64_t time)
{
	w->forgotten = false;
	if (w->options.demand)
		on_demand_mark(w->options.demand);
	return entity_life_sweep(w->stores, w->epoch, time);
}

static int windows_tick(struct sink *s, uint64_t time, struct error *err)
{
	struct windows *w = (struct windows *)s;
	uint64_t end = time - UNDER_WAY;
	int ret = 0;

	w->last_tick = time;
	if (w->options.demand) {
		w->options.demand->host = host_of_windows(w);
		ret = on_demand_tick(w->options.demand, time, err);
	}
	end = end > w->last_sample ? end : w->last_sample;
	end = window_lanes_border(&w->lanes, end, w->last_sample);
	if (w->closing.writer && time >= w->closing_end + NAMES_TIME)
		complete_window(w, &w->closing, w->closing_end);
	/* The last window ends where the source has ended. */
	if (w->begin && !w->ended && end >= w->begin + w->options.length) {
		end_window(w, end);
		ret = ret ? ret : begin_window(w, end);
		if (w->options.demand && !ret)
			ret = on_demand_end_window(w->options.demand, time, err);
		w->forgotten = !ret;
	}
	if (w->forgotten && !ret)
		ret = drop_entities(w, time);
	tick_window(w, &w->open, time);
	tick_window(w, &w->closing, time);
	return ret < 0 ? error_errno(err, ret, "cannot keep what was sampled") : 0;
}

static int windows_forget(struct sink *s, struct error *err)
{
	struct windows *w = (struct windows *)s;

	(void)err;
	w->epoch++;
	w->forgotten = true;
	return 0;
}

static uint64_t windows_unstored(const struct sink *s, enum record_kind kind, uint64_t place)
{
	const struct windows *w = (const struct windows *)s;
	uint64_t count = w->lanes.unwritten[kind];

	if (kind != KIND_SAMPLE && !(LANE_RECORDS >> kind & 1))
		return 0;
	for (size_t i = 0; kind == KIND_SAMPLE && i < w->unstored.samples.count; i++)
		if (w->unstored.samples.items[i].place == place)
			count += w->unstored.samples.items[i].count;
	if (w->open.writer)
		count += sink_unstored(w->open.writer, kind, place);
	if (w->closing.writer)
		count += sink_unstored(w->closing.writer, kind, place);
	return count;
}

static int windows_finish(struct sink *s, struct error *err)
{
	struct windows *w = (struct windows *)s;

	(void)err;
	if (w->begin)
		end_window(w, w->ended ? w->ended : w->last_tick);
	complete_window(w, &w->closing, w->closing_end);
	return 0;
}

static void windows_free(struct sink *s)
{
	struct windows *w = (struct windows *)s;

	window_trace_free(&w->open);
	window_trace_free(&w->closing);
	for (int kind = 0; kind < KIND_COUNT; kind++)
		if (w->stores[kind].kind)
			entity_store_free(&w->stores[kind]);
	entity_store_free(&w->hosts);
	window_accounts_free(&w->parts.accounts);
	window_groups_free(&w->parts.groups);
	handler_parts_free(&w->parts.handlers);
	window_lanes_free(&w->lanes);
	vector_free(&w->unstored.losses);
	vector_free(&w->unstored.samples);
	free(w);
}

static const struct sink_ops windows_ops = {
	.put = windows_put,
	.tick = windows_tick,
	.forget = windows_forget,
	.unstored = windows_unstored,
	.finish = windows_finish,
	.free = windows_free,
};

int window_sink(struct sink **out, const struct window_options *o, struct error *err)
{
	const uint64_t records = record_choice_wants(&o->records);
	struct windows *w = calloc(1, sizeof(*w));
	int ret;

	if (!w)
		return error_set(err, -ENOMEM, "out of memory");
	w->sink = (struct sink){&windows_ops,
				WANTS(STORED_ENTITIES | WANT(HOST) | WANT(SAMPLE) |
				      WANT(GROUP_TIME) | (o->demand ? WANT_PAUSES : 0) | records)};
	w->options = *o;
	ret = o->records.sched ? window_lanes_begin(&w->lanes, err) : 0;
	if (ret < 0) {
		windows_free(&w->sink);
		return ret;
	}
	entity_store_init(&w->hosts, KIND_HOST);
	for (int kind = 0; kind < KIND_COUNT; kind++)
		if ((STORED_ENTITIES | (records & LANE_ENTITIES)) >> kind & 1)
			entity_store_init(&w->stores[kind], (enum record_kind)kind);
	if (o->demand) {
		o->demand->stores = w->stores;
		o->demand->groups = &w->parts.groups.window;
	}
	*out = &w->sink;
	return 0;
}

void window_sink_change(struct sink *s, uint64_t length, const struct window_budget *budget)
{
	struct windows *w = (struct windows *)s;

	w->options.length = length;
	w->options.budget = *budget;
	keep_window_budget(w);
}

void window_sink_note(struct sink *s, const char *key, const char *value)
{
	struct windows *w = (struct windows *)s;
	const struct host *host = host_of_windows(w);
	struct error err = {""};

	if (w->open.noted || !w->open.writer || !host)
		return;
	w->open.noted = true;
	if (put_info(w->open.writer,
		     &(struct info){.id = LAST_INFO, .host = host->id, .key = key, .value = value},
		     &err) < 0)
		give_up_window(w, &w->open, &err);
}

void window_sink_counts(const struct sink *s, struct window_counts *out)
{
	*out = ((const struct windows *)s)->counts;
}
