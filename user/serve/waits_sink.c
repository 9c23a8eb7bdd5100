// SPDX-License-Identifier: Apache-2.0
/* Pass stacks of waits to the sessions that want them (waits_sink.h). */
#include "serve/waits_sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "serve/record_choice.h"

struct waits_filter {
	struct sink sink;
	struct sink *to;
	struct on_demand *demand;
	bool keep;
	uint64_t waits, wakers; /* event.id; 0: not known yet */
};

static bool is_event_of_waits(const struct waits_filter *f, uint64_t event)
{
	return event && (event == f->waits || event == f->wakers);
}

static void note_event_of_waits(struct waits_filter *f, const struct event *e)
{
	if (!event_is_of_waits(e->name))
		return;
	if (strcmp(e->name, EVENT_OFF_CPU) != 0)
		f->wakers = e->id;
	else
		f->waits = e->id;
}

/* Return whether a record that belongs to no event is about switches. */
static bool is_of_scheduler(enum record_kind kind, const void *record)
{
	const struct lane *lane = record;
	const struct loss *loss = record;

	if (kind == KIND_LANE)
		return lane->kind == LANE_CPU || lane->kind == LANE_INTERRUPT;
	return kind == KIND_LOSS && !loss->event && loss->reason < LOSS_COUNT &&
	       SCHEDULER_LOSSES >> loss->reason & 1;
}

/* Return whether a record is a wait that has not ended, for which only sessions have asked. */
static bool is_open_wait_of_session(const struct waits_filter *f, enum record_kind kind,
				    const void *record)
{
	return kind == KIND_SAMPLE && f->demand->wall.open_alone &&
	       ((const struct sample *)record)->flags & SAMPLE_FLAG_NOT_ENDED;
}

static int waits_filter_put(struct sink *s, enum record_kind kind, const void *record,
			    struct error *err)
{
	struct waits_filter *f = (struct waits_filter *)s;
	const uint64_t event = event_of_record(kind, record);
	bool special;

	if (kind == KIND_EVENT)
		note_event_of_waits(f, record);
	special = is_event_of_waits(f, event) || is_of_scheduler(kind, record);
	if (special && kind != KIND_ACCOUNT && kind != KIND_LANE && event != f->wakers)
		on_demand_put_waits(f->demand, kind, record);
	if (special && (!f->keep || is_open_wait_of_session(f, kind, record)))
		return 0;
	return sink_put(f->to, kind, record, err);
}

static int waits_filter_tick(struct sink *s, uint64_t time, struct error *err)
{
	struct waits_filter *f = (struct waits_filter *)s;

	f->demand->wall.open_alone = false;
	return sink_tick(f->to, time, err);
}

static int waits_filter_forget(struct sink *s, struct error *err)
{
	return sink_forget(((struct waits_filter *)s)->to, err);
}

static uint64_t waits_filter_unstored(const struct sink *s, enum record_kind kind, uint64_t place)
{
	return sink_unstored(((const struct waits_filter *)s)->to, kind, place);
}

static int waits_filter_finish(struct sink *s, struct error *err)
{
	struct sink *to = ((struct waits_filter *)s)->to;

	return to->ops->finish(to, err);
}

/* The next sink is freed by its owner. */
static void waits_filter_free(struct sink *s)
{
	free(s);
}

static const struct sink_ops waits_filter_ops = {
	.put = waits_filter_put,
	.tick = waits_filter_tick,
	.forget = waits_filter_forget,
	.unstored = waits_filter_unstored,
	.finish = waits_filter_finish,
	.free = waits_filter_free,
};

int waits_sink(struct sink **out, struct sink *to, struct on_demand *demand, bool keep,
	       struct error *err)
{
	struct waits_filter *f = calloc(1, sizeof(*f));

	if (!f)
		return error_errno(err, -ENOMEM, "stacks of waits");
	f->sink = (struct sink){&waits_filter_ops, to->wants};
	if (!keep)
		f->sink.wants &= ~(WANT(SLICE) | WANT(EDGE));
	f->to = to;
	f->demand = demand;
	f->keep = keep;
	*out = &f->sink;
	return 0;
}
