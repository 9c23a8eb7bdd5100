// SPDX-License-Identifier: Apache-2.0
/* Which records of a capture a sink gets (record_choice.h). */
#include "serve/record_choice.h"

#include "base/pipe.h"

#define BIT(reason) (1ULL << LOSS_##reason)

uint64_t record_choice_wants(const struct record_choice *c)
{
	uint64_t wants = 0;

	if (c->sched)
		wants |= WANT(LANE) | WANT(NAME) | WANT(SLICE) | WANT(EDGE) | WANT(SPAN);
	if (c->interrupts)
		wants |= WANT(LANE) | WANT(NAME) | WANT(SPAN) | WANT(HANDLER);
	if (c->probes)
		wants |= WANT(LANE) | WANT(NAME) | WANT(SPAN) | WANT(COUNTER);
	return wants;
}

static bool is_hidden_event(const struct record_choice *c, uint64_t event)
{
	return event < 64 && c->hidden >> event & 1;
}

static bool takes_event(struct record_choice *c, const struct event *e)
{
	bool chosen =
		!event_is_weighted(e->name) || (event_is_of_hits(e->name) ? c->probes : c->waits);

	if (!chosen && e->id < 64)
		c->hidden |= 1ULL << e->id;
	return chosen;
}

static bool takes_loss(const struct record_choice *c, const struct loss *l)
{
	const uint64_t probes =
			       BIT(PROBES_LOST) | BIT(NOT_ATTACHED) | BIT(UNPAIRED) | BIT(NOT_SEEN),
		       bit = 1ULL << l->reason;

	if (is_hidden_event(c, l->event))
		return false;
	return (c->sched || !(bit & SCHEDULER_LOSSES)) && (c->probes || !(bit & probes)) &&
	       (c->interrupts || !(bit & BIT(INTERRUPTS_LOST)));
}

static bool takes_span(const struct record_choice *c, const struct span *s)
{
	switch (s->kind) {
	case SPAN_INTERRUPT:
	case SPAN_SOFTIRQ:
		return c->interrupts;
	case SPAN_MONITOR_WAIT:
		return c->sched;
	case SPAN_NOT_RECORDED:
		return true;
	default:
		return c->probes;
	}
}

bool record_choice_takes(struct record_choice *c, enum record_kind kind, const void *record)
{
	switch (kind) {
	case KIND_EVENT:
		return takes_event(c, record);
	case KIND_SAMPLE:
	case KIND_ACCOUNT:
		return !is_hidden_event(c, event_of_record(kind, record));
	case KIND_LOSS:
		return takes_loss(c, record);
	case KIND_SLICE:
	case KIND_EDGE:
		return c->sched;
	case KIND_SPAN:
		return takes_span(c, record);
	case KIND_COUNTER:
		return c->probes;
	case KIND_HANDLER:
		return c->interrupts;
	default:
		return true;
	}
}
