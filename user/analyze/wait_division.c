// SPDX-License-Identifier: Apache-2.0
/* Replace the sums of stacks of waits by others that add up to exact times (wait_division.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/wait_division_private.h"

struct division_source {
	struct source source;
	struct source *inner;
	const struct wait_division *division;
};

/* One run: what passes from the inner source to the sink. */
struct division_run {
	struct sink sink;
	struct sink *to;
	struct index events; /* event.id of stacks of waits */
	bool of_waits; /* there are such events */
	struct divided_sums sums;
	uint64_t frame, stack; /* largest ids so far; then those of the mark END_NOT_TAKEN */
	bool framed, stacked, summed; /* the mark's frame, its stack, and all sums have been put */
};

static int note_division_event(struct sink *sink, enum record_kind kind, const void *record,
			       struct error *err)
{
	struct division_run *r = (struct division_run *)sink;
	const struct event *e = record;

	if (kind != KIND_EVENT || !e->name || strcmp(e->name, EVENT_OFF_CPU))
		return 0;
	r->of_waits = true;
	return index_put(&r->events, e->id, 0) < 0 ? error_errno(err, -ENOMEM, "cannot read events")
						   : 0;
}

static const struct sink_ops division_event_ops = {.put = note_division_event};

static int put_mark_frame(struct division_run *r, struct error *err)
{
	const struct frame f = {.id = ++r->frame, .kind = FRAME_END, .address = END_NOT_TAKEN};

	r->framed = true;
	return put_frame(r->to, &f, err);
}

static int put_mark_stack(struct division_run *r, struct error *err)
{
	const struct stack s = {.id = ++r->stack, .frame = r->frame};

	r->stacked = true;
	return put_stack(r->to, &s, err);
}

static int put_divided_sums(struct division_run *r, struct error *err)
{
	int ret = 0;

	r->summed = true;
	for (size_t i = 0; i < r->sums.list.count && !ret; i++) {
		struct sum s = r->sums.list.items[i];

		s.stack = s.stack == DIVIDED_NOT_TAKEN ? r->stack : s.stack;
		ret = put_sum(r->to, &s, err);
	}
	return ret;
}

/* Put what belongs before records of a kind and has not been put yet. */
static int put_before(struct division_run *r, unsigned int kind, struct error *err)
{
	int ret = 0;

	if (kind > KIND_FRAME && !r->framed)
		ret = put_mark_frame(r, err);
	if (!ret && kind > KIND_STACK && !r->stacked)
		ret = put_mark_stack(r, err);
	if (!ret && kind > KIND_SUM && !r->summed)
		ret = put_divided_sums(r, err);
	return ret;
}

static bool is_replaced(const struct division_run *r, const struct sum *s)
{
	return index_get(&r->events, s->event) != INDEX_NONE;
}

static int division_put(struct sink *sink, enum record_kind kind, const void *record,
			struct error *err)
{
	struct division_run *r = (struct division_run *)sink;
	const struct frame *frame = record;
	const struct stack *stack = record;
	int ret = put_before(r, kind, err);

	if (kind == KIND_FRAME && frame->id > r->frame)
		r->frame = frame->id;
	if (kind == KIND_STACK && stack->id > r->stack)
		r->stack = stack->id;
	if (ret || (kind == KIND_SUM && is_replaced(r, record)))
		return ret;
	return sink_put(r->to, kind, record, err);
}

/* Put the sums that are not replaced, in as few arrays as possible. */
static int put_other_sums(struct division_run *r, const struct sum *sums, size_t count,
			  struct error *err)
{
	size_t first = 0;
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++) {
		if (!is_replaced(r, &sums[i]))
			continue;
		ret = sink_put_many(r->to, KIND_SUM, &sums[first], i - first, err);
		first = i + 1;
	}
	return ret ? ret : sink_put_many(r->to, KIND_SUM, &sums[first], count - first, err);
}

static int division_put_many(struct sink *sink, enum record_kind kind, const void *records,
			     size_t count, struct error *err)
{
	struct division_run *r = (struct division_run *)sink;
	const struct stack *stacks = records;
	const struct frame *frames = records;
	int ret = put_before(r, kind, err);

	for (size_t i = 0; kind == KIND_STACK && i < count; i++)
		r->stack = stacks[i].id > r->stack ? stacks[i].id : r->stack;
	for (size_t i = 0; kind == KIND_FRAME && i < count; i++)
		r->frame = frames[i].id > r->frame ? frames[i].id : r->frame;
	if (!ret && kind == KIND_SUM)
		return put_other_sums(r, records, count, err);
	return ret ? ret : sink_put_many(r->to, kind, records, count, err);
}

static const struct sink_ops division_ops = {.put = division_put, .put_many = division_put_many};

/* Run the inner source with its sums of waits replaced, if it can be. */
static int run_divided(struct division_source *s, struct division_run *r, struct error *err)
{
	int ret = divided_sums_read(&r->sums, s->inner, s->division, &r->events, err);

	if (ret)
		return ret;
	if (!r->sums.made)
		return s->inner->ops->run(s->inner, r->to, err);
	r->sink = (struct sink){.ops = &division_ops, .wants = r->to->wants};
	ret = s->inner->ops->run(s->inner, &r->sink, err);
	return ret ? ret : put_before(r, KIND_COUNT, err);
}

static int division_run(struct source *source, struct sink *to, struct error *err)
{
	struct division_source *s = (struct division_source *)source;
	struct division_run r = {
		.sink = {.ops = &division_event_ops, .wants = WANTS(WANT(EVENT))},
		.to = to,
	};
	int ret;

	if (!(to->wants & WANT(SUM)))
		return s->inner->ops->run(s->inner, to, err);
	ret = s->inner->ops->run(s->inner, &r.sink, err);
	if (!ret)
		ret = r.of_waits ? run_divided(s, &r, err) : s->inner->ops->run(s->inner, to, err);
	index_free(&r.events);
	vector_free(&r.sums.list);
	return ret;
}

static void division_free(struct source *s)
{
	free(s);
}

static const struct source_ops division_source_ops = {.run = division_run, .free = division_free};

int wait_division_source(struct source **out, struct source *inner, const struct wait_division *d,
			 struct error *err)
{
	struct division_source *s = calloc(1, sizeof(*s));

	if (!s)
		return error_errno(err, -ENOMEM, "cannot read the waits");
	s->source.ops = &division_source_ops;
	s->inner = inner;
	s->division = d;
	*out = &s->source;
	return 0;
}
