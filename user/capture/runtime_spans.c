// SPDX-License-Identifier: Apache-2.0
/* Open spans of lanes, as stacks: a begin pushes, an end puts the span and pops. */
#include "capture/runtime_spans.h"

#include <errno.h>
#include <string.h>

/* Ends without a begin that a track may have because the probes were attached in between. */
#define EXCUSED_MOST 64

int runtime_put_span(struct runtime_events *r, uint64_t lane, const struct open_span *s,
		     uint64_t end, struct error *err)
{
	struct span span = {
		.time = s->time,
		.end = end && end < s->time ? s->time : end,
		.lane = lane,
		.kind = s->kind,
		.origin = s->origin,
	};
	int ret = runtime_name(r, s->name ? s->name : span_kind_word(s->kind), &span.name, err);

	if (!ret)
		ret = runtime_name(r, s->args, &span.args, err);
	return ret ? ret : put_span(r->c.sink, &span, err);
}

void runtime_count_unpaired(struct runtime_events *r, uint64_t begin, uint64_t end)
{
	if (!r->unpaired.count || begin < r->unpaired.time)
		r->unpaired.time = begin;
	if (end > r->unpaired.end)
		r->unpaired.end = end;
	r->unpaired.count++;
}

static void free_span(struct open_span *s)
{
	free(s->name);
	free(s->args);
	free(s->collection);
}

/* Forget the spans from a position on. */
static void pop_spans(struct runtime_events *r, struct track *t, size_t from)
{
	for (size_t i = from; i < t->open.count; i++)
		free_span(&t->open.items[i]);
	r->open -= t->open.count - from;
	t->open.count = from;
}

/*
 * Forget what began before events were lost: the ends may be among the lost events, and later ones
 * would be taken for them. The lost events are counted elsewhere.
 */
static void renew_track(struct runtime_events *r, struct track *t)
{
	if (t->epoch == r->epoch)
		return;
	pop_spans(r, t, 0);
	t->epoch = r->epoch;
	t->begun = 0;
	t->excused = t->overflow = 0;
}

int track_begin(struct runtime_events *r, struct track *t, const struct open_span *s,
		struct error *err)
{
	renew_track(r, t);
	t->begun |= 1ULL << s->kind;
	if (t->open.count >= RUNTIME_DEPTH || r->open >= RUNTIME_OPEN) {
		t->overflow++;
		runtime_count_unpaired(r, s->time, s->time);
		free_span(&(struct open_span){
			.name = s->name, .args = s->args, .collection = s->collection});
		return 0;
	}
	if (vector_push(&t->open, *s) < 0) {
		free_span(&(struct open_span){
			.name = s->name, .args = s->args, .collection = s->collection});
		return error_errno(err, -ENOMEM, "spans");
	}
	r->open++;
	return 0;
}

size_t track_find(struct runtime_events *r, struct track *t, enum span_kind kind, uint64_t key)
{
	renew_track(r, t);
	for (size_t i = t->open.count; i > 0; i--)
		if (t->open.items[i - 1].kind == kind && (!key || t->open.items[i - 1].key == key))
			return i;
	return 0;
}

void track_drop(struct runtime_events *r, struct track *t, size_t from, uint64_t time)
{
	for (size_t i = from; i < t->open.count; i++)
		runtime_count_unpaired(r, t->open.items[i].time, time);
	pop_spans(r, t, from);
}

int track_end(struct runtime_events *r, struct track *t, size_t position, uint64_t time,
	      struct error *err)
{
	int ret;

	track_drop(r, t, position + 1, time);
	ret = runtime_put_span(r, t->lane, &t->open.items[position], time, err);
	t->last_end = time;
	pop_spans(r, t, position);
	return ret;
}

int track_end_alone(struct runtime_events *r, struct track *t, size_t position, uint64_t time,
		    struct error *err)
{
	struct open_span *s = &t->open.items[position];
	int ret = runtime_put_span(r, t->lane, s, time, err);

	free_span(s);
	memmove(s, s + 1, (t->open.count - position - 1) * sizeof(*s));
	t->open.count--;
	r->open--;
	return ret;
}

void track_unpaired(struct runtime_events *r, struct track *t, const struct probe_event *e,
		    enum span_kind kind, bool early)
{
	renew_track(r, t);
	if (t->overflow) {
		t->overflow--; /* The begin was counted. */
		return;
	}
	if (early && !(t->begun & 1ULL << kind) && t->excused < EXCUSED_MOST) {
		t->excused++;
		return;
	}
	runtime_count_unpaired(r, e->time, e->time);
}

int track_put_open(struct runtime_events *r, struct track *t, uint64_t time, struct error *err)
{
	int ret = 0;

	renew_track(r, t);
	for (size_t i = 0; i < t->open.count && !ret; i++)
		if (t->open.items[i].time <= time)
			ret = runtime_put_span(r, t->lane, &t->open.items[i], 0, err);
	pop_spans(r, t, 0);
	return ret;
}

void track_free(struct runtime_events *r, struct track *t)
{
	pop_spans(r, t, 0);
	vector_free(&t->open);
}
